//! Contents of fields.

use super::errors;
use super::field::{EXTENTS, Id, exclusive};
use super::layout::Names;
use crate::{CaseKey, Cases, Contents, Extent, MessageField, asked};
use diag::Diagnostics;
use settings::{At, Table};

/// Keys by which a field holds a layout.
const LAYOUTS: [&str; 3] = ["layout", "select", "starts"];

/// Returns true if the field holds a layout.
pub(super) fn is_structured(table: &Table) -> bool {
    !table.present(&LAYOUTS).is_empty()
}

/// Reads the field's contents; `None` if there is an error in them.
pub(super) fn read(
    report: &mut Diagnostics,
    names: &Names,
    id: Id,
    table: &Table,
    extent: Option<&Extent>,
) -> Option<Contents> {
    exclusive(report, table, &LAYOUTS, "what the field holds");
    belongs(report, table, "case", "`select`", &["select"]);
    belongs(
        report,
        table,
        "default",
        "`select` or `starts`",
        &["select", "starts"],
    );
    let default = match table.text("default") {
        Some(name) => Some(names.layout(report, &name)?),
        None => None,
    };
    if let Some(name) = table.text("layout") {
        return names.layout(report, &name).map(Contents::Layout);
    }
    if let Some(name) = table.text("select") {
        if !table.has("case") {
            report.push(errors::only_with(name.span, "select", "`case`"));
        }
        let Some(field) = names.earlier(id.0, id.1, &name.value) else {
            names.no_earlier(report, id.0, id.1, &name.value, name.span);
            return None;
        };
        let is_number = names.layouts[id.0].fields[field].is_number;
        let mut cases = Vec::new();
        for (key, layout) in table.map("case")? {
            let key = case_key(report, &key, is_number)?;
            cases.push((key, names.layout(report, &layout?.text()?)?));
        }
        return Some(Contents::Select(field, Cases { cases, default }));
    }
    if let Some(starts) = table.map("starts") {
        let mut cases = Vec::new();
        for (bytes, layout) in starts {
            cases.push((
                bytes.value.into_bytes(),
                names.layout(report, &layout?.text()?)?,
            ));
        }
        return Some(Contents::Starts(Cases { cases, default }));
    }
    if is_structured(table) {
        // Its value is of another kind, which has been reported.
        return None;
    }
    value(report, table, extent)
}

/// Reports case keys that the selecting field `by` never has.
pub(super) fn cases_fit(report: &mut Diagnostics, table: &Table, by: &MessageField) {
    let numbers = asked::numbers(by);
    for (key, _) in table.map("case").unwrap_or_default() {
        if let Some(CaseKey::Number(number)) = case_key(report, &key, true)
            && !numbers.contains(&number)
        {
            report.push(errors::large_key(key.span, &key.value, &by.name, &numbers));
        }
    }
}

/// Reports a key without the one that it requires.
fn belongs(report: &mut Diagnostics, table: &Table, key: &str, with: &str, any: &[&'static str]) {
    if let (Some(span), []) = (table.span_of(key), &table.present(any)[..]) {
        report.push(errors::only_with(span, key, with));
    }
}

/// Reads the key of a case: a number in decimal or hexadecimal digits, or the bytes of a string.
pub(super) fn case_key(
    report: &mut Diagnostics,
    key: &At<String>,
    is_number: bool,
) -> Option<CaseKey> {
    if !is_number {
        return Some(CaseKey::Bytes(key.value.clone().into_bytes()));
    }
    let read = match key.value.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16),
        None => key.value.parse(),
    };
    if read.is_err() {
        report.push(errors::bad_case(key.span, &key.value));
    }
    read.ok().map(CaseKey::Number)
}

fn value(report: &mut Diagnostics, table: &Table, extent: Option<&Extent>) -> Option<Contents> {
    let word = |key| table.text(key).map(|word| word.value);
    match word("form").as_deref() {
        Some("json") => return Some(Contents::Json),
        Some("xml") => return Some(Contents::Xml),
        _ => {}
    }
    if extent.is_none() && !table.present(&EXTENTS).is_empty() {
        return None;
    }
    let narrow = matches!(extent, Some(Extent::Size(1..=8)));
    let kind = word("type");
    for (key, misused) in [
        ("type", kind.as_deref() == Some("number")),
        ("endian", true),
    ] {
        if let (Some(span), true, false) = (table.span_of(key), misused, narrow) {
            report.push(errors::too_wide(span, key));
            return None;
        }
    }
    let little_endian = word("endian").as_deref() == Some("little");
    Some(match (kind.as_deref(), extent) {
        (Some("decimal"), _) => Contents::Decimal,
        (Some("bytes"), _) => Contents::Bytes,
        (_, Some(Extent::Bits(_) | Extent::Varint)) => Contents::Number {
            little_endian: false,
        },
        _ if narrow => Contents::Number { little_endian },
        _ => Contents::Bytes,
    })
}
