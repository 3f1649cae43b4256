//! Attributes of a schema, which users may ask for.

use super::layout::{Names, ReadLayout, twice};
use super::{contents, errors, field};
use crate::{Attribute, CaseKey, Contents, FieldId, LayoutId, Traits, Which, asked};
use diag::Diagnostics;
use settings::Table;

/// Keys that select some of a field's values for an attribute.
const WHICH: [&str; 3] = ["key", "index", "member"];

/// Reads all attributes.
pub(super) fn all(
    report: &mut Diagnostics,
    message: &Table,
    names: &Names,
    layouts: &[ReadLayout],
) -> Vec<Attribute> {
    let tables = message.tables("attribute");
    let named: Vec<_> = tables
        .iter()
        .filter_map(|table| table.text("name"))
        .collect();
    twice(report, "attribute", named.iter());
    tables
        .iter()
        .flat_map(|table| one(report, table, names, layouts))
        .collect()
}

/// Reads an attribute. Returns one entry for each of its fields.
fn one(
    report: &mut Diagnostics,
    table: &Table,
    names: &Names,
    layouts: &[ReadLayout],
) -> Vec<Attribute> {
    let Some(name) = table.text("name") else {
        return Vec::new();
    };
    field::exclusive(report, table, &WHICH, "which values these are");
    let before = report.len();
    let traits = Traits {
        several: table.flag("several"),
        noise: table
            .numbers("noise")
            .into_iter()
            .filter_map(|number| u64::try_from(number).ok())
            .collect(),
        is_address: table.flag("address"),
    };
    let mut all: Vec<Attribute> = Vec::new();
    let mut kind = None;
    let paths: Vec<_> = table
        .texts("field")
        .into_iter()
        .filter_map(|path| Some((field::path(report, names, &path)?, path)))
        .collect();
    let any_has_key = paths
        .iter()
        .any(|((layout, _), _)| layouts[*layout].names_key);
    for ((layout, field), path) in paths {
        // Of several fields, the key applies to those whose layouts have one.
        let is_any = any_has_key && table.has("key") && !layouts[layout].names_key;
        let found = match is_any {
            true => Some(Which::All),
            false => which(report, table, names, (layout, field), layouts),
        };
        let Some(which) = found else {
            continue;
        };
        if let Some(read) = &layouts[layout].fields[field] {
            let own = asked::kind(read);
            if *kind.get_or_insert(own) != own {
                report.push(errors::other_kind(path.span, &path.value, &name.value));
            }
            let is_of_address = matches!(read.constant_size(), Some(4 | 16))
                && matches!(read.contents, Contents::Bytes);
            if traits.is_address && !is_of_address {
                report.push(errors::no_address(path.span, &path.value));
            }
        }
        all.push(Attribute {
            name: name.value.clone(),
            layout,
            field,
            which,
            traits: traits.clone(),
        });
    }
    let many = all
        .iter()
        .any(|a| matches!(a.which, Which::AnyKey | Which::AnyMember));
    let is_known =
        !all.is_empty() && report.len() == before && !WHICH.iter().any(|key| table.is_wrong(key));
    if is_known && many != name.value.ends_with('*') {
        report.push(errors::wildcard(name.span, &name.value));
    }
    all
}

/// Reads which values of a field belong to an attribute.
fn which(
    report: &mut Diagnostics,
    table: &Table,
    names: &Names,
    (layout, field): (LayoutId, FieldId),
    layouts: &[ReadLayout],
) -> Option<Which> {
    Some(if let Some(key) = table.text("key") {
        let known = &layouts[layout];
        let Some(by) = known.key else {
            if !known.names_key {
                let layout = &names.layouts[layout].name.value;
                report.push(errors::no_key(key.span, layout));
            }
            return None;
        };
        let by_name = &names.layouts[layout].fields[by.field];
        if by.field >= field {
            let field = &names.layouts[layout].fields[field].name.value;
            report.push(errors::key_is_later(key.span, &by_name.name.value, field));
            return None;
        }
        match key.value.as_str() {
            "*" => Which::AnyKey,
            _ => {
                let read = contents::case_key(report, &key, by_name.is_number)?;
                let numbers = known.fields[by.field].as_ref().map(asked::numbers);
                if let (CaseKey::Number(number), Some(numbers)) = (&read, numbers)
                    && !numbers.contains(number)
                {
                    report.push(errors::large_key(
                        key.span,
                        &key.value,
                        &by_name.name.value,
                        &numbers,
                    ));
                    return None;
                }
                Which::Key(read)
            }
        }
    } else if let Some(index) = table.number("index") {
        Which::Index(index.value as usize)
    } else if let Some(member) = table.text("member") {
        // The contents of a field with an error are unknown.
        let holds = &layouts[layout].fields[field].as_ref()?.contents;
        if !matches!(holds, Contents::Json | Contents::Xml) {
            let field = &names.layouts[layout].fields[field].name.value;
            report.push(errors::no_members(member.span, field));
            return None;
        }
        match member.value.as_str() {
            "*" => Which::AnyMember,
            _ => Which::Member(member.value),
        }
    } else {
        Which::All
    })
}
