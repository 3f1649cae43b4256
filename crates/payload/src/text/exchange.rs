//! The exchange of a schema: its requests and responses.

use super::errors;
use crate::{Answers, AttributeKind, Exchange, MOST_ANSWERS, Next, Schema, Side, Sides};
use diag::Diagnostics;
use settings::Table;

/// Reads the exchange; the names in it are those of the schema's attributes.
pub(super) fn read(report: &mut Diagnostics, table: &Table, schema: &Schema) -> Option<Exchange> {
    let at = table.span_of("exchange")?;
    let table = table.table("exchange")?;
    // In a schema with other errors, the field of an attribute may be missing.
    if report.has_errors() {
        return None;
    }
    let request = side(report, &table, "request", schema);
    let response = side(report, &table, "response", schema);
    let sides = match (request, response) {
        (None, None) if schema.ports.is_empty() => {
            report.push(errors::no_sides(at));
            return None;
        }
        (None, None) => Sides::Ports,
        (Some(request), Some(response)) => Sides::Attributes {
            request: request?,
            response: response?,
        },
        _ => {
            report.push(errors::half_exchange(at));
            return None;
        }
    };
    let id = table.text("id");
    if let Some(id) = &id
        && !schema.is_number(&id.value)
    {
        report.push(errors::no_number(id.span, &id.value));
    }
    Some(Exchange {
        sides,
        id: id.map(|id| id.value),
    })
}

/// Reads the attribute that identifies a side. The inner `None` is an error that has been reported.
pub(super) fn side(
    report: &mut Diagnostics,
    table: &Table,
    key: &str,
    schema: &Schema,
) -> Option<Option<Side>> {
    let table = table.table(key)?;
    let Some(attribute) = table.text("attribute") else {
        return Some(None);
    };
    let numbers = |key| {
        let numbers = table.numbers(key).into_iter();
        numbers.map(|n| n as u64).collect::<Vec<u64>>()
    };
    let (values, except) = (numbers("values"), numbers("except"));
    let (at, name) = (attribute.span, &attribute.value);
    let wrong = match values.is_empty() && except.is_empty() {
        true => schema
            .asked(name)
            .is_err()
            .then(|| errors::no_attribute(at, name)),
        false => (!schema.is_number(name)).then(|| errors::no_number(at, name)),
    };
    if let Some(wrong) = wrong {
        report.push(wrong);
        return Some(None);
    }
    Some(Some(Side {
        attribute: attribute.value,
        values,
        except,
    }))
}

/// Reads the responses that have no body because of their request.
pub(super) fn answers(next: &Table) -> Vec<Answers> {
    let none = next.table("none");
    let tables = none.map_or(Vec::new(), |none| none.tables("answers"));
    let number =
        |table: &Table, key, default| table.number(key).map_or(default, |n| n.value as u64);
    let read = |table: &Table| {
        Some(Answers {
            to: table.bytes("to")?,
            numbers: number(table, "least", 0)..=number(table, "most", u64::MAX),
        })
    };
    tables.iter().filter_map(read).collect()
}

/// Reports responses without a body because of their request if nothing pairs them with requests, or if they are too
/// many to distinguish.
pub(super) fn answers_fit(
    report: &mut Diagnostics,
    message: &Table,
    next: Option<&Next>,
    exchange: Option<&Exchange>,
    schema: &Schema,
) {
    let Some(next) = next.filter(|next| !next.answers.is_empty()) else {
        return;
    };
    let none = message.table("next").and_then(|next| next.table("none"));
    let Some(at) = none.and_then(|none| none.span_of("answers")) else {
        return;
    };
    let is_bytes = |name: &str| {
        let kind = schema.asked(name).map(|asked| asked.kind);
        matches!(kind, Ok(AttributeKind::Bytes))
    };
    match exchange {
        Some(Exchange {
            sides: Sides::Attributes { request, .. },
            id: None,
        }) if is_bytes(&request.attribute) => {}
        _ => report.push(errors::no_requests(at)),
    }
    if next.answers.len() > MOST_ANSWERS || next.answers.iter().any(|a| a.to.len() > 8) {
        report.push(errors::many_answers(at));
    }
}
