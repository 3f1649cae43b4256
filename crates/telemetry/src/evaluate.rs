//! A query on packets, one after the other.

use crate::aggregate::State;
use crate::catalogue::Source;
use crate::exchange::{Exchanges, Message};
use crate::groups::{self, Group, Groups};
use crate::messages::{Found, Messages, Payload};
pub use crate::packet::Link;
use crate::packet::Packet;
use crate::query::{Condition, Element, Function, Predicate, Query};
use crate::report::{Counts, Report, Row};
use crate::value::Value;
use crate::{MAX_TEXT, check};
use std::borrow::Cow;
use std::time::Duration;

/// A packet as it was captured.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The bytes, from the link layer on.
    pub bytes: &'a [u8],
    /// Its length on the wire; more than the bytes if it was captured in part.
    pub length: u32,
    /// When it came, since any fixed time.
    pub time: Duration,
    /// With what it begins.
    pub link: Link,
}

/// Runs a query in this process. Its memory is bounded: see [`explain`](crate::explain()).
pub struct Evaluator<'m> {
    query: Query,
    messages: &'m dyn Messages,
    /// Indices of the query's attributes that messages have, and their names there.
    of_messages: Vec<(usize, String)>,
    /// Of a query about response times.
    exchanges: Option<Exchanges>,
    seed: u64,
    groups: Groups,
    counts: Counts,
    /// The times of the first and the last packet.
    times: Option<(Duration, Duration)>,
}

impl std::fmt::Debug for Evaluator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Evaluator({:?}, {:?})", self.query, self.counts)
    }
}

/// A record: a packet, or one of its messages.
struct Record<'p, 'a> {
    packet: &'p Packet<'a>,
    /// The values of the attributes of messages, by the query's index of the attribute.
    message: &'p [Option<Value<'a>>],
}

impl<'m> Evaluator<'m> {
    /// Without packets yet. There is room for so many groups, or as many as the default is; the seed is that of the hash of
    /// summaries, which should be random.
    pub fn new(
        query: Query,
        messages: &'m dyn Messages,
        groups: Option<usize>,
        seed: u64,
    ) -> Evaluator<'m> {
        let attributes = query.attributes.iter().enumerate();
        let of_messages = attributes
            .filter(|(_, a)| a.source == Source::Message)
            .map(|(index, a)| (index, a.name_in_message().to_string()))
            .collect();
        let schema = query.kind.and_then(|kind| messages.schema(kind));
        let exchanges = schema.filter(|_| query.is_about_exchanges());
        let exchanges = exchanges.and_then(Exchanges::new);
        let most = groups.unwrap_or_else(|| groups::default_groups(&query));
        let mut evaluator = Evaluator {
            query,
            messages,
            of_messages,
            exchanges,
            seed,
            groups: Groups::new(most),
            counts: Counts::default(),
            times: None,
        };
        if evaluator.query.keys.is_empty() {
            // Nothing is counted as nothing.
            evaluator.group(&[]);
        }
        evaluator
    }

    /// Takes a packet.
    pub fn packet(&mut self, frame: &Frame) {
        let packet = Packet::new(frame.bytes, frame.length, frame.link);
        self.take(&packet, frame.time);
    }

    /// Takes what an application received itself, and when: a datagram, or what one call read of a stream. Without headers, only the
    /// ports and the length, which is that of the bytes, have values besides the attributes of messages.
    pub fn received(&mut self, payload: Payload, time: Duration) {
        self.take(&Packet::received(payload), time);
    }

    fn take(&mut self, packet: &Packet, time: Duration) {
        self.counts.packets += 1;
        let (first, last) = self.times.unwrap_or((time, time));
        self.times = Some((first.min(time), last.max(time)));
        let Some(kind) = self.query.kind else {
            self.record(packet, &[]);
            return;
        };
        if let Some(exchanges) = &mut self.exchanges {
            exchanges.opening(packet);
        }
        let Some(payload) = packet.payload() else {
            return;
        };
        let wanted = self.of_messages.iter().map(|(_, name)| name.as_str());
        let of_exchanges = self.exchanges.iter().flat_map(Exchanges::attributes);
        let wanted: Vec<&str> = wanted.chain(of_exchanges).collect();
        let found = self.messages.read(kind, &wanted, payload);
        self.counts.malformed += u64::from(found.malformed);
        if self.exchanges.is_some() {
            self.exchanges(packet, &payload, found, time);
            return;
        }
        for values in found.messages {
            self.message(packet, values, None);
        }
    }

    /// Takes the messages of a packet of a query about response times: each response with its request is a record.
    fn exchanges(&mut self, packet: &Packet, payload: &Payload, found: Found, time: Duration) {
        let message = |whole| {
            move |(values, start)| Message {
                values,
                start,
                whole,
            }
        };
        let whole = found.messages.into_iter().zip(found.starts);
        let part = found.part.into_iter().map(message(false));
        for message in whole.map(message(true)).chain(part) {
            let Some(exchanges) = &mut self.exchanges else {
                return;
            };
            let answered = exchanges.take((packet, payload), time, message, &mut self.counts);
            if let Some((values, time)) = answered {
                self.message(packet, values, Some(time));
            }
        }
    }

    /// Takes a message: the values of those attributes that are of messages, and how long its response took.
    fn message(&mut self, packet: &Packet, values: Vec<Option<Value>>, response_time: Option<u64>) {
        let attributes = self.query.attributes.iter();
        let mut message: Vec<Option<Value>> = attributes
            .map(|attribute| match attribute.source {
                Source::ResponseTime => response_time.map(Value::Number),
                Source::Packet(_) | Source::Message => None,
            })
            .collect();
        for ((index, _), value) in self.of_messages.iter().zip(values) {
            message[*index] = value;
        }
        self.record(packet, &message);
    }

    /// Takes a record.
    fn record(&mut self, packet: &Packet, message: &[Option<Value>]) {
        self.counts.records += 1;
        let record = Record { packet, message };
        let condition = self.query.condition.as_ref();
        if !condition.is_none_or(|condition| holds(condition, &record, &self.query)) {
            return;
        }
        self.counts.matched += 1;
        let values = self
            .query
            .keys
            .iter()
            .map(|&key| record.get(key, &self.query));
        let Some(mut keys) = values.collect::<Option<Vec<Value>>>() else {
            self.counts.without_key += 1;
            return;
        };
        let mut long = 0;
        keys.iter_mut().for_each(|key| long += cut(key));
        let mut value = |function| match function {
            Function::Count | Function::Rate(None) => Some(Value::Number(1)),
            Function::Bytes => Some(Value::Number(packet.length().into())),
            Function::Sum(x)
            | Function::Min(x)
            | Function::Max(x)
            | Function::Mean(x)
            | Function::Histogram(x)
            | Function::Distinct(x)
            | Function::Rate(Some(x)) => record.get(x, &self.query),
            Function::Top(_, x) => record.get(x, &self.query).map(|mut value| {
                long += cut(&mut value);
                value
            }),
        };
        let functions = self.query.aggregates.iter().map(|a| a.function);
        let values: Vec<(Function, Option<Value>)> = functions
            .map(|function| (function, value(function)))
            .collect();
        self.counts.cut += long;
        let (seed, number) = (self.seed, self.counts.packets);
        let Some(group) = self.group(&keys) else {
            self.counts.not_grouped += 1;
            return;
        };
        let is_new = std::mem::replace(&mut group.packet, number) != number;
        for (state, (function, value)) in group.states.iter_mut().zip(values) {
            match value {
                // A group has the bytes of a packet once, however many of its messages belong there.
                Some(_) if function == Function::Bytes && !is_new => {}
                Some(value) => state.add(&value, seed),
                None => {}
            }
        }
    }

    fn group(&mut self, keys: &[Value]) -> Option<&mut Group> {
        let (query, seed) = (&self.query, self.seed);
        let states = || {
            let functions = query.aggregates.iter().map(|a| a.function);
            functions.map(|f| State::new(f, seed)).collect()
        };
        self.groups.get(keys, states)
    }

    /// What became of the packets so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The time from the first to the last packet, in seconds.
    pub fn seconds(&self) -> f64 {
        self.times
            .map_or(0.0, |(first, last)| (last - first).as_secs_f64())
    }

    /// The figures so far. Rates are about what came since the last report, `seconds` ago.
    pub fn report(&mut self, seconds: f64) -> Report {
        let query = &self.query;
        let rows: Vec<Row> = self
            .groups
            .iter_mut()
            .map(|group| Row {
                keys: group.keys.to_vec(),
                cells: query
                    .aggregates
                    .iter()
                    .zip(&mut group.states)
                    .map(|(a, state)| state.cell(a.function, query, seconds))
                    .collect(),
            })
            .collect();
        Report::new(query, rows, self.counts, seconds)
    }
}

impl<'a> Record<'_, 'a> {
    /// The value of the query's attribute of this index.
    fn get(&self, index: usize, query: &Query) -> Option<Value<'a>> {
        match query.attributes[index].source {
            Source::Packet(field) => self.packet.field(field),
            Source::Message | Source::ResponseTime => self.message.get(index)?.clone(),
        }
    }
}

/// Cuts a text to the length that is kept: 1 if it was longer.
fn cut(value: &mut Value) -> u64 {
    match value {
        Value::Text(text) if text.len() > MAX_TEXT => {
            match text {
                Cow::Borrowed(bytes) => *bytes = &bytes[..MAX_TEXT],
                Cow::Owned(bytes) => bytes.truncate(MAX_TEXT),
            }
            1
        }
        _ => 0,
    }
}

fn holds(condition: &Condition, record: &Record, query: &Query) -> bool {
    match condition {
        Condition::All(parts) => parts.iter().all(|part| holds(part, record, query)),
        Condition::Any(parts) => parts.iter().any(|part| holds(part, record, query)),
        Condition::Not(inside) => !holds(inside, record, query),
        Condition::Test(attribute, predicate) => record
            .get(*attribute, query)
            .is_some_and(|value| is_true(predicate, &value)),
    }
}

fn is_true(predicate: &Predicate, value: &Value) -> bool {
    match (predicate, value) {
        (Predicate::Number(operator, right), Value::Number(left)) => operator.holds(*left, *right),
        (Predicate::In(elements), value) => elements.iter().any(|element| fits(element, value)),
        (Predicate::Not(element), value) => !fits(element, value),
        (Predicate::StartsWith(begin), Value::Text(text)) => text.starts_with(begin),
        (Predicate::Matches(pattern), Value::Text(text)) => pattern.is_in(text),
        // The check lets only texts go where texts are needed.
        _ => false,
    }
}

fn fits(element: &Element, value: &Value) -> bool {
    match (element, value) {
        (Element::Number(right), Value::Number(left)) => left == right,
        (Element::Text(right), Value::Text(left)) => left.as_ref() == right.as_slice(),
        (Element::Mac(right), Value::Mac(left)) => left == right,
        (Element::Prefix(prefix, bits), Value::Address(address)) => {
            address.is_ipv4() == prefix.is_ipv4() && check::masked(*address, *bits) == *prefix
        }
        _ => false,
    }
}
