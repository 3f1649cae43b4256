//! Explanation of a query before it runs.

use crate::aggregate::{DETAIL, PRECISION, WAYS, memory, sets_log2};
use crate::catalogue::{Attribute, Source, Type};
use crate::messages::{MOST_KEPT, Messages};
use crate::query::{By, Condition, Function, Order, Predicate, Query};
use crate::{exchange, groups, program, streams};
use payload::{Exchange, plan};

/// Explains a query, line by line: the records, the source of each attribute, the computation of each aggregate, and
/// the memory. `groups` is the greatest number of groups, or the default.
pub fn explain(query: &Query, messages: &dyn Messages, groups: Option<usize>) -> String {
    let kind = query.kind.and_then(|kind| messages.kinds().get(kind));
    let record = match kind {
        Some(kind) if query.is_about_exchanges() => {
            format!("each response of {kind} with the request that it answers")
        }
        Some(kind) => format!("each message of {kind}"),
        None => "each packet".to_string(),
    };
    let mut lines = vec![format!("record: {record}")];
    for attribute in &query.attributes {
        let from = match attribute.source {
            Source::Packet(_) => "headers".to_string(),
            Source::ResponseTime => "request to its response".to_string(),
            Source::Message => {
                let technique = query
                    .kind
                    .and_then(|kind| messages.technique(kind, attribute.name_in_message()));
                let alone = technique.map(|how| format!(" (a parser for it alone: {how})"));
                format!("message{}", alone.unwrap_or_default())
            }
        };
        let ty = match attribute.ty {
            Type::Number(bits) => format!("a number of {}", diag::counted(u64::from(bits), "bit")),
            ty => ty.name().to_string(),
        };
        lines.push(format!("reads {}: {ty}, from the {from}", attribute.name));
    }
    let schema = query.kind.and_then(|kind| messages.schema(kind));
    if let Some(schema) = schema {
        let exchange = schema
            .exchange
            .as_ref()
            .filter(|_| query.is_about_exchanges());
        let pairing = exchange.into_iter().flat_map(Exchange::attributes);
        let of_message = |a: &&Attribute| a.source == Source::Message;
        let names = query.attributes.iter().filter(of_message);
        let names: Vec<&str> = names
            .map(Attribute::name_in_message)
            .chain(pairing)
            .collect();
        let passage = plan::passage(schema, &names);
        let how_far = match passage.is_whole {
            true => "to its end",
            false => "no further than it has these",
        };
        lines.push(match program::program(query, "", messages, 1) {
            Ok(_) => format!(
                "on the path: a program reads each message once, {how_far}: {}",
                passage.technique.name()
            ),
            Err(refused) => format!("on the path: not answered, since {}", refused.message),
        });
    }
    if schema.is_some_and(|schema| schema.follow) {
        let cut = match query.is_about_exchanges() {
            true => "a head that is cut is read no further".to_owned(),
            false => format!("of a head that is cut, {} are kept", size(MOST_KEPT)),
        };
        lines.push(format!(
            "streams: messages go on from segment to segment of {} directions of connections; {cut}",
            streams::STREAMS,
        ));
    }
    if query.is_about_exchanges() {
        lines.push(format!(
            "exchanges: {} requests that wait for their responses, of {} connections, at most; {} for their texts off the path",
            exchange::WAITING,
            exchange::FLOWS,
            size(exchange::MEMORY)
        ));
    }
    patterns(query.condition.as_ref(), &mut lines);
    for aggregate in &query.aggregates {
        let how = how(aggregate.function);
        let bytes = size(memory(aggregate.function, query));
        lines.push(format!("{}: {how}, {bytes} a group", aggregate.label));
    }
    let most = groups.unwrap_or_else(|| groups::default_groups(query));
    let one = groups::group_memory(query);
    lines.push(match query.keys.is_empty() {
        true => format!("memory: {} at most", size(one)),
        false => {
            let keys: Vec<&str> = query
                .keys
                .iter()
                .map(|&k| query.attributes[k].name.as_str())
                .collect();
            format!(
                "groups by {}: {most} at most; memory: {} at most, {} a group",
                keys.join(", "),
                size(one.saturating_mul(most)),
                size(one)
            )
        }
    });
    if query.order != Order::default() || query.most.is_some() {
        let by = match query.order.by {
            By::Aggregate(index) => query.aggregates.get(index).map(|a| a.label.as_str()),
            By::Key(key) => query
                .keys
                .get(key)
                .map(|&k| query.attributes[k].name.as_str()),
        };
        let first = match query.order.descending {
            true => "largest",
            false => "smallest",
        };
        let most = query
            .most
            .map_or("all".to_owned(), |most| format!("the first {most}"));
        let by = by.unwrap_or_default();
        lines.push(format!(
            "order: by {by}, the {first} first; {most} are shown"
        ));
    }
    lines.join("\n") + "\n"
}

fn how(function: Function) -> String {
    match function {
        Function::Count | Function::Bytes | Function::Sum(_) => "an exact sum".into(),
        Function::Min(_) | Function::Max(_) | Function::Mean(_) => "exact".into(),
        Function::Rate(_) => "an exact sum, divided by the time".into(),
        Function::Distinct(_) => format!(
            "HyperLogLog of {} registers, standard error {:.1} %",
            1 << PRECISION,
            104.0 / f64::from(1u32 << PRECISION).sqrt()
        ),
        Function::Top(k, _) => format!(
            "Space-Saving in {} sets of {WAYS} counters",
            1 << sets_log2(k)
        ),
        Function::Histogram(_) => format!(
            "{} buckets a power of two, quantiles within {:.1} %",
            1 << DETAIL,
            50.0 / f64::from(1u32 << DETAIL)
        ),
    }
}

fn patterns(condition: Option<&Condition>, lines: &mut Vec<String>) {
    match condition {
        Some(Condition::All(parts) | Condition::Any(parts)) => {
            parts.iter().for_each(|part| patterns(Some(part), lines));
        }
        Some(Condition::Not(inside)) => patterns(Some(inside), lines),
        Some(Condition::Test(_, Predicate::Matches(pattern))) => {
            let bytes = size(pattern.memory());
            lines.push(format!("~ \"{}\": an automaton of {bytes}", pattern.text()));
        }
        _ => {}
    }
}

/// Formats a number of bytes, rounded up to the next unit.
fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => diag::counted(bytes as u64, "byte"),
        1024..1_048_576 => format!("{} KB", bytes.div_ceil(1024)),
        _ => format!("{} MB", bytes.div_ceil(1 << 20)),
    }
}
