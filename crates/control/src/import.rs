//! Import of entries from other tools: command files of BMv2 and runtime files of the P4 tutorials.
//!
//! | BMv2's command | line of an entries file |
//! |---|---|
//! | `table_add TABLE ACTION KEY ... => ARG ... [PRIORITY]` | `add` |
//! | `table_set_default TABLE ACTION [=>] ARG ...` | `setdefault` |
//! | `table_clear TABLE` | `clear` |
//!
//! Its commands for multicast groups and mirroring are read as in tests ([`crate::stf`]). In BMv2 the smallest priority
//! wins, here the largest: a priority is subtracted from the largest number.

use crate::errors::{self, Refusal};
use crate::{Piece, resolve};
use diag::{Diagnostics, FileId, SourceMap, Span, nearest};
use schema::{MatchKind, Schema, TableSchema};
use serde_json::{Map, Value};

/// Returns the entries file for a file. That is the file itself, or a converted one, which is added to the sources, if
/// the file is a runtime file (JSON).
///
/// # Errors The file is not JSON, or not of this form.
pub fn entries(schema: &Schema, map: &mut SourceMap, file: FileId) -> Result<FileId, Diagnostics> {
    let source = map.file(file);
    if !source.text.trim_start().starts_with('{') {
        return Ok(file);
    }
    let name = source.name.clone();
    let refused =
        |place: Span, what: String| Diagnostics::from(Box::new(errors::runtime_file(place, &what)));
    let begin = map.span(file, 0..0);
    let runtime: Value = serde_json::from_str(&source.text).map_err(|error| {
        let at = offset(&source.text, error.line(), error.column());
        refused(map.span(file, at..at), error.to_string())
    })?;
    let lines = runtime_lines(schema, &runtime).map_err(|what| refused(begin, what))?;
    let added = map.add(format!("{name}, as entries"), lines.join("\n"));
    added.ok_or_else(|| refused(begin, "it is too large".to_owned()))
}

/// Returns the offset of a place in a text, given by line and column from 1.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before = text.split_inclusive('\n').take(line.saturating_sub(1));
    let begin: usize = before.map(str::len).sum();
    let at = (begin + column.saturating_sub(1)).min(text.len());
    // A column may be within a character.
    (0..=at)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

/// Commands of BMv2 that are read, and their syntax.
const COMMANDS: [(&str, &str); 3] = [
    (
        "table_add",
        "table_add TABLE ACTION KEY ... => ARG ... [PRIORITY]",
    ),
    (
        "table_set_default",
        "table_set_default TABLE ACTION [ARG ...]",
    ),
    ("table_clear", "table_clear TABLE"),
];

/// Converts a command of BMv2 to a line of an entries file; `None` if it is not such a command.
pub(crate) fn command(schema: &Schema, line: Piece) -> Result<Option<String>, Refusal> {
    let (word, rest) = line.first_word();
    let Some((_, form)) = COMMANDS.iter().find(|(name, _)| *name == word.text) else {
        return Ok(None);
    };
    let words: Vec<&str> = rest.words().iter().map(|word| word.text).collect();
    let arrow = words.iter().position(|word| *word == "=>");
    let made = match (word.text, &words[..], arrow) {
        ("table_add", [table, action, ..], Some(arrow @ 2..)) => Some(addition(
            schema,
            (table, action),
            &words[2..arrow],
            &words[arrow + 1..],
        )),
        ("table_set_default", [table, action, args @ ..], _) => {
            let args: Vec<&str> = args.iter().copied().filter(|word| *word != "=>").collect();
            Some(format!("setdefault {table} {action}({})", args.join(", ")))
        }
        ("table_clear", [table], _) => Some(format!("clear {table}")),
        _ => None,
    };
    let incomplete =
        || errors::malformed(line.span(), "this command of BMv2 is not complete", form);
    made.map(Some).ok_or_else(incomplete)
}

fn addition(
    schema: &Schema,
    (table, action): (&str, &str),
    keys: &[&str],
    args: &[&str],
) -> String {
    let has_priorities = find(schema, table).is_some_and(TableSchema::has_priorities);
    let (args, priority) = match args.split_last() {
        Some((written, args)) if has_priorities => (args, *written),
        _ => (args, ""),
    };
    let priority = match priority.parse::<u32>() {
        Ok(number) => (u32::MAX - number).to_string(),
        Err(_) => priority.to_owned(),
    };
    let keys: Vec<String> = keys.iter().map(|key| key.replacen("->", "..", 1)).collect();
    format!(
        "add {table} {priority} {} {action}({})",
        keys.join(" "),
        args.join(", ")
    )
}

fn find<'s>(schema: &'s Schema, name: &str) -> Option<&'s TableSchema> {
    let tables: Vec<&TableSchema> = schema.tables.values().collect();
    let at = resolve(tables.iter().map(|table| table.name.as_str()), name).ok()?;
    Some(tables[at])
}

/// Members of a runtime file: those that say for which program and target it is, and the lists.
const MEMBERS: [&str; 6] = [
    "target",
    "p4info",
    "bmv2_json",
    "table_entries",
    "multicast_group_entries",
    "clone_session_entries",
];

/// Converts a runtime file to lines of an entries file. An error names the faulty member of the file.
fn runtime_lines(schema: &Schema, runtime: &Value) -> Result<Vec<String>, String> {
    let mut members = runtime.as_object().into_iter().flat_map(Map::keys);
    if let Some(member) = members.find(|member| !MEMBERS.contains(&member.as_str())) {
        return Err(match nearest(member, MEMBERS.into_iter()) {
            Some(meant) => format!("it has no member `{member}`; did you mean `{meant}`?"),
            None => format!("it has no member `{member}`"),
        });
    }
    let mut lines = Vec::new();
    type Line<'l> = &'l dyn Fn(&Map<String, Value>) -> Result<String, String>;
    let mut each = |list: &str, line: Line| -> Result<(), String> {
        let Some(all) = runtime.get(list) else {
            return Ok(());
        };
        let all = all.as_array().ok_or(format!("`{list}` is no array"))?;
        for (number, one) in all.iter().enumerate() {
            let one = one.as_object().ok_or("it is no object".to_owned());
            let made = one.and_then(line);
            lines.push(made.map_err(|why| format!("{list}[{number}]: {why}"))?);
        }
        Ok(())
    };
    each("table_entries", &|entry| table_entry(schema, entry))?;
    each("multicast_group_entries", &|group| {
        Ok(format!(
            "multicast_group {} {}",
            number(group, "multicast_group_id")?,
            replicas(group)?
        ))
    })?;
    each("clone_session_entries", &|session| {
        let cut = match optional(session, "packet_length_bytes")? {
            None | Some(0) => String::new(),
            Some(bytes) => format!(" truncate {bytes}"),
        };
        let id = number(session, "clone_session_id")?;
        Ok(format!("clone_session {id} {}{cut}", replicas(session)?))
    })?;
    Ok(lines)
}

fn table_entry(schema: &Schema, entry: &Map<String, Value>) -> Result<String, String> {
    let name = text(entry, "table")?;
    let action = text(entry, "action_name")?;
    let args = object(entry, "action_params")?;
    let args = args.map(|(name, value)| Ok(format!("{}: {}", word(name)?, scalar(value)?)));
    let args = args.collect::<Result<Vec<_>, String>>()?.join(", ");
    match entry.get("default_action") {
        Some(Value::Bool(true)) => return Ok(format!("setdefault {name} {action}({args})")),
        None | Some(Value::Null | Value::Bool(false)) => {}
        Some(_) => return Err("`default_action` is neither true nor false".to_owned()),
    }
    let table = find(schema, name).ok_or_else(|| {
        let known: Vec<&str> = schema.tables.values().map(|table| &*table.name).collect();
        format!("there is no table `{name}`, but {}", known.join(", "))
    })?;
    let mut keys = Vec::new();
    for (key, value) in object(entry, "match")? {
        let all: Vec<_> = table.match_keys().collect();
        let at = resolve(all.iter().map(|key| key.field.name.as_str()), key);
        let at = at.map_err(|_| format!("`{name}` has no key `{key}`"))?;
        let value = match value.as_array().map(Vec::as_slice) {
            None => scalar(value)?,
            Some([one]) => scalar(one)?,
            Some([one, two]) => {
                let (one, two) = (scalar(one)?, scalar(two)?);
                match all[at].kind {
                    MatchKind::Lpm => format!("{one}/{two}"),
                    MatchKind::Range => format!("{one}..{two}"),
                    _ => format!("{one}&&&{two}"),
                }
            }
            Some(_) => return Err(format!("the match of `{key}` is neither a value nor two")),
        };
        keys.push(format!("{}:{value}", word(key)?));
    }
    let priority = match optional(entry, "priority")? {
        Some(priority) if table.has_priorities() => priority.to_string(),
        _ => String::new(),
    };
    Ok(format!(
        "add {name} {priority} {} {action}({args})",
        keys.join(" ")
    ))
}

/// Formats `PORT:RID` of each replica.
fn replicas(group: &Map<String, Value>) -> Result<String, String> {
    let all = group
        .get("replicas")
        .and_then(Value::as_array)
        .ok_or("`replicas` is missing")?;
    let one = |replica: &Value| {
        let replica = replica.as_object().ok_or("a replica is no object")?;
        let port = number(replica, "egress_port")?;
        let id = optional(replica, "instance")?.unwrap_or(0);
        Ok(format!("{port}:{id}"))
    };
    Ok(all
        .iter()
        .map(one)
        .collect::<Result<Vec<_>, String>>()?
        .join(" "))
}

fn text<'v>(of: &'v Map<String, Value>, key: &str) -> Result<&'v str, String> {
    let text = of.get(key).and_then(Value::as_str);
    word(text.ok_or(format!("`{key}` is missing, or no string"))?)
}

fn number(of: &Map<String, Value>, key: &str) -> Result<u64, String> {
    optional(of, key)?.ok_or(format!("`{key}` is missing"))
}

fn optional(of: &Map<String, Value>, key: &str) -> Result<Option<u64>, String> {
    match of.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(number) => Ok(Some(number)),
            None => Err(format!("`{key}` is no whole number")),
        },
    }
}

/// Returns the members of an object, which may be missing.
fn object<'v>(
    of: &'v Map<String, Value>,
    key: &str,
) -> Result<impl Iterator<Item = (&'v String, &'v Value)>, String> {
    match of.get(key) {
        None | Some(Value::Null) => Ok(None.into_iter().flatten()),
        Some(Value::Object(object)) => Ok(Some(object).into_iter().flatten()),
        Some(_) => Err(format!("`{key}` is no object")),
    }
}

/// Checks that a text is one word of an entries file.
fn word(text: &str) -> Result<&str, String> {
    let breaks = |c: char| c.is_whitespace() || c.is_control() || "(),#".contains(c);
    match text.is_empty() || text.contains(breaks) {
        false => Ok(text),
        true => Err(format!("{} is no name and no value", Value::from(text))),
    }
}

/// Formats a value for an entries file.
fn scalar(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => word(text).map(str::to_owned),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(is_so) => Ok(is_so.to_string()),
        other => Err(format!("{other} is no value")),
    }
}

/// Parses the line made of a command, with all locations at the command.
pub(crate) fn read<T>(
    line: &str,
    place: Span,
    read: impl FnOnce(Piece) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    read(Piece::new(line, 0)).map_err(|mut refusal| {
        refusal.primary.span = place;
        refusal.secondary.clear();
        refusal
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entries::parse;
    use crate::sample;

    /// Returns the changes of a text of entries, or the first error in it.
    fn changes(text: &str) -> Result<Vec<crate::Change>, String> {
        let schema = sample::schema();
        let mut map = SourceMap::new();
        let file = map.add("file", text).expect("small");
        let wrong = |wrong: Diagnostics| {
            let first = wrong.iter().next().expect("one");
            format!("{}: {}", first.code.0, first.message)
        };
        let file = entries(schema, &mut map, file).map_err(wrong)?;
        Ok(parse(schema, &map, file).map_err(wrong)?.changes)
    }

    const FORWARD: &str = "forward(port: 3, mac: 02:00:00:00:00:01, loud: true, offset: -1, color: red, why: NoError)";

    fn lines(lines: &[&str]) -> Vec<crate::Change> {
        changes(&lines.join("\n")).expect("lines of an entries file")
    }

    #[test]
    fn commands_of_bmv2_are_lines_of_an_entries_file() {
        let commands = "
            table_add routes forward 10.1.0.0/16 => 3 02:00:00:00:00:01 true -1 red NoError
            table_add C.rules C.drop 10.0.0.0&&&255.0.0.0 1->9 10.0.0.7 => 4
            table_set_default routes drop   # the end
            table_clear rules
            mirroring_add 5 2
            mc_mgrp_create 7
            mc_node_create 1 3 4
            mc_node_associate 7 0";
        let wanted = [
            &format!("add routes 10.1.0.0/16 {FORWARD}"),
            "add rules 4294967291 src:10.0.0.0/8 ttl:1..9 dst:10.0.0.7 drop()",
            "setdefault routes drop()",
            "clear rules",
            "clone_session 5 2",
            "multicast_group 7",
            "multicast_group 7 3:1 4:1",
        ];
        assert_eq!(changes(commands), Ok(lines(&wanted)));
    }

    #[test]
    fn a_fault_in_a_runtime_file_has_its_place() {
        let mut map = SourceMap::new();
        let text = "{\n  \"target\": \"b\u{fc}\",\n  \"table_entries\": [,]\n}\n";
        let file = map.add("s1-runtime.json", text).expect("it is small");
        let refused = entries(sample::schema(), &mut map, file).unwrap_err();
        let place = refused.iter().next().expect("an error").primary.span;
        let place = map.line_col(place).expect("a place").1;
        assert_eq!((place.line, place.column), (3, 21));
    }

    #[test]
    fn runtime_files_are_entries() {
        let runtime = r#" {
            "target": "bmv2", "p4info": "build/x.p4info.txt",
            "table_entries": [
                { "table": "C.routes", "match": { "hdr.ipv4.dst": ["10.1.0.0", 16] }, "action_name": "C.forward",
                  "action_params": { "mac": "02:00:00:00:00:01", "port": 3, "loud": true, "offset": -1, "color": "red", "why": "NoError" } },
                { "table": "C.rules", "match": { "src": ["10.0.0.0", "255.0.0.0"], "ttl": [1, 9] }, "priority": 4,
                  "action_name": "C.drop", "action_params": {} },
                { "table": "C.routes", "default_action": true, "action_name": "C.drop" } ],
            "multicast_group_entries": [
                { "multicast_group_id": 1, "replicas": [ { "egress_port": 1, "instance": 1 }, { "egress_port": 2 } ] } ],
            "clone_session_entries": [
                { "clone_session_id": 5, "replicas": [ { "egress_port": 2, "instance": 1 } ], "packet_length_bytes": 64 } ] }"#;
        let wanted = [
            &format!("add routes 10.1.0.0/16 {FORWARD}"),
            "add rules 4 src:10.0.0.0/8 ttl:1..9 drop()",
            "setdefault routes drop()",
            "multicast_group 1 1:1 2:0",
            "clone_session 5 2:1 truncate 64",
        ];
        assert_eq!(changes(runtime), Ok(lines(&wanted)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |text: &str| changes(text).expect_err("wrong");
        for (text, says) in [
            ("table_add routes drop 10.0.0.1", "not complete"),
            ("table_add routes drop 10.0.0.1/33 =>", "33"),
            ("table_add nowhere drop 1 =>", "nowhere"),
            ("mc_node_associate 1 0", "there is no node"),
            (
                "{ \"table_entries\": [ {} ] }",
                "table_entries[0]: `table` is missing",
            ),
            ("{ \"table_entries\": 5 }", "no array"),
            (
                "{ \"table_entrys\": [] }",
                "no member `table_entrys`; did you mean `table_entries`?",
            ),
            ("{ \"hello\": 1 }", "no member `hello`"),
            ("{", "cannot be read"),
            (
                r#"{"table_entries": [{"table": "routes", "action_name": "drop", "match": {"hdr.ipv4.dst": "1 drop() #"}}]}"#,
                "no value",
            ),
            (
                r#"{"table_entries": [{"table": "routes", "action_name": "drop()\nclear rules", "default_action": true}]}"#,
                "no name",
            ),
            (
                r#"{"table_entries": [{"table": "rules", "action_name": "drop", "match": ["10.0.0.1"], "priority": 1}]}"#,
                "`match` is no object",
            ),
            (
                r#"{"table_entries": [{"table": "rules", "action_name": "drop", "priority": "4"}]}"#,
                "`priority` is no whole number",
            ),
            (
                r#"{"table_entries": [{"table": "routes", "action_name": "drop", "match": {"ttl": 1}}]}"#,
                "no key `ttl`",
            ),
            (
                r#"{"table_entries": [{"table": "MyIngress.routes", "action_name": "drop"}]}"#,
                "no table `MyIngress.routes`, but C.routes, C.rules",
            ),
        ] {
            assert!(wrong(text).contains(says), "{text}: {}", wrong(text));
        }
    }
}
