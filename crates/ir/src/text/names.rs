//! Names of entities in the text form.

use crate::{
    Action, Enum, ExternInst, Header, HeaderType, Parser, Program, Routine, Stack, State, Table,
    ValueSet, Var,
};
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use std::collections::HashMap;
use std::fmt::{Display, Write};

/// Keywords of expressions, transition targets and types. An entity with such a name gets a number.
const RESERVED: [&str; 12] = [
    "true", "false", "valid", "cast", "_", "accept", "reject", "bool", "error", "bit", "int",
    "varbit",
];

/// Names of all entities, distinct within each kind. An ambiguous name is followed by `#` and the entity's number.
pub(super) struct Names {
    pub enums: SecondaryMap<Enum, String>,
    pub header_types: SecondaryMap<HeaderType, String>,
    pub vars: SecondaryMap<Var, String>,
    pub headers: SecondaryMap<Header, String>,
    pub stacks: SecondaryMap<Stack, String>,
    pub externs: SecondaryMap<ExternInst, String>,
    pub value_sets: SecondaryMap<ValueSet, String>,
    pub actions: SecondaryMap<Action, String>,
    pub tables: SecondaryMap<Table, String>,
    pub routines: SecondaryMap<Routine, String>,
    pub parsers: SecondaryMap<Parser, String>,
}

impl Names {
    pub(crate) fn new(program: &Program) -> Names {
        // Variables, headers and fields meet in expressions, so they share one space.
        let mut seen: HashMap<String, u32> = HashMap::new();
        for var in program.vars.values() {
            *seen.entry(quote(&var.name)).or_default() += 1;
        }
        for header in program.headers.values() {
            let name = quote(&header.name);
            if let Some(layout) = program.header_types.get(header.ty) {
                for field in &layout.fields {
                    let field = format!("{name}.{}", quote(&field.name));
                    *seen.entry(field).or_default() += 1;
                }
            }
            *seen.entry(name).or_default() += 1;
        }
        let mut vars = SecondaryMap::new();
        for (id, var) in &program.vars {
            vars[id] = tell_apart(quote(&var.name), id, &seen);
        }
        // A header also needs its number if the name of one of its fields is ambiguous.
        let mut headers = SecondaryMap::new();
        for (id, header) in &program.headers {
            let name = quote(&header.name);
            let clash = program.header_types.get(header.ty).is_some_and(|layout| {
                layout
                    .fields
                    .iter()
                    .any(|f| seen[&format!("{name}.{}", quote(&f.name))] > 1)
            });
            headers[id] = if clash {
                format!("{name}#{id}")
            } else {
                tell_apart(name, id, &seen)
            };
        }
        Names {
            enums: distinct(&program.enums, |d| &d.name),
            header_types: distinct(&program.header_types, |d| &d.name),
            vars,
            headers,
            stacks: distinct(&program.stacks, |d| &d.name),
            externs: distinct(&program.externs, |d| &d.name),
            value_sets: distinct(&program.value_sets, |d| &d.name),
            actions: distinct(&program.actions, |d| &d.name),
            tables: distinct(&program.tables, |d| &d.name),
            routines: distinct(&program.routines, |d| &d.name),
            parsers: distinct(&program.parsers, |d| &d.name),
        }
    }
}

/// Returns distinct names for a parser's states.
pub(super) fn states(parser: &crate::ParserData) -> SecondaryMap<State, String> {
    distinct(&parser.states, |s| &s.name)
}

fn distinct<K: EntityRef + Display, T>(
    map: &PrimaryMap<K, T>,
    name: impl Fn(&T) -> &str,
) -> SecondaryMap<K, String> {
    let mut seen: HashMap<String, u32> = HashMap::new();
    for data in map.values() {
        *seen.entry(quote(name(data))).or_default() += 1;
    }
    let mut names = SecondaryMap::new();
    for (id, data) in map {
        names[id] = tell_apart(quote(name(data)), id, &seen);
    }
    names
}

fn tell_apart(name: String, id: impl Display, seen: &HashMap<String, u32>) -> String {
    if seen[&name] > 1 || RESERVED.contains(&name.as_str()) {
        format!("{name}#{id}")
    } else {
        name
    }
}

/// Returns a name unchanged if it is a plain word, else in backquotes.
pub(super) fn quote(name: &str) -> String {
    if is_plain(name) {
        return name.to_owned();
    }
    let mut quoted = String::from("`");
    for c in name.chars() {
        match c {
            '`' | '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            '\n' => quoted.push_str("\\n"),
            c => quoted.push(c),
        }
    }
    quoted.push('`');
    quoted
}

/// Returns the entity's own name from a word: without backquotes, escapes and the number after `#`.
pub(super) fn unquote(word: &str) -> String {
    let mut name = String::new();
    let mut quoted = false;
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        match c {
            '`' => quoted = !quoted,
            '\\' if quoted => match chars.next() {
                Some('n') => name.push('\n'),
                Some(c) => name.push(c),
                None => {}
            },
            '#' if !quoted => break,
            c => name.push(c),
        }
    }
    name
}

fn is_plain(name: &str) -> bool {
    let mut chars = name.chars().peekable();
    match chars.next() {
        Some(c) if c.is_ascii_alphabetic() || c == '_' || c == '$' => {}
        _ => return false,
    }
    while let Some(c) = chars.next() {
        match c {
            '[' => {
                let mut digits = 0;
                while chars.next_if(char::is_ascii_digit).is_some() {
                    digits += 1;
                }
                if digits == 0 || chars.next() != Some(']') {
                    return false;
                }
            }
            c if is_word_char(c) => {}
            _ => return false,
        }
    }
    true
}

pub(super) fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.')
}

/// Returns a string in double quotes.
pub(super) fn string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                let _ = write!(quoted, "\\{c}");
            }
            '\n' => quoted.push_str("\\n"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
