//! Fields: extent, repetition, and the bytes that they may have.

use super::layout::Names;
use super::{contents, errors};
use crate::expression::{self, Wrong};
use crate::{CharSet, Condition, Extent, FieldId, LayoutId, Linear, MessageField, Repeat};
use diag::Diagnostics;
use settings::{At, Table};

/// Keys that give a field's end.
pub(super) const EXTENTS: [&str; 7] = ["bits", "size", "length", "until", "rest", "join", "form"];
/// Keys of repetitions.
const REPEATS: [&str; 5] = ["optional", "repeat", "count", "stop", "chain"];

/// Layout, and field in it.
pub(super) type Id = (LayoutId, FieldId);

/// Returns true if expressions may use the field as a number.
pub(super) fn is_number(table: &Table) -> bool {
    let word = |key| table.text(key).map(|word| word.value);
    let kind = word("type");
    let has_kind = |name| kind.as_deref() == Some(name);
    let once = table.present(&REPEATS).is_empty();
    let narrow = table
        .number("size")
        .is_some_and(|size| (1..=8).contains(&size.value))
        || table.is_wrong("size");
    let plain = !["layout", "select", "starts"]
        .iter()
        .any(|key| table.has(key));
    once && plain
        && (table.has("bits")
            || has_kind("decimal")
            || narrow && !has_kind("bytes")
            || word("form").as_deref() == Some("varint"))
}

/// Reads a field; `None` if errors leave too little of it.
pub(super) fn read(
    report: &mut Diagnostics,
    names: &Names,
    id: Id,
    table: &Table,
) -> Option<MessageField> {
    let name = table.text("name")?;
    exclusive(report, table, &EXTENTS, "the field's end");
    exclusive(report, table, &REPEATS, "how often the field stands");
    let when = table
        .text("when")
        .and_then(|text| condition(report, names, id, &text));
    let extent = extent(report, names, id, table);
    let contents = contents::read(report, names, id, table, extent.as_ref());
    let repeat = repeat(report, names, id, table);
    let tag = table.bytes("tag").unwrap_or_default();
    for key in ["or_end", "keep_end"] {
        if let Some(span) = table.span_of(key).filter(|_| !table.has("until")) {
            report.push(errors::only_with(span, key, "`until`"));
        }
    }
    let extent = match extent {
        Some(extent) => extent,
        None if contents::is_structured(table) || !tag.is_empty() => Extent::Contents,
        None if table.present(&EXTENTS).is_empty()
            && !table.has_unknown_keys()
            && !table.is_wrong("tag") =>
        {
            report.push(errors::no_extent(name.span, &name.value));
            return None;
        }
        None => return None,
    };
    let has_no_end = matches!(
        extent,
        Extent::Contents | Extent::Joined { .. } | Extent::Bits(_)
    );
    if let (true, Some(span)) = (has_no_end, table.span_of("followed_by")) {
        report.push(errors::only_with(
            span,
            "followed_by",
            "an end in whole bytes, such as `until`",
        ));
    }
    Some(MessageField {
        name: name.value,
        when,
        skip: table.byte_strings("skip").unwrap_or_default(),
        tag,
        extent,
        contents: contents?,
        repeat: repeat?,
        chars: set(report, table, "chars"),
        trim: set(report, table, "trim"),
        min: table.number("min").map_or(0, |min| min.value as usize),
        followed_by: set(report, table, "followed_by"),
        max: table.number("max").map(|max| max.value as usize),
    })
}

/// Reports keys that exclude each other.
pub(super) fn exclusive(
    report: &mut Diagnostics,
    table: &Table,
    keys: &[&'static str],
    about: &str,
) {
    if let [first, second, ..] = table.present(keys)[..] {
        report.push(errors::exclusive(second.1, first, second.0, about));
    }
}

fn set(report: &mut Diagnostics, table: &Table, key: &'static str) -> Option<CharSet> {
    let text = table.text(key)?;
    match CharSet::parse(&text.value) {
        Ok(set) => Some(set),
        Err(wrong) => {
            report.push(errors::bad_set(text.span, key, wrong));
            None
        }
    }
}

fn extent(report: &mut Diagnostics, names: &Names, id: Id, table: &Table) -> Option<Extent> {
    let (key, _) = *table.present(&EXTENTS).first()?;
    match key {
        "bits" => Some(Extent::Bits(table.number("bits")?.value as u32)),
        "size" => Some(Extent::Size(table.number("size")?.value as usize)),
        "length" => Some(Extent::Length(sum(report, names, id, table, "length")?)),
        "until" => Some(Extent::Until {
            ends: table.byte_strings("until")?,
            or_end: table.flag("or_end"),
            keep_end: table.flag("keep_end"),
        }),
        "rest" => Some(Extent::Rest),
        "join" => {
            let (layout, part) = path(report, names, &table.text("join")?)?;
            Some(Extent::Joined { layout, part })
        }
        _ => match table.text("form")?.value.as_str() {
            "varint" => Some(Extent::Varint),
            "dns-name" => Some(Extent::DnsName),
            _ => Some(Extent::Rest),
        },
    }
}

fn repeat(report: &mut Diagnostics, names: &Names, id: Id, table: &Table) -> Option<Repeat> {
    let Some(&(key, span)) = table.present(&REPEATS).first() else {
        return Some(Repeat::Once);
    };
    match key {
        "optional" => Some(Repeat::Optional),
        "repeat" => Some(Repeat::ToEnd),
        "count" => Some(Repeat::Count(sum(report, names, id, table, "count")?)),
        "stop" => Some(Repeat::Stop(table.byte_strings("stop")?)),
        _ => {
            let chain = table.text("chain")?;
            let first = number(report, names, id, &chain)?;
            if !table.has("layout") {
                report.push(errors::only_with(span, "chain", "`layout`"));
            }
            let item = names.layout(report, &table.text("layout")?)?;
            let mut fields = names.layouts[item].fields.iter();
            if !fields.any(|field| field.name.value == chain.value && field.is_number) {
                report.push(errors::broken_chain(span, &chain.value));
                return None;
            }
            Some(Repeat::Chain(first))
        }
    }
}

/// Resolves an earlier field that is a number; reports anything else.
fn number(report: &mut Diagnostics, names: &Names, id: Id, name: &At<String>) -> Option<FieldId> {
    let Some(found) = names.earlier(id.0, id.1, &name.value) else {
        names.no_earlier(report, id.0, id.1, &name.value, name.span);
        return None;
    };
    let is_number = names.layouts[id.0].fields[found].is_number;
    if !is_number {
        report.push(errors::not_a_number(name.span, &name.value));
    }
    is_number.then_some(found)
}

/// Resolves a path `LAYOUT.FIELD`.
pub(super) fn path(report: &mut Diagnostics, names: &Names, text: &At<String>) -> Option<Id> {
    let Some((layout, field)) = text.value.split_once('.') else {
        report.push(errors::not_a_path(text.span, &text.value));
        return None;
    };
    let at = At {
        value: layout.to_string(),
        span: text.inside(0..layout.len()),
    };
    let id = names.layout(report, &at)?;
    let inside = text.inside(layout.len() + 1..text.value.len());
    Some((id, names.field(report, id, field, inside)?))
}

fn sum(
    report: &mut Diagnostics,
    names: &Names,
    id: Id,
    table: &Table,
    key: &'static str,
) -> Option<Linear> {
    let text = table.text(key)?;
    let read = expression::linear(&text.value, &|name| numeric(names, id, name));
    read.map_err(|wrong| not_an_expression(report, names, id, &text, wrong, errors::SUMS))
        .ok()
}

fn condition(
    report: &mut Diagnostics,
    names: &Names,
    id: Id,
    text: &At<String>,
) -> Option<Condition> {
    let read = expression::condition(&text.value, &|name| numeric(names, id, name));
    read.map_err(|wrong| not_an_expression(report, names, id, text, wrong, errors::CONDITIONS))
        .ok()
}

fn numeric(names: &Names, id: Id, name: &str) -> Option<FieldId> {
    let found = names.earlier(id.0, id.1, name)?;
    names.layouts[id.0].fields[found].is_number.then_some(found)
}

/// Reports an error in an expression; `form` describes its syntax.
fn not_an_expression(
    report: &mut Diagnostics,
    names: &Names,
    id: Id,
    text: &At<String>,
    wrong: Wrong,
    form: &str,
) {
    match wrong {
        Wrong::Expected(what, range) => {
            let span = text.inside(range);
            report.push(errors::expression(span, what, form));
        }
        Wrong::Unknown(name, range) => {
            let span = text.inside(range);
            number(report, names, id, &At { value: name, span });
        }
    }
}
