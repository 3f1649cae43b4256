//! The attributes that users may ask for.

use super::layout::{Names, ReadLayout, twice};
use super::{contents, errors, field};
use crate::{Attribute, CaseKey, Contents, Which, asked};
use diag::Diagnostics;
use settings::Table;

/// The keys that give which of a field's values an attribute is.
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
        .filter_map(|table| one(report, table, names, layouts))
        .collect()
}

fn one(
    report: &mut Diagnostics,
    table: &Table,
    names: &Names,
    layouts: &[ReadLayout],
) -> Option<Attribute> {
    let name = table.text("name")?;
    let (layout, field) = field::path(report, names, &table.text("field")?)?;
    field::exclusive(report, table, &WHICH, "which values these are");
    let which = if let Some(key) = table.text("key") {
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
        // Of a field in which something is wrong nobody knows what it holds.
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
    };
    let many = matches!(which, Which::AnyKey | Which::AnyMember);
    let is_known = !WHICH.iter().any(|key| table.is_wrong(key));
    if is_known && many != name.value.ends_with('*') {
        report.push(errors::wildcard(name.span, &name.value));
    }
    Some(Attribute {
        name: name.value,
        layout,
        field,
        which,
    })
}
