//! A bundle from the text of its file.

mod ports;

use super::keys::FORM;
use super::{At, Bundle, BundledProgram, Entries, Share, SharedBy, errors};
use crate::built::is_object;
use crate::hooks;
use bpf::abi::Hook;
use diag::{Diagnostics, FileId, SourceMap, Span};
use settings::{Document, Table};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Keys by which the schema of a message is recognised, which is a TOML file too.
const MESSAGE_KEYS: [&str; 3] = ["root", "layout", "attribute"];

/// Reads a bundle. All errors in it are reported together.
pub fn read(map: &SourceMap, file: FileId) -> Result<Bundle, Diagnostics> {
    let document = Document::parse(map, file);
    let name = &map.file(file).name;
    if let Some(key) = message_key(&document) {
        return Err(Box::new(errors::is_message(key, name)).into());
    }
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    document.read(&FORM, |table, wrong| Some(bundle(folder, table, wrong)))
}

/// Returns true for the schema of a message, which is TOML too.
pub fn is_message(map: &SourceMap, file: FileId) -> bool {
    message_key(&Document::parse(map, file)).is_some()
}

/// Returns the location of a key that identifies a file as the schema of a message.
fn message_key(document: &Document) -> Option<Span> {
    let key = MESSAGE_KEYS.iter().find_map(|key| document.key(key));
    key.filter(|_| document.key("program").is_none())
}

fn bundle(folder: &Path, table: &Table, wrong: &mut Diagnostics) -> Bundle {
    let name = table.text("name");
    if let Some(name) = &name {
        check_name(wrong, name);
    }
    let tables = table.tables("program").into_iter();
    let programs: Vec<BundledProgram> = tables
        .filter_map(|table| member(folder, &table, wrong))
        .collect();
    let mut first_of = BTreeMap::new();
    for At { value, span } in programs.iter().map(|program| &program.name) {
        let first = *first_of.entry(value).or_insert(*span);
        if first != *span {
            wrong.push(errors::name_twice(*span, value, first));
        }
    }
    let shares = match programs.is_empty() {
        true => Vec::new(),
        false => shares(table, &programs, wrong),
    };
    Bundle {
        name,
        programs,
        shares,
    }
}

/// Reads a program. Returns `None` if it has no source.
fn member(folder: &Path, table: &Table, wrong: &mut Diagnostics) -> Option<BundledProgram> {
    let paths = |key| {
        let names = table.texts(key).into_iter();
        names.map(|at| folder.join(at.value)).collect()
    };
    let hook = table.text("target").and_then(|name| target(name, wrong));
    let ports = ports::ports(table, wrong);
    let source = table.text("source")?;
    if is_object(Path::new(&source.value)) {
        for key in ["include", "define", "extern"] {
            if let Some(span) = table.key(key) {
                wrong.push(errors::is_compiled(span, key, &source.value));
            }
        }
    }
    let name = table.text("name").unwrap_or_else(|| At {
        value: crate::instance_name::from_file(Path::new(&source.value)),
        span: source.span,
    });
    check_name(wrong, &name);
    let defines = table.texts("define").into_iter();
    Some(BundledProgram {
        name,
        source: At {
            value: folder.join(&source.value),
            span: source.span,
        },
        text: None,
        include: paths("include"),
        define: defines
            .map(|at| crate::frontend::macro_of(&at.value))
            .collect(),
        externs: paths("extern"),
        hook,
        ports,
        entries: table.get("entries").map(|entries| match entries.text() {
            Some(file) => Entries::File(At {
                value: folder.join(file.value),
                span: file.span,
            }),
            None => Entries::Lines(entries.texts()),
        }),
    })
}

fn check_name(wrong: &mut Diagnostics, name: &At<String>) {
    if !crate::instance_name::is_valid(&name.value) {
        wrong.push(errors::bad_name(name.span, &name.value));
    }
}

fn target(At { value, span }: At<String>, wrong: &mut Diagnostics) -> Option<At<Hook>> {
    let found = hooks::by_name(&value);
    if found.is_none() {
        wrong.push(errors::unknown_target(
            span,
            &value,
            &Hook::ALL.map(Hook::name),
        ));
    }
    found.map(|value| At { value, span })
}

fn shares(table: &Table, programs: &[BundledProgram], wrong: &mut Diagnostics) -> Vec<Share> {
    let names: Vec<&str> = programs.iter().map(|p| p.name.value.as_str()).collect();
    let mut seen: Vec<At<String>> = Vec::new();
    let mut shares = Vec::new();
    for (name, parts) in table.map("share").unwrap_or_default() {
        let Some(parts) = parts else { continue };
        let before = wrong.len();
        let mut of = Vec::new();
        for part in parts.texts() {
            if let Some(first) = seen.iter().find(|first| first.value == part.value) {
                wrong.push(errors::shared_twice(part.span, &part.value, first.span));
            }
            of.extend(shared_by(&part, &names, wrong));
            seen.push(part);
        }
        let programs: BTreeSet<usize> = of.iter().map(|part| part.program).collect();
        if programs.len() < 2 && wrong.len() == before {
            wrong.push(errors::nothing_shared(
                name.span,
                &name.value,
                programs.len(),
            ));
        }
        shares.push(Share { name, of });
    }
    shares
}

fn shared_by(part: &At<String>, programs: &[&str], wrong: &mut Diagnostics) -> Option<SharedBy> {
    let span = part.span;
    let both = part.value.split_once('.');
    let Some((name, state)) = both.filter(|(name, state)| !name.is_empty() && !state.is_empty())
    else {
        wrong.push(errors::bad_part(span, &part.value, programs));
        return None;
    };
    let program = programs.iter().position(|program| *program == name);
    if program.is_none() {
        wrong.push(errors::unknown_program(span, name, programs));
    }
    Some(SharedBy {
        program: program?,
        state: state.to_string(),
        span,
    })
}

#[cfg(test)]
mod tests;
