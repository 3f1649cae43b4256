//! Query as a P4 program for `tap_model`, which keeps its metrics on the path.
//!
//! The program does the same as [`Evaluator`](crate::Evaluator). It reads headers, streams, messages and exchanges by
//! the include files of `p4include/`; the code generated from the query is a tree ([`p4`]). It adds the values of each
//! record to the externs of `telemetry.p4`, which keep a metric for each group of `by`. It changes no packet.

mod attribute;
mod behind;
mod condition;
mod counted;
mod exchange;
mod field;
mod message;
mod p4;
mod print;
mod reading;
mod stores;

use crate::aggregate::{self, PRECISION};
use crate::errors::program as errors;
use crate::groups;
use crate::messages::Messages;
use crate::query::{Function, Query};
use counted::{COUNTERS, COUNTS, Count};
use diag::Diagnostic;
use field::{QuerySources, Source, source};
use p4::{
    Block, Control, Expr, Instance, Program, Stmt, Type, call, declare, name, named, number, when,
};
use sketch::Tally;

pub use reading::{Kept, Reading};
pub use stores::Stores;

/// Name of the object that counts the records of each group.
const RECORDS: &str = "records";

/// Generates the P4 program of a query, with the query's text in a comment. `groups` is the greatest number of groups.
///
/// # Errors
/// No program can read what the query asks for.
pub fn program(
    query: &Query,
    text: &str,
    messages: &dyn Messages,
    groups: usize,
) -> Result<String, Box<Diagnostic>> {
    let reader = message::reader(query, messages)?;
    let of_message = |index| reader.as_ref().and_then(|reader| reader.source(index));
    let sources = query.attributes.iter().enumerate();
    let sources = sources.map(|(index, attribute)| {
        let found = source(attribute).or_else(|| of_message(index));
        found.ok_or_else(|| errors::message(attribute.at, &attribute.name))
    });
    let sources: Vec<Source> = sources.collect::<Result<_, _>>()?;
    let layout = QuerySources {
        query,
        sources,
        reader,
    };
    Ok(tree(&layout, text, groups).to_string())
}

fn tree(layout: &QuerySources, text: &str, groups: usize) -> Program {
    let of_messages = layout.reader.as_ref();
    let mut includes = vec!["core.p4", "tap_model.p4", "packet_headers.p4"];
    includes.extend(of_messages.map(message::Reader::include));
    let mut instances = vec![Instance {
        ty: named("CounterArray"),
        args: vec![number(COUNTERS as u64), Expr::Bool(false)],
        name: COUNTS.to_owned(),
        comment: None,
    }];
    instances.extend(objects(layout, groups));
    instances.extend(of_messages.iter().flat_map(|reader| reader.objects()));
    let mut apply = Block::new();
    if layout.reads_flow() {
        let flow = call("packet_flow_of", vec![name("hdr")]);
        apply.push(declare(named("packet_flow"), "flow", flow));
    }
    apply.push(Count::Read.increment());
    apply.extend(match of_messages {
        Some(reader) => reader.around(&layout.no_group(), || record(layout)),
        None => record(layout),
    });
    let control = "watch";
    Program {
        comment: text
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect(),
        includes,
        enums: vec![counted::names()],
        structs: layout.types(),
        control: Control {
            name: control,
            params: vec![
                (named("packet_headers"), "hdr"),
                (named("tap_input"), "input"),
            ],
            instances,
            apply,
        },
        main: call(
            "tap",
            [call("packet_parser", vec![]), call(control, vec![])].to_vec(),
        ),
    }
}

/// Emits the statements for a record.
fn record(layout: &QuerySources) -> Block {
    let holds = layout.query.condition.as_ref();
    let holds = holds.map(|condition| condition::expression(condition, layout));
    let mut grouped = vec![declare(named("group_t"), "group", layout.group())];
    grouped.extend(adds(layout));
    let has_keys = layout.has_keys();
    let without_key = vec![Count::WithoutKey.increment()];
    let matched = vec![
        Count::Matched.increment(),
        Stmt::If(has_keys, grouped, without_key),
    ];
    vec![when(holds.unwrap_or(Expr::Bool(true)), matched)]
}

/// Returns the default for the greatest number of groups on the path. Each processor has its own copy of a group.
/// Without `by` it is 1.
pub fn groups_on_path(query: &Query, processors: usize) -> usize {
    let bytes = |x: usize| aggregate::value_memory(query.attributes[x].ty);
    let key: usize = query.keys.iter().map(|&key| bytes(key)).sum();
    let own = with_objects(query).into_iter();
    let own = own.map(|(function, attribute, _)| match function {
        Function::Distinct(_) => key + (1 << PRECISION),
        Function::Top(k, _) => kept(k) * (key + bytes(attribute) + size_of::<[u64; 2]>()),
        Function::Histogram(_) => key + aggregate::memory(function, query),
        _ => key + size_of::<Tally>(),
    });
    let group = key + size_of::<Tally>() + own.sum::<usize>();
    groups::fitting(query, group * processors)
}

/// Returns the names of the objects that a query's programs at several hooks share: metrics by group, and the state of
/// connections.
pub fn objects_of(query: &Query, messages: &dyn Messages) -> Vec<String> {
    let own = with_objects(query).into_iter().map(|(.., name)| name);
    let exchange = query.kind.and_then(|kind| messages.exchange(kind));
    let exchange = exchange.filter(|_| query.is_about_exchanges());
    let states = exchange.map_or(&[][..], exchange::states);
    let states = states.iter().map(|&name| name.to_owned());
    let schema = query.kind.and_then(|kind| messages.schema(kind));
    let awaited = schema.is_some_and(message::awaits);
    let awaited = awaited.then(|| message::AWAITED.to_owned());
    let records = std::iter::once(RECORDS.to_owned());
    records.chain(own).chain(states).chain(awaited).collect()
}

/// Returns the object that has an aggregate's metric, unless it is `records`, which counts the records of a group and
/// the bytes of their packets.
fn object(function: Function, query: &Query) -> Option<String> {
    let names = field::names(query);
    let name = |x: usize| &names[x];
    Some(match function {
        Function::Count | Function::Bytes | Function::Rate(None) => return None,
        Function::Sum(x)
        | Function::Min(x)
        | Function::Max(x)
        | Function::Mean(x)
        | Function::Rate(Some(x)) => format!("values_{}", name(x)),
        Function::Distinct(x) => format!("distinct_{}", name(x)),
        Function::Top(_, x) => format!("top_{}", name(x)),
        Function::Histogram(x) => format!("histogram_{}", name(x)),
    })
}

/// Returns the functions whose metrics have their own objects, each object once.
fn with_objects(query: &Query) -> Vec<(Function, usize, String)> {
    let mut found: Vec<(Function, usize, String)> = Vec::new();
    for aggregate in &query.aggregates {
        let (Some(name), Some(attribute)) = (
            object(aggregate.function, query),
            aggregate.function.attribute(),
        ) else {
            continue;
        };
        match found.iter_mut().find(|(_, _, known)| *known == name) {
            // The object must suffice for the largest `top`.
            Some((Function::Top(most, _), ..)) => {
                if let Function::Top(k, _) = aggregate.function {
                    *most = k.max(*most);
                }
            }
            Some(_) => {}
            None => found.push((aggregate.function, attribute, name)),
        }
    }
    found
}

/// Returns the number of keys that `top` keeps for a group.
fn kept(k: usize) -> usize {
    (k * 32).max(256)
}

fn objects(layout: &QuerySources, groups: usize) -> Vec<Instance> {
    let group = || named("group_t");
    let room = number(groups as u64);
    let mut all = vec![Instance {
        ty: Type::Generic("tally", vec![group()]),
        args: vec![room.clone()],
        name: RECORDS.to_owned(),
        comment: Some("and the bytes of their packets".to_owned()),
    }];
    for (function, attribute, name) in with_objects(layout.query) {
        let item = || layout.sources[attribute].ty.clone();
        let (extern_name, types, args) = match function {
            Function::Distinct(_) => {
                let precision = number(PRECISION);
                let types = vec![group(), item()];
                ("distinct_count", types, vec![room.clone(), precision])
            }
            Function::Top(k, _) => {
                // A number beyond all memory is refused later; it must not wrap to a small one.
                let keys = kept(k).saturating_mul(groups).min(u32::MAX as usize);
                let types = vec![named(format!("{name}_t"))];
                ("top_keys", types, vec![number(keys as u64)])
            }
            Function::Histogram(_) => ("histogram", vec![group()], vec![room.clone()]),
            _ => ("tally", vec![group()], vec![room.clone()]),
        };
        all.push(Instance {
            ty: Type::Generic(extern_name, types),
            args,
            name,
            comment: Some(format!("of {}", layout.query.attributes[attribute].name)),
        });
    }
    all
}

fn adds(layout: &QuerySources) -> Block {
    let group = || name("group");
    let wide = |value: Expr| value.cast(Type::Bits(64));
    let add = |object: &str, args: Vec<Expr>| Stmt::Call(name(object).method("add", args));
    let mut out = Block::new();
    let compared = layout.reader.as_ref().filter(|r| r.compares_groups());
    let bytes = match compared {
        Some(reader) => {
            out.extend(reader.bytes());
            name("bytes")
        }
        None => wide(name("input").member("length")),
    };
    out.push(add(RECORDS, vec![group(), bytes]));
    if let Some(reader) = &layout.reader {
        out.extend(reader.cut());
    }
    for (function, attribute, object) in with_objects(layout.query) {
        let source = &layout.sources[attribute];
        let added = add(
            &object,
            match function {
                Function::Distinct(_) => vec![group(), source.key.clone()],
                Function::Top(..) => {
                    let item = vec![group(), source.key.clone()];
                    vec![Expr::List(item), number(1u8)]
                }
                _ => vec![group(), wide(source.value.clone())],
            },
        );
        out.push(match &source.has {
            Some(has) => when(has.clone(), vec![added]),
            None => added,
        });
    }
    out
}
