//! A query as a P4 program for `tap_model`, which keeps its figures on the path.
//!
//! The program reads the packet's headers as [`Evaluator`](crate::Evaluator) does (`packet.p4h`), and adds what a record has to the
//! externs of `telemetry.p4`: those that have one group each for what `by` names. It changes no packet.

mod attribute;
mod bodiless;
mod condition;
mod exchange;
mod field;
mod message;
mod reading;
mod stores;
mod stream;

use crate::aggregate::{self, PRECISION};
use crate::errors::program as errors;
use crate::groups;
use crate::messages::Messages;
use crate::query::{Function, Query};
use diag::Diagnostic;
use field::{Layout, Source, source};
use sketch::Tally;
use std::fmt::Write;

pub use reading::{Kept, Reading};
pub use stores::Stores;

/// The counters of what became of the packets.
const PACKETS: &str = "packets";
/// The object with each group's records.
const RECORDS: &str = "records";

/// The part of every program that reads headers.
const PACKET: &str = include_str!("packet.p4h");

/// The P4 program of a query, whose text it has as a comment. There is room for so many groups.
///
/// # Errors
/// No program reads what the query asks for.
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
    let layout = Layout {
        query,
        sources,
        reader,
    };
    let mut out = String::from("// SPDX-License-Identifier: Apache-2.0\n//\n");
    for line in text.lines() {
        let _ = writeln!(out, "// {}", line.trim_end());
    }
    out += "\n#include <core.p4>\n#include <tap_model.p4>\n";
    if layout.reader.is_some() {
        out += "#include <payload.p4>\n";
    }
    let follows = layout.reader.as_ref().is_some_and(message::Reader::follows);
    if query.is_about_exchanges() || follows {
        out += "#include <flow_state.p4>\n";
    }
    out += "\n";
    out += PACKET;
    layout.types(&mut out);
    out += "\ncontrol watch(in headers_t hdr, in tap_input input) {\n";
    out += "    // 0: read, 1: for which the condition holds, 2: of these, without a key";
    if layout.reader.is_some() {
        out += "; 3: messages, 4: malformed, 5: texts that were cut, 6: not read";
    }
    if query.is_about_exchanges() {
        out += "\n    // 7: requests, 8: of these, with a response, 9: responses without a request";
    }
    if follows {
        out += "\n    // 10: segments behind a gap, 11: that came before; 12: messages with no known end, 13: cut by a segment's end, 14: of these, ended";
    }
    let counters = match (query.is_about_exchanges(), follows) {
        (_, true) => 15,
        (true, false) => 10,
        (false, false) => 7,
    };
    let _ = writeln!(out, "\n    CounterArray({counters}, false) packets;");
    objects(&layout, groups, &mut out);
    if let Some(reader) = &layout.reader {
        reader.object(&mut out);
    }
    out += "\n    apply {\n";
    layout.locals(&mut out);
    out += "        packets.increment(0);\n";
    match &layout.reader {
        Some(reader) => {
            let no_group = layout.no_group();
            reader.around(&mut out, &no_group, |out| record(&layout, out));
        }
        None => record(&layout, &mut out),
    }
    out += "    }\n}\n\ntap(prs(), watch()) main;\n";
    Ok(out)
}

/// What becomes of a record.
fn record(layout: &Layout, out: &mut String) {
    let holds = layout.query.condition.as_ref();
    let holds = holds.map_or("true".into(), |condition| {
        condition::text(condition, layout)
    });
    let _ = writeln!(
        out,
        "        if ({holds}) {{\n            packets.increment(1);"
    );
    let _ = writeln!(out, "            if ({}) {{", layout.has_keys());
    let _ = writeln!(out, "                group_t group = {};", layout.group());
    adds(layout, out);
    *out +=
        "            } else {\n                packets.increment(2);\n            }\n        }\n";
}

/// How many groups there is room for on the path where nothing else is asked for: each of so many processors has figures of its
/// own. Without `by` there is one.
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

/// The objects, by name, that a query's programs at several hooks have in common: figures by group, and what is known of connections.
pub fn objects_of(query: &Query, messages: &dyn Messages) -> Vec<String> {
    let own = with_objects(query).into_iter().map(|(.., name)| name);
    let exchange = query.kind.and_then(|kind| messages.exchange(kind));
    let exchange = exchange.filter(|_| query.is_about_exchanges());
    let states = exchange.map_or(&[][..], exchange::states);
    let states = states.iter().map(|&name| name.to_owned());
    let records = std::iter::once(RECORDS.to_owned());
    records.chain(own).chain(states).collect()
}

/// The object in which an aggregate's figures are, if not in `records`, which counts the records of a group and the bytes of their
/// packets.
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

/// The functions whose figures are in objects of their own, each object once.
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
            // The object has room for the one that wants most.
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

/// Keys that a `top` of so many keeps for a group.
fn kept(k: usize) -> usize {
    (k * 32).max(256)
}

fn objects(layout: &Layout, groups: usize, out: &mut String) {
    let _ = writeln!(
        out,
        "    tally<group_t>({groups}) records;   // and the bytes of their packets"
    );
    for (function, attribute, name) in with_objects(layout.query) {
        let ty = &layout.sources[attribute].ty;
        let object = match function {
            Function::Distinct(_) => {
                format!("distinct_count<group_t, {ty}>({groups}, {PRECISION})")
            }
            Function::Top(k, _) => {
                // More than memory holds is refused as such, and must not become a small number.
                let keys = kept(k).saturating_mul(groups).min(u32::MAX as usize);
                format!("top_keys<{name}_t>({keys})")
            }
            Function::Histogram(_) => format!("histogram<group_t>({groups})"),
            _ => format!("tally<group_t>({groups})"),
        };
        let name_of = &layout.query.attributes[attribute].name;
        let _ = writeln!(out, "    {object} {name};   // of {name_of}");
    }
}

fn adds(layout: &Layout, out: &mut String) {
    let pad = "                ";
    let compared = layout.reader.as_ref().filter(|r| r.compares_groups());
    match compared {
        Some(reader) => {
            reader.bytes(out);
            let _ = writeln!(out, "{pad}records.add(group, bytes);");
        }
        None => {
            let _ = writeln!(out, "{pad}records.add(group, (bit<64>)input.length);");
        }
    }
    if let Some(reader) = &layout.reader {
        reader.cut(out);
    }
    for (function, attribute, name) in with_objects(layout.query) {
        let source = &layout.sources[attribute];
        let added = match function {
            Function::Distinct(_) => format!("group, {}", source.key),
            Function::Top(..) => format!("{{ group, {} }}, 1", source.key),
            _ => format!("group, (bit<64>){}", source.value),
        };
        let add = format!("{name}.add({added});");
        let _ = match source.has.as_str() {
            "true" => writeln!(out, "{pad}{add}"),
            has => writeln!(out, "{pad}if ({has}) {{ {add} }}"),
        };
    }
}
