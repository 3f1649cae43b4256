//! Reports from the metrics of a query's running program.

use super::attribute::kept_of_texts;
use super::counted::{COUNTS, Count};
use super::{RECORDS, object};
use crate::aggregate::{Cell, DETAIL, PRECISION};
use crate::catalogue::Type;
use crate::query::{Function, Query};
use crate::report::{Counts, Report, Row};
use crate::streams::Followed;
use crate::value::{FiveTuple, Value};
use control::{Group, Groups, Metric};
use schema::Bits;
use sketch::{Histogram, HyperLogLog, Tally};
use std::borrow::Cow;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Reader of the metrics of the program that [`program`](super::program()) generates.
#[derive(Clone, Debug)]
pub struct Reading {
    query: Query,
    /// Totals at the last report, by group and by aggregate; rates count from there.
    reported: HashMap<Vec<Bits>, Vec<u64>>,
}

/// State of a running program.
pub trait Kept {
    /// Error in reading it.
    type Error;

    /// Reads the metrics of an object, by its name.
    fn groups(&mut self, object: &str) -> Result<Groups, Self::Error>;

    /// Reads the counters of an object, by its name. Returns the indices and values of those that are not zero.
    fn counters(&mut self, object: &str) -> Result<Vec<(u64, u64)>, Self::Error>;
}

/// All state that goes into a report, by object.
struct Looked {
    records: Vec<Group>,
    /// Metrics of aggregates with their own objects, by the object's name.
    objects: HashMap<String, Object>,
}

/// Metrics of an object, by group.
struct Object {
    groups: HashMap<Vec<Bits>, Vec<Group>>,
    unseen: u64,
}

impl Reading {
    /// Returns a reader before the first report.
    pub fn new(query: Query) -> Reading {
        Reading {
            query,
            reported: HashMap::new(),
        }
    }

    /// Reports the metrics so far. Rates cover the time since the last report, `seconds` ago.
    ///
    /// # Errors
    /// The program's state cannot be read.
    pub fn report<K: Kept>(&mut self, kept: &mut K, seconds: f64) -> Result<Report, K::Error> {
        let counted = kept.counters(COUNTS)?;
        // The records are read first: then other objects have at least as much of a group as its records.
        let records = kept.groups(RECORDS)?;
        let mut objects = HashMap::new();
        for aggregate in &self.query.aggregates {
            let name = object(aggregate.function, &self.query);
            if let Some(name) = name.filter(|name| !objects.contains_key(name)) {
                let groups = kept.groups(&name)?;
                objects.insert(name, by_group(groups, scalars_of_keys(&self.query)));
            }
        }
        let counts = counts(&counted, self.query.kind.is_some(), records.lost);
        let mut kept = Looked {
            records: records.groups,
            objects,
        };
        if self.query.keys.is_empty() && kept.records.is_empty() {
            // Without keys, a report has a group even before the first record.
            kept.records.push(Group {
                key: vec![Bits::new(1, 0u32)],
                metric: Metric::Tally(Tally::default()),
            });
        }
        let mut rows: Vec<Row> = Vec::with_capacity(kept.records.len());
        for group in &kept.records {
            rows.push(self.row(group, &kept, seconds));
        }
        let mut report = Report::new(&self.query, rows, counts, seconds);
        // Limit of the texts among keys or items. If they did not fit, no program was generated.
        report.text = kept_of_texts(&self.query).unwrap_or(report.text);
        Ok(report)
    }

    fn row(&mut self, group: &Group, kept: &Looked, seconds: f64) -> Row {
        let query = &self.query;
        let before = self.reported.entry(group.key.clone()).or_default();
        before.resize(query.aggregates.len(), 0);
        let cells = query.aggregates.iter().zip(before);
        let cells = cells.map(|(aggregate, before)| {
            let function = aggregate.function;
            let own = object(function, query).and_then(|name| kept.objects.get(&name));
            let metrics = own.and_then(|object| object.groups.get(&group.key));
            let metrics = match object(function, query) {
                None => std::slice::from_ref(group),
                Some(_) => metrics.map_or(&[][..], Vec::as_slice),
            };
            let unseen = own.map_or(0, |object| object.unseen);
            cell(function, query, metrics, unseen, (seconds, before))
        });
        let cells = cells.collect();
        let mut bits = group.key.as_slice();
        let keys = query.keys.iter();
        let keys = keys.filter_map(|&key| value(query.attributes[key].ty, &mut bits));
        Row {
            keys: keys.collect(),
            cells,
        }
    }
}

/// Returns the number of scalars in the key of a group.
fn scalars_of_keys(query: &Query) -> usize {
    let keys = query.keys.iter();
    let scalars: usize = keys.map(|&key| scalars(query.attributes[key].ty)).sum();
    // Without keys, there is a constant one.
    scalars.max(1)
}

/// Returns the number of scalars in a value of a type.
fn scalars(ty: Type) -> usize {
    match ty {
        Type::Flow => 5,
        // The bytes, and their number.
        Type::Text => 2,
        _ => 1,
    }
}

/// Groups metrics by the first scalars of their keys, which identify the group. Those of `top` have an item after them.
fn by_group(all: Groups, scalars: usize) -> Object {
    let mut groups: HashMap<Vec<Bits>, Vec<Group>> = HashMap::new();
    for group in all.groups {
        let (of, item) = group.key.split_at(scalars.min(group.key.len()));
        let item = Group {
            key: item.to_vec(),
            metric: group.metric,
        };
        groups.entry(of.to_vec()).or_default().push(item);
    }
    Object {
        groups,
        unseen: all.unseen,
    }
}

fn counts(counted: &[(u64, u64)], of_messages: bool, lost: u64) -> Counts {
    let count = |counter: Count| {
        let mut all = counted.iter();
        let found = all.find(|(known, _)| *known == counter as u64);
        found.map_or(0, |(_, count)| *count)
    };
    let packets = count(Count::Read);
    Counts {
        packets,
        untimed: 0,
        records: match of_messages {
            true => count(Count::Message),
            false => packets,
        },
        matched: count(Count::Matched),
        without_key: count(Count::WithoutKey),
        not_grouped: lost,
        malformed: count(Count::Malformed),
        cut: count(Count::Cut),
        unread: count(Count::Unread),
        unanswered: count(Count::Request).saturating_sub(count(Count::Answered)),
        unmatched: count(Count::Unmatched),
        streams: Followed {
            gaps: count(Count::Gap),
            sent_again: count(Count::Again),
            unfollowed: count(Count::Unfollowed),
            unfinished: count(Count::Begun).saturating_sub(count(Count::Ended)),
        },
    }
}

fn tally(group: Option<&Group>) -> Tally {
    match group.map(|group| &group.metric) {
        Some(Metric::Tally(tally)) => *tally,
        _ => Tally::default(),
    }
}

/// Computes an aggregate's value for a group from `metrics`, the group's entries in the aggregate's object. `rates` has
/// the seconds since the last report, and the total at that report.
fn cell(
    function: Function,
    query: &Query,
    metrics: &[Group],
    unseen: u64,
    rates: (f64, &mut u64),
) -> Cell {
    let first = metrics.first();
    let kept = tally(first);
    let if_any = |number: u64| match kept.count {
        0 => Cell::Nothing,
        _ => Cell::Number(number),
    };
    match function {
        Function::Count => Cell::Number(kept.count),
        Function::Bytes | Function::Sum(_) => Cell::Number(kept.sum),
        Function::Min(_) => if_any(kept.least),
        Function::Max(_) => if_any(kept.greatest),
        Function::Mean(_) => kept.mean().map_or(Cell::Nothing, Cell::Real),
        Function::Rate(of) => {
            let total = of.map_or(kept.count, |_| kept.sum);
            let (seconds, reported) = rates;
            let new = total.saturating_sub(std::mem::replace(reported, total));
            match seconds > 0.0 {
                true => Cell::Real(new as f64 / seconds),
                false => Cell::Nothing,
            }
        }
        Function::Distinct(_) => match (
            first.map(|group| &group.metric),
            HyperLogLog::new(PRECISION),
        ) {
            (Some(Metric::Distinct(seen)), _) => {
                Cell::Estimate(seen.estimate(), seen.standard_error())
            }
            (_, Ok(none)) => Cell::Estimate(0.0, none.standard_error()),
            (_, Err(_)) => Cell::Nothing,
        },
        Function::Histogram(_) => {
            let none = Histogram::new(DETAIL);
            match (first.map(|group| &group.metric), none) {
                (Some(Metric::Histogram(values)), _) => {
                    Cell::Histogram(values.clone(), values.relative_error())
                }
                (_, Ok(none)) => {
                    let error = none.relative_error();
                    Cell::Histogram(none, error)
                }
                (_, Err(_)) => Cell::Nothing,
            }
        }
        Function::Top(k, _) => {
            let ty = function.attribute().map(|x| query.attributes[x].ty);
            let item = |group: &Group| {
                let Metric::Top { weight, error } = group.metric else {
                    return None;
                };
                Some((value(ty?, &mut group.key.as_slice())?, weight, error))
            };
            let mut items: Vec<_> = metrics.iter().filter_map(item).collect();
            items.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            items.truncate(k);
            Cell::Top { items, unseen }
        }
    }
}

/// Takes the first scalars, and decodes them as a value of a type.
fn value(ty: Type, bits: &mut &[Bits]) -> Option<Value<'static>> {
    let (own, rest) = bits.split_at_checked(scalars(ty))?;
    *bits = rest;
    let number = |at: usize| {
        own.get(at)
            .and_then(|bits| u128::try_from(bits.value()).ok())
    };
    let address = |at: usize| Some(IpAddr::V6(Ipv6Addr::from(number(at)?)).to_canonical());
    Some(match ty {
        Type::Number(_) | Type::Time => Value::Number(number(0)? as u64),
        Type::Ipv4 => Value::Address(Ipv4Addr::from(number(0)? as u32).into()),
        Type::Ipv6 => Value::Address(Ipv6Addr::from(number(0)?).into()),
        Type::Address => Value::Address(address(0)?),
        Type::Mac => {
            let [_, _, bytes @ ..] = (number(0)? as u64).to_be_bytes();
            Value::Mac(bytes)
        }
        Type::Flow => Value::Flow(FiveTuple {
            source: address(0)?,
            destination: address(1)?,
            protocol: number(2)? as u8,
            source_port: number(3)? as u16,
            destination_port: number(4)? as u16,
        }),
        Type::Text => {
            let bits = own.first()?;
            let bytes = bits.to_bytes();
            let length = (number(1)? as usize).min(bytes.len());
            Value::Text(Cow::Owned(bytes[..length].to_vec()))
        }
    })
}
