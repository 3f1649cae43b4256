//! Entries files: one change a line, applied atomically.
//!
//! | line | change |
//! |---|---|
//! | `add TABLE [PRIORITY] KEY:MATCH ... ACTION(ARGS)` | adds an entry |
//! | `modify TABLE [PRIORITY] KEY:MATCH ... ACTION(ARGS)` | changes the action of an entry |
//! | `remove TABLE [PRIORITY] KEY:MATCH ...` | removes an entry |
//! | `clear TABLE` | removes all entries except those that the program made `const` |
//! | `setdefault TABLE ACTION(ARGS)` | changes the default action |
//! | `value_set_add SET MATCH ...`, `value_set_remove SET MATCH ...` | changes a parser value set |
//! | `name_add SET NAME [NUMBER [LISTS]]`, `name_remove SET NAME`, `name_clear SET` | changes a name set; NAME is `name`, `=name` or `*.name` |
//! | `multicast_group GROUP [PORT[:RID] ...]` | makes a multicast group; without ports removes it |
//! | `clone_session SESSION [PORT[:RID] ...] [group GROUP] [truncate BYTES]` | makes a clone session; with nothing after its number removes it |
//! | `action_member PROFILE MEMBER [ACTION(ARGS)]` | makes a member of an action profile or selector, or removes it |
//! | `action_group SELECTOR GROUP [MEMBER ...]` | makes a group of an action selector, or removes it |
//! | `meter_set NAME[INDEX] RATE BURST RATE BURST`, `meter_reset NAME[INDEX]` | sets or removes a meter's rates; `TABLE KEY:MATCH ...` is the meter of an entry |
//!
//! The keywords are those of STF; `#` begins a comment. [`import`] reads other formats: commands of BMv2, and runtime
//! files.

use crate::entry::{
    find_table, parse_default, parse_entry, parse_keys, parse_member, show_action, show_entry,
};
use crate::errors::{self, Refusal};
use crate::stf::StatementKind;
use crate::stf::groups::Groups;
use crate::{
    Change, MeterRef, Next, Piece, Rates, Rejected, Store, import, meter, name_set, profile, stf,
};
use diag::{Diagnostics, FileId, SourceMap, Span};
use schema::{ActionCall, Entry, Object, Schema, Table, ValueSet};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Changes of an entries file, with their locations.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Changes {
    /// Changes in the file's order.
    pub changes: Vec<Change>,
    /// Location of each change.
    pub spans: Vec<Span>,
}

/// Reads a file of changes. All errors in it are reported at once.
pub fn parse(schema: &Schema, map: &SourceMap, file: FileId) -> Result<Changes, Diagnostics> {
    let mut changes = Changes::default();
    check(schema, lines(map, file), |change, span| {
        changes.changes.push(change);
        changes.spans.push(span);
    })?;
    Ok(changes)
}

/// Reads changes, a line each, without storing them. `each` gets the correct ones. All errors are reported at once.
pub fn check<'a>(
    schema: &Schema,
    lines: impl IntoIterator<Item = Piece<'a>>,
    mut each: impl FnMut(Change, Span),
) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let mut groups = Groups::default();
    for code in lines.into_iter().filter_map(code) {
        match change(schema, &mut groups, code) {
            Ok(Some(change)) => each(change, code.span()),
            Ok(None) => {}
            Err(refusal) => diagnostics.push(*refusal),
        }
    }
    match diagnostics.has_errors() {
        true => Err(diagnostics),
        false => Ok(()),
    }
}

/// Strips the comment from a line; `None` if nothing is left.
fn code(line: Piece<'_>) -> Option<Piece<'_>> {
    let code = line
        .split_once(|c| c == '#')
        .map_or(line, |(before, _)| before)
        .trim();
    (!code.text.is_empty()).then_some(code)
}

/// Returns the lines of a file, with their locations.
pub fn lines(map: &SourceMap, file: FileId) -> impl Iterator<Item = Piece<'_>> {
    let (text, start) = (&map.file(file).text, map.span(file, 0..0).lo);
    let mut offset = 0;
    text.split_inclusive('\n').map(move |raw| {
        let line = Piece::new(raw, start + offset as u32);
        offset += raw.len();
        line
    })
}

/// Reads a line; `None` if it makes no change itself but prepares later lines.
fn change(schema: &Schema, groups: &mut Groups, line: Piece) -> Result<Option<Change>, Refusal> {
    let change = match stf::copies(line, groups).transpose()? {
        Some(StatementKind::MulticastGroup { group, replicas }) => Change::Group(group, replicas),
        Some(StatementKind::CloneSession { session, to }) => Change::Session(session, to),
        Some(_) => return Ok(None),
        None => parse_change(schema, line)?,
    };
    let checked = change.check();
    checked
        .map_err(|error| errors::store(line.span(), &errors::not_done(schema, &change), &error))?;
    Ok(Some(change))
}

fn parse_change(schema: &Schema, line: Piece) -> Result<Change, Refusal> {
    let (word, rest) = line.first_word();
    match word.text {
        "add" => parse_entry(schema, rest).map(|(table, entry)| Change::Insert(table, entry)),
        "modify" => parse_entry(schema, rest).map(|(table, entry)| Change::Modify(table, entry)),
        "remove" => {
            let (table, key) = parse_keys(schema, rest)?;
            Ok(Change::Remove(table, key))
        }
        "clear" => find_table(schema, rest).map(Change::Clear),
        "setdefault" => {
            parse_default(schema, rest).map(|(table, call)| Change::SetDefault(table, call))
        }
        "value_set_add" => {
            parse_member(schema, rest).map(|(set, member)| Change::InsertMember(set, member))
        }
        "value_set_remove" => {
            parse_member(schema, rest).map(|(set, member)| Change::RemoveMember(set, member))
        }
        "action_member" => {
            profile::parse_member(schema, rest).map(|(p, member, to)| Change::Member(p, member, to))
        }
        "action_group" => profile::parse_member_group(schema, rest)
            .map(|(selector, group, members)| Change::MemberGroup(selector, group, members)),
        "meter_set" => {
            meter::parse_set(schema, rest).map(|(meter, rates)| Change::Meter(meter, Some(rates)))
        }
        "meter_reset" => meter::parse_reset(schema, rest).map(|meter| Change::Meter(meter, None)),
        _ if let Some(change) = name_set::parse(schema, line) => change,
        _ => match import::command(schema, line)? {
            Some(text) => import::read(&text, line.span(), |line| parse_change(schema, line)),
            None => Err(unknown(word)),
        },
    }
}

fn unknown(word: Piece) -> Refusal {
    errors::malformed(
        word.span(),
        "a line of an entries file begins with add, modify, remove, clear, setdefault, value_set_add, \
             value_set_remove, name_add, name_remove, name_clear, multicast_group, clone_session, action_member, action_group, meter_set or meter_reset",
        "add TABLE [PRIORITY] KEY:MATCH ... ACTION(ARGS)",
    )
}

/// Treatment of the entries that a table already has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Existing {
    /// The entries stay.
    Keep,
    /// In each table to which the file adds entries, the old ones are removed, except those that the program made
    /// `const`; name sets likewise. The switch is atomic ([`Change::Replace`]).
    Replace,
}

/// Reads changes, a line each, and applies them atomically, without holding all of them. Returns the number of changes.
///
/// # Errors All errors in the lines, or the first change that cannot be made.
pub fn load<'a>(
    lines: impl IntoIterator<Item = Piece<'a>>,
    existing: Existing,
    store: &mut dyn Store,
) -> Result<usize, Diagnostics> {
    load_after([], lines, existing, store)
}

/// Applies changes, and behind them those of lines, as [`load`] does. The first ones are in no text, and replace
/// nothing but by a change that does.
///
/// # Errors
///
/// As of [`load`].
pub fn load_after<'a>(
    first: impl IntoIterator<Item = Change>,
    lines: impl IntoIterator<Item = Piece<'a>>,
    existing: Existing,
    store: &mut dyn Store,
) -> Result<usize, Diagnostics> {
    let schema = Arc::clone(store.schema());
    let mut first = first.into_iter();
    let mut rest = lines.into_iter().filter_map(code);
    let mut diagnostics = Diagnostics::new();
    let mut locations: Vec<(Span, Option<Subject>)> = Vec::new();
    let mut replaced = BTreeSet::new();
    let mut waiting = None;
    let mut groups = Groups::default();
    let mut next = || {
        if let Some(change) = waiting.take() {
            return Next::Change(change);
        }
        if let Some(change) = first.next() {
            locations.push((Span::NONE, Some(Subject::of(&change))));
            return Next::Change(change);
        }
        for line in rest.by_ref() {
            match change(&schema, &mut groups, line) {
                Err(refusal) => diagnostics.push(*refusal),
                Ok(None) => {}
                // No change will be made; only further errors matter.
                Ok(_) if diagnostics.has_errors() => {}
                Ok(Some(change)) => {
                    let subject = Subject::of(&change);
                    locations.push((line.span(), Some(subject)));
                    let first = match (&change, existing) {
                        (Change::Insert(table, _), Existing::Replace) => {
                            Some(Change::Replace(*table))
                        }
                        (Change::InsertName(set, _), Existing::Replace) => {
                            Some(Change::ClearNames(*set))
                        }
                        _ => None,
                    };
                    if let Some(first) = first.filter(|_| replaced.insert(subject)) {
                        locations.push((line.span(), Some(subject)));
                        waiting = Some(change);
                        return Next::Change(first);
                    }
                    return Next::Change(change);
                }
            }
        }
        match diagnostics.has_errors() {
            true => Next::Abandon,
            false => Next::End,
        }
    };
    let done = store.apply_from(&mut next);
    if let Err(rejected) = &done {
        let location = locations.get(rejected.at).copied();
        let (span, subject) = location.unwrap_or((Span::NONE, None));
        diagnostics.push(*rejection(&schema, span, subject, rejected));
    }
    match done {
        Ok(count) if !diagnostics.has_errors() => Ok(count - replaced.len()),
        _ => Err(diagnostics),
    }
}

/// Returns lines that restore a table's contents, whatever it has before. Constant entries and defaults are in
/// comments.
pub fn show<'a>(
    schema: &'a Schema,
    table: Table,
    entries: &'a [Entry],
    default: &ActionCall,
) -> impl Iterator<Item = String> + 'a {
    let data = &schema.tables[table];
    let name = data.name.as_str();
    let fixed = |is: bool| if is { "# const: " } else { "" };
    let clear = (!data.const_entries).then(|| format!("clear {name}"));
    let entries = entries.iter().map(move |entry| {
        let fixed = fixed(data.const_entries || entry.is_const);
        format!("{fixed}add {name} {}", show_entry(schema, table, entry))
    });
    let action = show_action(schema, table, default);
    let default = format!("{}setdefault {name} {action}", fixed(data.const_default));
    clear.into_iter().chain(entries).chain([default])
}

/// Returns lines that make the members and groups of an action profile or selector. They leave other members and
/// groups.
pub fn show_profile<'a>(
    schema: &'a Schema,
    profile: Object,
    members: &'a [(u32, ActionCall)],
    groups: &'a [(u32, Vec<u32>)],
) -> impl Iterator<Item = String> + 'a {
    let name = schema.objects[profile].name.as_str();
    let members = members.iter().map(move |(member, call)| {
        let call = profile::show_member(schema, profile, call);
        format!("action_member {name} {member} {call}")
    });
    let groups = groups.iter().map(move |(group, members)| {
        let members: Vec<String> = members.iter().map(u32::to_string).collect();
        format!("action_group {name} {group} {}", members.join(" "))
    });
    members.chain(groups)
}

/// Returns a line that sets a meter's rates.
pub fn show_meter(schema: &Schema, meter: &MeterRef, rates: &Rates) -> String {
    format!("meter_set {} {rates}", meter.show(schema))
}

/// Applies all changes atomically.
pub fn apply(store: &mut dyn Store, changes: &Changes) -> Result<(), Refusal> {
    let schema = Arc::clone(store.schema());
    store.apply(&changes.changes).map_err(|rejected| {
        let subject = changes.changes.get(rejected.at).map(Subject::of);
        let span = changes.spans.get(rejected.at).copied();
        rejection(&schema, span.unwrap_or(Span::NONE), subject, &rejected)
    })
}

fn rejection(
    schema: &Schema,
    span: Span,
    subject: Option<Subject>,
    rejected: &Rejected,
) -> Refusal {
    let what = match &rejected.not_undone {
        None => "nothing was changed".to_string(),
        Some(left) => format!("some changes before this one stay in force ({left})"),
    };
    let what = match subject {
        Some(subject) => format!("{what}; {}", subject.name(schema)),
        None => what,
    };
    errors::store(span, &what, &rejected.error)
}

/// Object that a change is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Subject {
    Table(Table),
    ValueSet(ValueSet),
    Group(u16),
    Session(u32),
    Object(Object),
}

impl Subject {
    fn of(change: &Change) -> Subject {
        match change {
            Change::Insert(table, _)
            | Change::Modify(table, _)
            | Change::Remove(table, _)
            | Change::SetDefault(table, _)
            | Change::Clear(table)
            | Change::Replace(table) => Subject::Table(*table),
            Change::InsertMember(set, _) | Change::RemoveMember(set, _) => Subject::ValueSet(*set),
            Change::Group(group, _) => Subject::Group(*group),
            Change::Session(session, _) => Subject::Session(*session),
            Change::InsertName(object, _)
            | Change::RemoveName(object, _)
            | Change::ClearNames(object)
            | Change::Member(object, ..)
            | Change::MemberGroup(object, ..)
            | Change::Meter(MeterRef::Indexed(object, _), _) => Subject::Object(*object),
            Change::Meter(MeterRef::OfEntry(table, _), _) => Subject::Table(*table),
        }
    }

    fn name(self, schema: &Schema) -> String {
        match self {
            Subject::Table(table) => format!("table `{}`", schema.tables[table].name),
            Subject::ValueSet(set) => format!("value set `{}`", schema.value_sets[set].name),
            Subject::Group(group) => format!("multicast group {group}"),
            Subject::Session(session) => format!("clone session {session}"),
            Subject::Object(object) => {
                let object = &schema.objects[object];
                format!("{} `{}`", object.extern_name, object.name)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, Fake};
    use schema::ActionCall;

    fn changes(text: &str) -> Result<Changes, Vec<String>> {
        let mut map = SourceMap::new();
        let file = map.add("e.txt", text).unwrap();
        parse(sample::schema(), &map, file).map_err(|list| {
            list.iter()
                .map(|d| {
                    let line = map.line_col(d.primary.span).unwrap().1.line;
                    format!("{line}: {}", d.message)
                })
                .collect()
        })
    }

    #[test]
    fn comments_blanks_and_line_ends_of_all_kinds() {
        let read = changes(
            "# first\r\n\r\n  add routes 10.0.0.0/8 drop() # why\r\nsetdefault routes drop",
        );
        assert_eq!(read.unwrap().changes.len(), 2);
        assert_eq!(changes("").unwrap(), Changes::default());
    }

    #[test]
    fn every_error_is_reported_with_its_line() {
        assert_eq!(
            changes(
                "add rotes 1 drop()\nadd routes 10.0.0.0/8 drop()\ndelete routes 10.0.0.0/8\nsetdefault routes"
            ),
            Err(vec![
                "1: there is no table `rotes`".into(),
                "3: a line of an entries file begins with add, modify, remove, clear, setdefault, value_set_add, value_set_remove, name_add, name_remove, name_clear, multicast_group, clone_session, action_member, action_group, meter_set or meter_reset".into(),
                "4: no action is named for `C.routes`".into(),
            ])
        );
    }

    const FORWARD: &str = "forward(1, 02:00:00:00:00:01, true, -2, green, NoError)";

    /// Returns changes of all settings beside tables; each line is wrong in one respect in another place.
    #[test]
    fn settings_beside_tables_are_changed_with_them() {
        let mut store = Fake::default();
        let text = "add balanced 10.0.0.1 group(4)\nmulticast_group 1 2 3:7\nclone_session 5 1 truncate 64\n\
                    action_member hops 9 drop()\naction_group hops 4 9,9\nmeter_set rate[0] 1 2 3 4\nname_add names a.example.com";
        apply(&mut store, &changes(text).unwrap()).unwrap();
        let before = store.clone();
        let others = [
            "multicast_group 1",
            "multicast_group 1 4",
            "clone_session 5",
            "clone_session 6 group 1",
            "action_member hops 9",
            "action_group hops 4",
            "action_group hops 5 9",
            "meter_reset rate[0]",
            "meter_set balanced 10.0.0.1 1 2 3 5",
            "name_add names =b.example.com 7 3",
            "name_remove names A.example.com.",
            "name_clear names",
        ];
        for other in others {
            let refused =
                changes(&format!("{other}\nclear balanced\nmulticast_group 2 3")).unwrap();
            let refused = apply(&mut store, &refused).unwrap_err();
            assert_eq!(
                refused.message,
                "nothing was changed; multicast group 2: there is one group"
            );
            assert_eq!(store.settings(), before.settings(), "{other}");
            assert_eq!(store.state(), before.state(), "{other}");
            apply(&mut store, &changes(other).unwrap()).unwrap();
            assert_ne!(store.settings(), before.settings(), "{other}");
            store = before.clone();
        }
    }

    #[test]
    fn what_no_target_can_set_is_refused_with_its_line() {
        let refused = |text: &str| changes(text).unwrap_err().remove(0);
        let cases = [
            (
                "multicast_group 0 1",
                "1: the multicast group was not changed: group 0 means that there is no group; groups begin at 1",
            ),
            (
                "clone_session 1 2 truncate 0",
                "1: the clone session was not changed: a clone session cannot cut its copies to 0 bytes",
            ),
            ("clone_session x", "1: this is not a session's number"),
            ("action_member hops", "1: the member is missing"),
            (
                "action_member hops 1 forward()",
                "1: there is no action `forward`",
            ),
            (
                "action_group hops 1 2 x",
                "1: this is not a member's number",
            ),
            (
                "action_group rate 1 2",
                "1: there is no action selector `rate`",
            ),
            (
                "meter_set rate[0] 5 1 4 1",
                "1: the meter was not changed: the peak rate is at least the committed rate, and 4 is less than 5",
            ),
            (
                "meter_set rate[0] 1 2 3",
                "1: a meter has two rates, each with a burst",
            ),
            ("meter_set rate 1 2 3 4", "1: the index is missing"),
            ("meter_set rate[x] 1 2 3 4", "1: this is not an index"),
            ("meter_reset rate[0] 1", "1: this has no meaning here"),
            (
                "meter_reset rules 1",
                "1: the entries of `C.rules` have no meters",
            ),
            ("add fixed 1 member(1)", "1: there is no action `member`"),
            (
                "setdefault balanced member(1)",
                "1: `C.hops.member` is allowed in entries only",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(refused(text), message, "{text}");
        }
        let many = format!("action_group hops 1{}", " 2".repeat(257));
        assert!(refused(&many).contains("has 256 members at most, and this one has 257"));
    }

    #[test]
    fn a_refused_change_takes_back_those_before_it() {
        let mut store = Fake::default();
        let first = changes("add rules 1 src:10.0.0.1 drop()").unwrap();
        apply(&mut store, &first).unwrap();
        let before = store.state();
        let text = format!(
            "setdefault routes {FORWARD}\nadd routes 10.0.0.0/8 drop()\nadd routes 10.0.0.0/8 {FORWARD}"
        );
        let refused = apply(&mut store, &changes(&text).unwrap()).unwrap_err();
        assert_eq!(
            refused.message,
            "nothing was changed; table `C.routes`: there is already an entry with this match"
        );
        let (entries, defaults) = store.state();
        assert_eq!(entries, before.0);
        // The old default is written back.
        assert_eq!(
            defaults,
            [ActionCall {
                action: 1,
                args: Vec::new()
            }]
        );
    }

    /// Loads a file into a store that has one route. Returns the number of changes, or the errors in the file.
    fn loaded(text: &str, existing: Existing) -> Result<usize, Vec<String>> {
        let mut map = SourceMap::new();
        let file = map.add("e.txt", text).unwrap();
        let mut store = Fake::default();
        let first = changes("add routes 10.0.0.0/8 drop()").unwrap();
        apply(&mut store, &first).unwrap();
        let before = store.state();
        let done = load(lines(&map, file), existing, &mut store);
        done.map_err(|list| {
            assert_eq!(store.state(), before, "nothing is changed");
            let line = |d: &diag::Diagnostic| map.line_col(d.primary.span).unwrap().1.line;
            list.iter()
                .map(|d| format!("{}: {}", line(d), d.message))
                .collect()
        })
        .map(|_| store.state().0.len())
    }

    #[test]
    fn a_file_is_loaded_atomically() {
        let keep = |text: &str| loaded(text, Existing::Keep);
        assert_eq!(keep("add routes 10.1.0.0/16 drop()"), Ok(2));
        assert_eq!(keep("remove routes 10.0.0.0/8\nclear routes"), Ok(0));
        assert_eq!(keep("modify routes 10.0.0.0/8 drop()"), Ok(1));
        assert_eq!(
            keep("add routes 10.1.0.0/16 drop()\nadd routes 10.0.0.0/8 drop()"),
            Err(vec![
                "2: nothing was changed; table `C.routes`: there is already an entry with this match"
                    .into()
            ])
        );
        assert_eq!(
            keep("add routes 10.1.0.0/16 drop()\nadd rotes 1 drop()\nclear nothing"),
            Err(vec![
                "2: there is no table `rotes`".into(),
                "3: there is no table `nothing`".into()
            ])
        );
    }

    #[test]
    fn a_dump_brings_a_table_back() {
        let schema = sample::schema();
        let mut store = Fake::default();
        let text =
            "add routes 10.0.0.0/8 drop()\nadd routes 10.1.0.0/16 drop()\nsetdefault routes drop()";
        apply(&mut store, &changes(text).unwrap()).unwrap();
        let before = store.state();
        let routes = sample::table("C.routes");
        let entries = store.entries(routes).unwrap();
        let default = store.default_action(routes).unwrap();
        let dump: Vec<String> = show(schema, routes, &entries, &default).collect();
        apply(&mut store, &changes("remove routes 10.0.0.0/8").unwrap()).unwrap();
        apply(&mut store, &changes(&dump.join("\n")).unwrap()).unwrap();
        assert_eq!(store.state(), before);
    }

    #[test]
    fn a_dump_brings_members_groups_and_meters_back() {
        let schema = sample::schema();
        let mut store = Fake::default();
        let text = "action_member hops 7 drop()\naction_member hops 3 drop()\naction_group hops 1 7 3 7\n\
                    add balanced 10.0.0.1 group(1)\nmeter_set balanced 10.0.0.1 1 2 3 4";
        apply(&mut store, &changes(text).unwrap()).unwrap();
        let balanced = sample::table("C.balanced");
        let hops = schema.profile_of(balanced).unwrap();
        let members = store.members(hops).unwrap();
        let groups = store.member_groups(hops).unwrap();
        let entries = store.entries(balanced).unwrap();
        let default = store.default_action(balanced).unwrap();
        let mut dump: Vec<String> = show_profile(schema, hops, &members, &groups).collect();
        dump.extend(show(schema, balanced, &entries, &default));
        let key = crate::EntryKey::of(&entries[0]);
        let rates = store.direct_meter(balanced, &key).unwrap().unwrap();
        dump.push(show_meter(
            schema,
            &MeterRef::OfEntry(balanced, key),
            &rates,
        ));
        assert_eq!(
            dump,
            [
                "action_member C.hops 3 C.drop()",
                "action_member C.hops 7 C.drop()",
                "action_group C.hops 1 7 3 7",
                "clear C.balanced",
                "add C.balanced dst:10.0.0.1 C.hops.group(id: 1)",
                "setdefault C.balanced C.drop()",
                "meter_set C.balanced dst:10.0.0.1 1 2 3 4",
            ]
        );
        let mut other = Fake::default();
        apply(&mut other, &changes(&dump.join("\n")).unwrap()).unwrap();
        assert_eq!(other.settings(), store.settings());
        assert_eq!(other.entries(balanced), store.entries(balanced));
    }

    #[test]
    fn a_table_that_a_file_adds_to_is_replaced() {
        let replace = |text: &str| loaded(text, Existing::Replace);
        assert_eq!(replace("add routes 10.0.0.0/8 drop()"), Ok(1));
        let two = "add routes 10.1.0.0/16 drop()\nadd routes 10.2.0.0/16 drop()";
        assert_eq!(replace(two), Ok(2));
        assert_eq!(replace("setdefault routes drop()"), Ok(1));
    }

    #[test]
    fn what_cannot_be_undone_is_reported() {
        let mut store = Fake::default();
        (store.stuck, store.capacity) = (true, 1);
        let two = changes("add routes 10.0.0.0/8 drop()\nadd routes 10.1.0.0/16 drop()").unwrap();
        let refused = apply(&mut store, &two).unwrap_err();
        assert_eq!(
            refused.message,
            "some changes before this one stay in force (the cable is cut); table `C.routes`: it is full (1 entry)"
        );
    }
}
