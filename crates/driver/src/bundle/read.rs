//! A bundle from the text of its file.

mod ports;

use super::values::{Reader, Value};
use super::{At, Bundle, Entries, Member, Share, SharedBy, errors};
use crate::built::is_object;
use crate::hooks;
use bpf::abi::Hook;
use diag::{Diagnostics, FileId, SourceMap, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use toml::de::{DeTable, DeValue};

const BUNDLE_KEYS: [&str; 3] = ["name", "program", "share"];
/// Keys by which the schema of a message is recognised, which is a TOML file too.
const MESSAGE_KEYS: [&str; 3] = ["root", "layout", "attribute"];
const PROGRAM_KEYS: [&str; 11] = [
    "name", "source", "include", "define", "extern", "target", "dev", "ports", "reach", "groups",
    "entries",
];

const NAME: &str = "name = \"count\"";
const SOURCE: &str = "source = \"count.p4\"";
const TARGET: &str = "target = \"tc-ingress\"";
const DEV: &str = "dev = \"eth0\"";
const PROGRAM: &str = "[[program]]";

/// The most errors that are reported: each is shown with its lines, which takes time.
const MOST_ERRORS: usize = 200;

/// Reads a bundle. The errors in it are reported at once.
pub fn read(map: &SourceMap, file: FileId) -> Result<Bundle, Diagnostics> {
    let mut reader = Reader {
        map,
        file,
        errors: Diagnostics::new(),
    };
    let text = map.file(file).text.clone();
    let (root, wrong) = DeTable::parse_recoverable(&text);
    // What follows the first error mostly follows from it.
    let first = wrong
        .iter()
        .min_by_key(|error| error.span().map(|at| at.start));
    if let Some(error) = first {
        let range = error.span().unwrap_or(0..0);
        let marked = text.get(range.clone()).unwrap_or_default();
        let refused = errors::syntax(reader.span(range), error.message(), marked);
        reader.errors.push(refused);
        return Err(reader.errors);
    }
    if let Some(key) = message_key(root.get_ref()) {
        let refused = errors::is_message(reader.span(key), &map.file(file).name);
        reader.errors.push(refused);
        return Err(reader.errors);
    }
    let folder = Path::new(&map.file(file).name)
        .parent()
        .unwrap_or(Path::new(""))
        .to_owned();
    let bundle = bundle(&mut reader, &folder, root.get_ref());
    if reader.errors.has_errors() {
        Err(first_errors(reader.errors))
    } else {
        Ok(bundle)
    }
}

/// Whether a text is the schema of a message, which is TOML too.
pub fn is_message(text: &str) -> bool {
    let (root, _) = DeTable::parse_recoverable(text);
    message_key(root.get_ref()).is_some()
}

/// Where a file has a key by which it is the schema of a message.
fn message_key(root: &DeTable) -> Option<Range<usize>> {
    let of_message = MESSAGE_KEYS.iter().find_map(|key| root.get_key_value(*key));
    let span = of_message.map(|(key, _)| key.span());
    span.filter(|_| !root.contains_key("program"))
}

/// As many errors as are reported, and that there are more.
fn first_errors(all: Diagnostics) -> Diagnostics {
    let mut first = Diagnostics::new();
    for (number, error) in all.iter().enumerate() {
        if number == MOST_ERRORS {
            first.push(errors::too_many(error.primary.span, MOST_ERRORS));
            break;
        }
        first.push(error.clone());
    }
    first
}

fn bundle(reader: &mut Reader, folder: &Path, root: &DeTable) -> Bundle {
    reader.known_keys(root, "a bundle", &BUNDLE_KEYS);
    let name = root
        .get("name")
        .and_then(|value| reader.text("name", value, "the bundle's name", "name = \"flows\""));
    if let Some(name) = &name {
        check_name(reader, name);
    }
    let mut programs: Vec<Member> = Vec::new();
    match root.get("program").map(|value| (value, value.get_ref())) {
        None => {
            let start = reader.span(0..0);
            let what = "the bundle has no program";
            reader.errors.push(errors::missing(
                start,
                what,
                "[[program]]` and `source = \"count.p4\"",
            ));
        }
        Some((_, DeValue::Array(list))) => {
            for item in list.iter() {
                if let DeValue::Table(table) = item.get_ref() {
                    let span = reader.span(item.span());
                    programs.extend(member(reader, folder, table, span));
                } else {
                    reader.table("program", item, "a list of programs", PROGRAM);
                }
            }
        }
        Some((value, _)) => {
            reader.texts("program", value, "a list of programs", PROGRAM);
        }
    }
    let mut first_of = BTreeMap::new();
    for At { value, span } in programs.iter().map(|program| &program.name) {
        let first = *first_of.entry(value).or_insert(*span);
        if first != *span {
            let twice = errors::name_twice(*span, value, first);
            reader.errors.push(twice);
        }
    }
    let shares = root
        .get("share")
        .filter(|_| !programs.is_empty())
        .map_or_else(Vec::new, |value| shares(reader, value, &programs));
    Bundle {
        name,
        programs,
        shares,
    }
}

/// A program; `None` if too little is known of it to go on with.
fn member(reader: &mut Reader, folder: &Path, table: &DeTable, span: Span) -> Option<Member> {
    reader.known_keys(table, "a program", &PROGRAM_KEYS);
    let path = |at: At<String>| folder.join(at.value);
    let name = table
        .get("name")
        .and_then(|value| reader.text("name", value, "the program's name", NAME));
    let include = table.get("include").map_or_else(Vec::new, |value| {
        reader.text_or_texts(
            "include",
            value,
            "a folder or a list of them",
            "include = \"include\"",
        )
    });
    let externs = table.get("extern").map_or_else(Vec::new, |value| {
        reader.text_or_texts(
            "extern",
            value,
            "a C file or a list of them",
            "extern = \"sum.c\"",
        )
    });
    let define = table
        .get("define")
        .map_or_else(Vec::new, |value| defines(reader, value));
    let hook = table.get("target").and_then(|value| target(reader, value));
    let entries = table.get("entries").and_then(|value| {
        let example = "entries = \"count.txt\"";
        let wanted = "a file, or a list of lines";
        match value.get_ref() {
            DeValue::String(_) => {
                let at = reader.text("entries", value, wanted, example)?;
                Some(Entries::File(At {
                    value: folder.join(at.value),
                    span: at.span,
                }))
            }
            _ => Some(Entries::Lines(
                reader.texts("entries", value, wanted, example),
            )),
        }
    });
    let ports = ports::ports(reader, table);
    let Some(value) = table.get("source") else {
        let what = "a program has no `source`";
        reader.errors.push(errors::missing(span, what, SOURCE));
        return None;
    };
    let source = reader.text("source", value, "a P4 file", SOURCE)?;
    if is_object(Path::new(&source.value)) {
        for key in ["include", "define", "extern"] {
            if let Some((key, _)) = table.get_key_value(key) {
                let span = reader.span(key.span());
                let refused = errors::is_compiled(span, key.get_ref(), &source.value);
                reader.errors.push(refused);
            }
        }
    }
    let name = name.unwrap_or_else(|| At {
        value: crate::instance_name::from_file(Path::new(&source.value)),
        span: source.span,
    });
    check_name(reader, &name);
    Some(Member {
        name,
        source: At {
            value: folder.join(&source.value),
            span: source.span,
        },
        text: None,
        include: include.into_iter().map(path).collect(),
        define,
        externs: externs.into_iter().map(path).collect(),
        hook,
        ports,
        entries,
    })
}

fn check_name(reader: &mut Reader, name: &At<String>) {
    if !crate::instance_name::is_valid(&name.value) {
        reader.errors.push(errors::bad_name(name.span, &name.value));
    }
}

fn defines(reader: &mut Reader, value: &Value) -> Vec<(String, Option<String>)> {
    let (wanted, example) = ("a list of macros", "define = [\"LARGE\", \"FLOWS=1024\"]");
    reader
        .texts("define", value, wanted, example)
        .into_iter()
        .map(|at| crate::frontend::macro_of(&at.value))
        .collect()
}

fn target(reader: &mut Reader, value: &Value) -> Option<At<Hook>> {
    let name = reader.text("target", value, "a target's name", TARGET)?;
    let found = hooks::by_name(&name.value);
    if found.is_none() {
        let known = Hook::ALL.map(Hook::name);
        let similar = control::names::similar(known.into_iter(), &name.value);
        reader.errors.push(errors::unknown_target(
            name.span,
            &name.value,
            &known,
            &similar,
        ));
    }
    Some(At {
        value: found?,
        span: name.span,
    })
}

fn shares(reader: &mut Reader, value: &Value, programs: &[Member]) -> Vec<Share> {
    let wanted = "a list of programs' states";
    let example = "flows = [\"egress.flows\", \"ingress.flows\"]";
    let names: Vec<&str> = programs.iter().map(|p| p.name.value.as_str()).collect();
    let mut seen: Vec<(String, Span)> = Vec::new();
    let mut shares = Vec::new();
    for (name, value) in reader.table("share", value, "a table of what is shared", "[share]") {
        let before = reader.errors.len();
        let mut of = Vec::new();
        for part in reader.texts(&name.value, value, wanted, example) {
            if let Some((_, first)) = seen.iter().find(|(text, _)| *text == part.value) {
                let twice = errors::shared_twice(part.span, &part.value, *first);
                reader.errors.push(twice);
            }
            of.extend(shared_by(reader, &part, &names));
            seen.push((part.value, part.span));
        }
        let programs: BTreeSet<usize> = of.iter().map(|part| part.program).collect();
        if programs.len() < 2 && reader.errors.len() == before {
            let lonely = errors::nothing_shared(name.span, &name.value, programs.len());
            reader.errors.push(lonely);
        }
        shares.push(Share { name, of });
    }
    shares
}

fn shared_by(reader: &mut Reader, part: &At<String>, programs: &[&str]) -> Option<SharedBy> {
    let both = part.value.split_once('.');
    let Some((name, state)) = both.filter(|(name, state)| !name.is_empty() && !state.is_empty())
    else {
        reader
            .errors
            .push(errors::bad_part(part.span, &part.value, programs));
        return None;
    };
    let Some(program) = programs.iter().position(|p| *p == name) else {
        let similar = control::names::similar(programs.iter().copied(), name);
        reader
            .errors
            .push(errors::unknown_program(part.span, name, programs, &similar));
        return None;
    };
    Some(SharedBy {
        program,
        state: state.to_string(),
        span: part.span,
    })
}

#[cfg(test)]
mod tests;
