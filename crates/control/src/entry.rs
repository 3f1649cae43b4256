//! Text of entries with names: `TABLE [PRIORITY] KEY:MATCH ... ACTION(ARGUMENT, ...)`.
//!
//! Keys and arguments are given by name (`dst:10.0.0.0/8`, `port:1`, or with `=` instead of `:`) or by position.
//! Ternary, range, lpm and optional keys that are not named match everything.

use crate::EntryKey;
use crate::call::{Omitted, parse_call, resolve_first, show_call};
use crate::errors;
use crate::names::resolve;
use crate::piece::Piece;
use crate::values::{parse_match, show_match};
use diag::Diagnostic;
use schema::{
    ActionCall, ActionSchema, Entry, KeyMatch, KeySchema, MatchKind, Schema, Table, TableSchema,
    ValueSet,
};

/// Finds a table by name.
pub fn find_table(schema: &Schema, name: Piece) -> Result<Table, Box<Diagnostic>> {
    find(
        schema.tables.iter().map(|(id, t)| (id, t.name.as_str())),
        name,
        "table",
    )
}

/// Finds one of several named things.
pub fn find<'a, T: Copy>(
    named: impl Iterator<Item = (T, &'a str)>,
    name: Piece,
    kind: &str,
) -> Result<T, Box<Diagnostic>> {
    let (ids, names): (Vec<T>, Vec<&str>) = named.unzip();
    match resolve(names.iter().copied(), name.text) {
        Ok(index) => Ok(ids[index]),
        Err(error) => Err(errors::bad_name(
            name.span(),
            kind,
            name.text,
            &names,
            error,
        )),
    }
}

/// Table, keys and priority of an entry, as in `add` and `remove`; and for `add` the action.
#[derive(Clone, PartialEq, Debug)]
pub struct Parsed {
    /// The table.
    pub table: Table,
    /// One match for each key.
    pub keys: Vec<KeyMatch>,
    /// Priority; 0 in a table without priorities.
    pub priority: u32,
    /// Action, if one is given.
    pub action: Option<ActionCall>,
}

/// Parses `TABLE [PRIORITY] KEYS ACTION`.
pub fn parse_entry(schema: &Schema, text: Piece) -> Result<(Table, Entry), Box<Diagnostic>> {
    entry(schema, text, &mut Omitted::Refused)
}

/// Parses an entry as [`parse_entry`] does, with `omitted` for calls without arguments.
pub(crate) fn entry(
    schema: &Schema,
    text: Piece,
    omitted: &mut Omitted<'_>,
) -> Result<(Table, Entry), Box<Diagnostic>> {
    let parsed = parse(schema, text, Some(ActionUse::Entry), omitted)?;
    let data = &schema.tables[parsed.table];
    let Some(action) = parsed.action else {
        let forms = forms(schema, data, ActionUse::Entry);
        return Err(errors::no_action(text.trim().span(), &data.name, &forms));
    };
    let entry = Entry {
        keys: parsed.keys,
        priority: parsed.priority,
        action,
        is_const: false,
    };
    Ok((parsed.table, entry))
}

/// Parses `TABLE [PRIORITY] KEYS`. An action after it is refused: the keys alone identify an entry.
pub fn parse_keys(schema: &Schema, text: Piece) -> Result<(Table, EntryKey), Box<Diagnostic>> {
    let parsed = parse(schema, text, None, &mut Omitted::Refused)?;
    let key = EntryKey {
        keys: parsed.keys,
        priority: parsed.priority,
    };
    Ok((parsed.table, key))
}

/// Parses `TABLE ACTION` of a default action.
pub fn parse_default(schema: &Schema, text: Piece) -> Result<(Table, ActionCall), Box<Diagnostic>> {
    default(schema, text, &mut Omitted::Refused)
}

/// Parses a default action as [`parse_default`] does, with `omitted` for calls without arguments.
pub(crate) fn default(
    schema: &Schema,
    text: Piece,
    omitted: &mut Omitted<'_>,
) -> Result<(Table, ActionCall), Box<Diagnostic>> {
    let (name, rest) = text.first_word();
    let table = find_table(schema, name)?;
    if rest.text.is_empty() {
        let data = &schema.tables[table];
        let forms = forms(schema, data, ActionUse::Default);
        return Err(errors::no_action(text.trim().span(), &data.name, &forms));
    }
    Ok((
        table,
        parse_action(schema, table, rest, ActionUse::Default, omitted)?,
    ))
}

/// Parses `VALUE_SET MATCH ...`, one match for each field in order. Returns the set and the member.
pub fn parse_member(
    schema: &Schema,
    text: Piece,
) -> Result<(ValueSet, Vec<KeyMatch>), Box<Diagnostic>> {
    let (name, rest) = text.first_word();
    let sets = schema
        .value_sets
        .iter()
        .map(|(id, s)| (id, s.name.as_str()));
    let set = find(sets, name, "value set")?;
    let data = &schema.value_sets[set];
    let words = rest.words();
    if words.len() != data.fields.len() {
        let names: Vec<&str> = data.fields.iter().map(|f| f.field.name.as_str()).collect();
        return Err(errors::key_count(
            rest.span(),
            &data.name,
            &names,
            words.len(),
        ));
    }
    let member = words
        .into_iter()
        .zip(&data.fields)
        .map(|(word, key)| {
            parse_match(schema, key, word.text)
                .map_err(|error| errors::bad_value(word.span(), &key.field.name, error))
        })
        .collect::<Result<_, _>>()?;
    Ok((set, member))
}

/// Parses the parts of an entry. `used` is the use of an action at the end; without it no action is allowed.
pub(crate) fn parse(
    schema: &Schema,
    text: Piece,
    used: Option<ActionUse>,
    omitted: &mut Omitted<'_>,
) -> Result<Parsed, Box<Diagnostic>> {
    let (name, rest) = text.first_word();
    let table = find_table(schema, name)?;
    let data = &schema.tables[table];
    let mut words = rest.words();
    let action = match words.last() {
        Some(&last) if is_action(schema, data, last) => {
            words.pop();
            let Some(used) = used else {
                return Err(errors::action_unused(last.span(), &data.name, last.text));
            };
            Some(parse_action(schema, table, last, used, omitted)?)
        }
        _ => None,
    };
    let keys: Vec<&KeySchema> = data.match_keys().collect();
    let named = words.iter().any(|word| key_name(&keys, *word).is_some());
    let leading_number = words
        .first()
        .is_some_and(|word| word.text.parse::<u32>().is_ok());
    let mut priority = None;
    // If there are as many words as keys, the number may be a key's value. Otherwise it can only be meant as the
    // priority.
    let beside_keys = words.len() == keys.len() + 1;
    let expected = data.has_priorities() && words.len() != keys.len();
    if leading_number && (named || beside_keys || expected) {
        let word = words.remove(0);
        priority = Some((word.text.parse::<u32>().unwrap_or(0), word));
    }
    let priority = match (data.has_priorities(), priority) {
        (true, Some((priority, _))) => priority,
        (true, None) if action.is_some() => {
            return Err(errors::priority_missing(name.span(), &data.name));
        }
        (false, Some((priority, word))) if priority != 0 => {
            return Err(errors::priority_unused(word.span(), &data.name));
        }
        _ => 0,
    };
    let keys = parse_matches(schema, data, &keys, rest, &words).map_err(|refusal| {
        let loose = match (used, &action) {
            (Some(_), None) => loose_action(schema, data, &words),
            _ => None,
        };
        match loose {
            Some((word, form)) if refusal.primary.span.lo >= word.span().lo => {
                errors::loose_arguments(refusal, &form)
            }
            _ => refusal,
        }
    })?;
    Ok(Parsed {
        table,
        keys,
        priority,
        action,
    })
}

/// Finds an action's name among words taken for keys: its arguments follow it without parentheses. Returns the name and
/// the correct form of the call.
fn loose_action<'a>(
    schema: &Schema,
    data: &TableSchema,
    words: &[Piece<'a>],
) -> Option<(Piece<'a>, String)> {
    let choices = choices(schema, data);
    let names: Vec<&str> = choices.iter().map(|action| action.name.as_str()).collect();
    words.iter().find_map(|&word| {
        let index = resolve(names.iter().copied(), word.text).ok()?;
        let params = choices[index].params.iter();
        let params: Vec<&str> = params.map(|p| p.name.as_str()).collect();
        Some((word, format!("{}({})", word.text, params.join(", "))))
    })
}

/// Returns the key that a word `name:match` or `name=match` names, and its match.
fn key_name<'a>(keys: &[&KeySchema], word: Piece<'a>) -> Option<(usize, Piece<'a>)> {
    let (name, value) = word.split_named()?;
    let name = name.trim().text;
    let names = keys.iter().map(|k| k.field.name.as_str());
    let index = match resolve(names.clone(), name) {
        Ok(index) => index,
        Err(_) => generated_key(names, name)?,
    };
    Some((index, value.trim()))
}

/// Returns the key that generated C calls `key.field1` (the second one), or `key.` and a name.
fn generated_key<'a>(names: impl Iterator<Item = &'a str> + Clone, wanted: &str) -> Option<usize> {
    let field = wanted.strip_prefix("key.")?;
    let numbered = field.strip_prefix("field").and_then(|n| n.parse().ok());
    match numbered {
        Some(index) => (index < names.count()).then_some(index),
        None => resolve(names, field).ok(),
    }
}

fn parse_matches(
    schema: &Schema,
    data: &TableSchema,
    keys: &[&KeySchema],
    rest: Piece,
    words: &[Piece],
) -> Result<Vec<KeyMatch>, Box<Diagnostic>> {
    let names: Vec<&str> = keys.iter().map(|k| k.field.name.as_str()).collect();
    let mut found: Vec<Option<KeyMatch>> = vec![None; keys.len()];
    let mut by_position = 0;
    let mut any_named = false;
    for &word in words {
        let (index, value) = match key_name(keys, word) {
            Some(named) => {
                any_named = true;
                named
            }
            None => {
                let unknown_name = word
                    .split_named()
                    .filter(|(name, _)| reads_as_name(name.text, any_named));
                if let Some((name, _)) = unknown_name {
                    let error = resolve(names.iter().copied(), name.text).err();
                    let error = error.expect("a known name was taken above");
                    return Err(errors::bad_name(
                        name.span(),
                        "key",
                        name.text,
                        &names,
                        error,
                    ));
                }
                by_position += 1;
                (by_position - 1, word)
            }
        };
        let Some(slot) = found.get_mut(index) else {
            return Err(errors::key_count(
                word.span(),
                &data.name,
                &names,
                words.len(),
            ));
        };
        if slot.is_some() {
            return Err(errors::given_twice(word.span(), names[index]));
        }
        let key = keys[index];
        let matched = parse_match(schema, key, value.text)
            .map_err(|error| errors::bad_value(value.span(), &key.field.name, error))?;
        *slot = Some(matched);
    }
    if !any_named && by_position != keys.len() {
        return Err(errors::key_count(
            rest.span(),
            &data.name,
            &names,
            by_position,
        ));
    }
    found
        .into_iter()
        .zip(keys)
        .map(|(found, key)| match found {
            Some(found) => Ok(found),
            None if key.kind == MatchKind::Exact => Err(errors::key_missing(
                rest.span(),
                &data.name,
                &key.field.name,
            )),
            None => Ok(KeyMatch::Any),
        })
        .collect()
}

/// Returns true if the text before a `:` or `=` is meant as a name. It is not if it can be the first part of a MAC or
/// IPv6 address, unless other keys are named.
pub(crate) fn reads_as_name(text: &str, others_are: bool) -> bool {
    let begins = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let in_address = text.len() <= 4 && text.bytes().all(|b| b.is_ascii_hexdigit());
    begins && (others_are || !in_address)
}

/// Use of an action: in an entry, or as the default.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ActionUse {
    Entry,
    Default,
}

fn is_action(schema: &Schema, data: &TableSchema, word: Piece) -> bool {
    let name = word.text.split('(').next().unwrap_or_default().trim();
    let choices = choices(schema, data);
    let names: Vec<&str> = choices.iter().map(|action| action.name.as_str()).collect();
    // `name(...)` can only be meant as an action; a bare word only if there is such an action.
    word.text.contains('(') || resolve_first(&names, data.actions.len(), name).is_ok()
}

/// Returns the actions that an entry may name: the table's own, and the references to members and groups.
fn choices<'a>(schema: &'a Schema, data: &'a TableSchema) -> Vec<&'a ActionSchema> {
    let listed = data.actions.iter();
    let listed = listed.map(|listed| &schema.actions[listed.action]);
    listed.chain(&data.references).collect()
}

/// Parses `ACTION` or `ACTION(ARGUMENTS)` of a table.
fn parse_action(
    schema: &Schema,
    table: Table,
    word: Piece,
    used: ActionUse,
    omitted: &mut Omitted<'_>,
) -> Result<ActionCall, Box<Diagnostic>> {
    let data = &schema.tables[table];
    parse_call(
        schema,
        &choices(schema, data),
        data.actions.len(),
        word,
        |index| allowed(data, used, index),
        omitted,
    )
}

/// Tests if the action at this index of [`choices`] may be used so. The error names the only context that allows it.
fn allowed(data: &TableSchema, used: ActionUse, index: usize) -> Result<(), &'static str> {
    match (used, data.actions.get(index)) {
        (ActionUse::Entry, Some(listed)) if listed.default_only => Err("as default action"),
        (ActionUse::Default, Some(listed)) if listed.table_only => Err("in entries"),
        (ActionUse::Default, None) => Err("in entries"),
        _ => Ok(()),
    }
}

/// Returns the forms of all calls that are allowed for such a use.
fn forms(schema: &Schema, data: &TableSchema, used: ActionUse) -> Vec<String> {
    let choices = choices(schema, data).into_iter().enumerate();
    let fitting = choices.filter(|(index, _)| allowed(data, used, *index).is_ok());
    let form = |(_, action): (usize, &ActionSchema)| {
        let params: Vec<&str> = action.params.iter().map(|p| p.name.as_str()).collect();
        format!("{}({})", action.name, params.join(", "))
    };
    fitting.map(form).collect()
}

/// Formats an action call of a table.
pub fn show_action(schema: &Schema, table: Table, call: &ActionCall) -> String {
    show_call(schema, schema.called(table, call), call)
}

/// Formats the keys of an entry so that [`parse_keys`] reads them back (after the table's name).
pub fn show_keys(schema: &Schema, table: Table, key: &EntryKey) -> String {
    let data = &schema.tables[table];
    let priority = data.has_priorities().then(|| key.priority.to_string());
    let keys = data.match_keys().zip(&key.keys).map(|(key, found)| {
        let shown = show_match(schema, key, found);
        format!("{}:{shown}", key.field.name)
    });
    priority
        .into_iter()
        .chain(keys)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Formats an entry so that [`parse_entry`] reads it back (after the table's name).
pub fn show_entry(schema: &Schema, table: Table, entry: &Entry) -> String {
    let keys = show_keys(schema, table, &EntryKey::of(entry));
    let action = show_action(schema, table, &entry.action);
    match keys.is_empty() {
        true => action,
        false => format!("{keys} {action}"),
    }
}

#[cfg(test)]
mod tests;
