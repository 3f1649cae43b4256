//! Entries by name: `TABLE [PRIORITY] KEY:MATCH ... ACTION(ARGUMENT, ...)`.
//!
//! Keys and arguments go by name (`dst:10.0.0.0/8`, `port:1`; `=` instead of `:` is understood too)
//! or by position. Ternary, range, lpm and optional keys that are not named match everything.

use crate::errors;
use crate::names::resolve;
use crate::piece::Piece;
use crate::values::{canonical, needs_priority, parse_match, parse_value, show_match, show_value};
use diag::Diagnostic;
use ir::{
    ActionCall, Bits, Entry, Key, KeyMatch, MatchKind, Program, Table, TableData, Type, ValueSet,
};

/// The type of a key.
pub fn key_type(program: &Program, key: &Key) -> Type {
    program.exprs[key.expr].ty
}

/// The keys of a table that an entry matches: all but an action selector's inputs.
pub fn match_keys(table: &TableData) -> impl Iterator<Item = &Key> + Clone {
    table
        .keys
        .iter()
        .filter(|key| key.kind != MatchKind::Selector)
}

/// Whether entries of a table can overlap without one being longer.
pub fn has_priorities(table: &TableData) -> bool {
    table.keys.iter().any(|key| needs_priority(key.kind))
}

/// Finds a table by name.
pub fn find_table(program: &Program, name: Piece) -> Result<Table, Box<Diagnostic>> {
    find(
        program.tables.iter().map(|(id, t)| (id, t.name.as_str())),
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

/// An entry's table, keys and priority, as `add` and `remove` give them, and for `add` the action.
#[derive(Clone, PartialEq, Debug)]
pub struct Parsed {
    /// The table.
    pub table: Table,
    /// One match a key.
    pub keys: Vec<KeyMatch>,
    /// The priority, 0 where the table has none.
    pub priority: u32,
    /// The action, if one is given.
    pub action: Option<ActionCall>,
}

/// Parses `TABLE [PRIORITY] KEYS ACTION`.
pub fn parse_entry(program: &Program, text: Piece) -> Result<(Table, Entry), Box<Diagnostic>> {
    let parsed = parse(program, text, Some(ActionUse::Entry))?;
    let data = &program.tables[parsed.table];
    let Some(action) = parsed.action else {
        return Err(errors::no_action(text.trim().span(), &data.name));
    };
    let entry = Entry {
        keys: parsed.keys,
        priority: parsed.priority,
        action,
        is_const: false,
    };
    Ok((parsed.table, entry))
}

/// Parses `TABLE [PRIORITY] KEYS`. An action after it is refused: an entry is found by its keys alone.
pub fn parse_keys(
    program: &Program,
    text: Piece,
) -> Result<(Table, Vec<KeyMatch>, u32), Box<Diagnostic>> {
    let parsed = parse(program, text, None)?;
    Ok((parsed.table, parsed.keys, parsed.priority))
}

/// Parses `TABLE ACTION` of a default action.
pub fn parse_default(
    program: &Program,
    text: Piece,
) -> Result<(Table, ActionCall), Box<Diagnostic>> {
    let (name, rest) = text.first_word();
    let table = find_table(program, name)?;
    if rest.text.is_empty() {
        return Err(errors::no_action(
            text.trim().span(),
            &program.tables[table].name,
        ));
    }
    Ok((
        table,
        parse_action(program, table, rest, ActionUse::Default)?,
    ))
}

/// Parses `VALUE_SET MATCH ...`, one match a field in order: the set and a member.
pub fn parse_member(
    program: &Program,
    text: Piece,
) -> Result<(ValueSet, Vec<KeyMatch>), Box<Diagnostic>> {
    let (name, rest) = text.first_word();
    let sets = program
        .value_sets
        .iter()
        .map(|(id, s)| (id, s.name.as_str()));
    let set = find(sets, name, "value set")?;
    let data = &program.value_sets[set];
    let words = rest.words();
    if words.len() != data.fields.len() {
        let names: Vec<&str> = data.fields.iter().map(|(name, ..)| name.as_str()).collect();
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
        .map(|(word, (field, ty, kind))| {
            parse_match(program, *ty, *kind, word.text)
                .map_err(|error| errors::bad_value(word.span(), field, error))
        })
        .collect::<Result<_, _>>()?;
    Ok((set, member))
}

/// `used` says what an action at the end is for; without it none may stand there.
fn parse(
    program: &Program,
    text: Piece,
    used: Option<ActionUse>,
) -> Result<Parsed, Box<Diagnostic>> {
    let (name, rest) = text.first_word();
    let table = find_table(program, name)?;
    let data = &program.tables[table];
    let mut words = rest.words();
    let action = match words.last() {
        Some(&last) if is_action(program, data, last) => {
            words.pop();
            let Some(used) = used else {
                return Err(errors::action_unused(last.span(), &data.name, last.text));
            };
            Some(parse_action(program, table, last, used)?)
        }
        _ => None,
    };
    let keys: Vec<&Key> = match_keys(data).collect();
    let named = words.iter().any(|word| key_name(&keys, *word).is_some());
    let leading_number = words
        .first()
        .is_some_and(|word| word.text.parse::<u32>().is_ok());
    let mut priority = None;
    // With as many words as keys it may be a key's value; else it can only be meant as the priority.
    let beside_keys = words.len() == keys.len() + 1;
    let expected = has_priorities(data) && words.len() != keys.len();
    if leading_number && (named || beside_keys || expected) {
        let word = words.remove(0);
        priority = Some((word.text.parse::<u32>().unwrap_or(0), word));
    }
    let priority = match (has_priorities(data), priority) {
        (true, Some((priority, _))) => priority,
        (true, None) if action.is_some() => {
            return Err(errors::priority_missing(name.span(), &data.name));
        }
        (false, Some((priority, word))) if priority != 0 => {
            return Err(errors::priority_unused(word.span(), &data.name));
        }
        _ => 0,
    };
    let keys = parse_matches(program, data, &keys, rest, &words).map_err(|refusal| {
        let loose = match (used, &action) {
            (Some(_), None) => loose_action(program, data, &words),
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

/// An action's name among words taken for keys, and how the action is written: its arguments follow it
/// without parentheses.
fn loose_action<'a>(
    program: &Program,
    data: &TableData,
    words: &[Piece<'a>],
) -> Option<(Piece<'a>, String)> {
    let names = action_names(program, data);
    words.iter().find_map(|&word| {
        let index = resolve(names.iter().copied(), word.text).ok()?;
        let params = &program.actions[data.actions[index].action].params;
        let params: Vec<&str> = params
            .iter()
            .map(|&p| program.vars[p].name.as_str())
            .collect();
        Some((word, format!("{}({})", word.text, params.join(", "))))
    })
}

/// The key that a word `name:match` or `name=match` names, and where the match begins.
fn key_name<'a>(keys: &[&Key], word: Piece<'a>) -> Option<(usize, Piece<'a>)> {
    let (name, value) = word.split_named()?;
    let index = resolve(keys.iter().map(|k| k.name.as_str()), name.trim().text).ok()?;
    Some((index, value.trim()))
}

fn parse_matches(
    program: &Program,
    data: &TableData,
    keys: &[&Key],
    rest: Piece,
    words: &[Piece],
) -> Result<Vec<KeyMatch>, Box<Diagnostic>> {
    let names: Vec<&str> = keys.iter().map(|k| k.name.as_str()).collect();
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
        let matched = parse_match(program, key_type(program, key), key.kind, value.text)
            .map_err(|error| errors::bad_value(value.span(), &key.name, error))?;
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
            None if key.kind == MatchKind::Exact => {
                Err(errors::key_missing(rest.span(), &data.name, &key.name))
            }
            None => Ok(KeyMatch::Any),
        })
        .collect()
}

/// Whether what stands before a `:` or `=` is meant as a key's name: not if it can be the first part of a
/// MAC or IPv6 address, unless other keys are named.
fn reads_as_name(text: &str, others_are: bool) -> bool {
    let begins = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let in_address = text.len() <= 4 && text.bytes().all(|b| b.is_ascii_hexdigit());
    begins && (others_are || !in_address)
}

/// Where an action is to stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ActionUse {
    Entry,
    Default,
}

fn is_action(program: &Program, data: &TableData, word: Piece) -> bool {
    let name = word.text.split('(').next().unwrap_or_default().trim();
    // `name(...)` can only be meant as an action; a bare word only if there is such an action.
    word.text.contains('(') || resolve(action_names(program, data).into_iter(), name).is_ok()
}

fn action_names<'a>(program: &'a Program, data: &TableData) -> Vec<&'a str> {
    data.actions
        .iter()
        .map(|a| program.actions[a.action].name.as_str())
        .collect()
}

/// Parses `ACTION` or `ACTION(ARGUMENTS)` of a table.
fn parse_action(
    program: &Program,
    table: Table,
    word: Piece,
    used: ActionUse,
) -> Result<ActionCall, Box<Diagnostic>> {
    let data = &program.tables[table];
    let (name, arguments) = match word.text.find('(') {
        Some(open) => {
            let Some(close) = word.text.rfind(')').filter(|&c| c + 1 == word.text.len()) else {
                return Err(errors::malformed(
                    word.span(),
                    "the action's arguments have no closing parenthesis",
                    "ACTION(ARGUMENT, ...)",
                ));
            };
            (word.part(0, open).trim(), Some(word.part(open + 1, close)))
        }
        None => (word, None),
    };
    let names = action_names(program, data);
    let index = resolve(names.iter().copied(), name.text)
        .map_err(|error| errors::bad_name(name.span(), "action", name.text, &names, error))?;
    let listed = &data.actions[index];
    match used {
        ActionUse::Entry if listed.default_only => {
            return Err(errors::action_place(
                name.span(),
                names[index],
                "the default action",
            ));
        }
        ActionUse::Default if listed.table_only => {
            return Err(errors::action_place(name.span(), names[index], "entries"));
        }
        _ => {}
    }
    let params = &program.actions[listed.action].params;
    // A struct's fields are parameters of their own, named `param.field`.
    let param_names: Vec<&str> = params
        .iter()
        .map(|&p| program.vars[p].name.as_str())
        .collect();
    let words: Vec<Piece> = match arguments {
        Some(list) if !list.trim().text.is_empty() => split_commas(list),
        _ => Vec::new(),
    };
    let mut values: Vec<Option<Bits>> = vec![None; params.len()];
    if words.len() != params.len() {
        return Err(errors::argument_count(
            word.span(),
            names[index],
            &param_names,
            words.len(),
        ));
    }
    for (position, &argument) in words.iter().enumerate() {
        let named = argument
            .split_named()
            .map(|(name, value)| (name.trim(), value.trim()))
            .filter(|(name, _)| {
                param_names.contains(&name.text) || reads_as_name(name.text, false)
            });
        let named = match named {
            Some((name, value)) => match resolve(param_names.iter().copied(), name.text) {
                Ok(at) => Some((at, value)),
                Err(error) => {
                    let names = &param_names;
                    return Err(errors::bad_name(
                        name.span(),
                        "argument",
                        name.text,
                        names,
                        error,
                    ));
                }
            },
            None => None,
        };
        let (at, value) = named.unwrap_or((position, argument));
        if values[at].is_some() {
            return Err(errors::given_twice(argument.span(), param_names[at]));
        }
        let parsed = parse_value(program, program.vars[params[at]].ty, value.text)
            .map_err(|error| errors::bad_value(value.span(), param_names[at], error))?;
        values[at] = Some(parsed);
    }
    // As many arguments as parameters and none twice: every one has its value.
    Ok(ActionCall {
        action: index as u32,
        args: values.into_iter().flatten().collect(),
    })
}

fn split_commas(list: Piece) -> Vec<Piece> {
    let mut parts = Vec::new();
    let mut rest = list;
    while let Some((part, tail)) = rest.split_once(|c| c == ',') {
        parts.push(part.trim());
        rest = tail;
    }
    parts.push(rest.trim());
    parts
}

/// The entry in canonical form: equal matches are equal values.
pub fn canonical_keys(program: &Program, table: Table, keys: &[KeyMatch]) -> Vec<KeyMatch> {
    match_keys(&program.tables[table])
        .zip(keys)
        .map(|(key, found)| canonical(found.clone(), key.kind, key_type(program, key)))
        .collect()
}

/// An action call as text.
pub fn show_action(program: &Program, table: Table, call: &ActionCall) -> String {
    let data = &program.tables[table];
    let action = &program.actions[data.actions[call.action as usize].action];
    let args: Vec<String> = action
        .params
        .iter()
        .zip(&call.args)
        .map(|(&param, value)| {
            let var = &program.vars[param];
            let value = show_value(program, var.ty, &var.name, value);
            format!("{}: {value}", var.name)
        })
        .collect();
    format!("{}({})", action.name, args.join(", "))
}

/// An entry as text that [`parse_entry`] reads back (after the table's name).
pub fn show_entry(program: &Program, table: Table, entry: &Entry) -> String {
    let data = &program.tables[table];
    let mut parts = Vec::new();
    if has_priorities(data) {
        parts.push(entry.priority.to_string());
    }
    for (key, found) in match_keys(data).zip(&entry.keys) {
        let ty = key_type(program, key);
        parts.push(format!(
            "{}:{}",
            key.name,
            show_match(program, ty, &key.name, found)
        ));
    }
    parts.push(show_action(program, table, &entry.action));
    parts.join(" ")
}

#[cfg(test)]
mod tests;
