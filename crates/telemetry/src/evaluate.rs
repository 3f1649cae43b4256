//! Evaluation of a query on packets, one after the other.

use crate::aggregate::AggregateState;
use crate::catalogue::Source;
use crate::exchange::Exchanges;
use crate::groups::{self, Group, Groups};
use crate::link::Link;
use crate::messages::{Found, Messages, Payload, Position, Reader, Wish};
use crate::packet::Packet;
use crate::query::{Condition, Element, Function, Predicate, Query};
use crate::report::{Counts, Report, Row};
use crate::streams::Streams;
use crate::value::Value;
use crate::{MAX_TEXT, check};
use sketch::HashKey;
use std::borrow::Cow;
use std::time::Duration;

/// Captured packet.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Bytes from the link layer on.
    pub bytes: &'a [u8],
    /// Length on the wire; more than the bytes if the packet was truncated in the capture.
    pub length: u32,
    /// Arrival time, relative to any fixed time. Some captures do not have it.
    pub time: Option<Duration>,
    /// Link layer that the packet begins with.
    pub link: Link,
}

/// Evaluation of a query in this process. Its memory is bounded: see [`explain`](crate::explain()).
pub struct Evaluator<'m> {
    /// Reader of the messages that the query is about.
    reader: Option<Box<dyn Reader + 'm>>,
    /// Streams, for a query whose messages continue in later segments.
    streams: Option<Streams>,
    metrics: Metrics,
}

/// Metrics of a query.
struct Metrics {
    query: Query,
    /// Index among the values of a message, by the query's index of an attribute of messages.
    places: Vec<usize>,
    /// Requests that wait for responses, for a query about response times.
    exchanges: Option<Exchanges>,
    hash_key: HashKey,
    groups: Groups,
    counts: Counts,
    /// Times of the first and the last packet.
    times: Option<(Duration, Duration)>,
}

impl std::fmt::Debug for Evaluator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Metrics { query, counts, .. } = &self.metrics;
        write!(f, "Evaluator({query:?}, {counts:?})")
    }
}

/// Record: a packet, or one of its messages.
struct Record<'p, 'a> {
    packet: &'p Packet<'a>,
    /// Values of the attributes of messages, and further values of attributes that may have several.
    message: &'p [Option<Value<'a>>],
    more: &'p [(usize, Value<'a>)],
    /// Nanoseconds from the request to this response.
    response_time: Option<u64>,
    query: &'p Query,
    places: &'p [usize],
}

impl<'m> Evaluator<'m> {
    /// Returns an evaluation without packets. `groups` is the greatest number of groups, or the default. `hash_key` is
    /// the key of the summaries' hash: a random one if strangers send packets.
    pub fn new(
        query: Query,
        messages: &'m dyn Messages,
        groups: Option<usize>,
        hash_key: HashKey,
    ) -> Evaluator<'m> {
        let (mut names, mut places) = (Vec::new(), Vec::new());
        for attribute in &query.attributes {
            places.push(names.len());
            if attribute.source == Source::Message {
                names.push(Wish {
                    name: attribute.name_in_message(),
                    all: attribute.several,
                });
            }
        }
        let schema = query.kind.and_then(|kind| messages.schema(kind));
        let exchanges = schema.filter(|_| query.is_about_exchanges());
        let exchanges = exchanges.and_then(Exchanges::new);
        let pairing = exchanges.iter().flat_map(Exchanges::attributes);
        names.extend(pairing.map(|name| Wish { name, all: false }));
        let reader = query.kind.map(|kind| messages.reader(kind, &names));
        let streams = schema.filter(|schema| schema.follow);
        let streams = streams.and_then(|_| Streams::new(exchanges.is_some()));
        let most = groups.unwrap_or_else(|| groups::default_groups(&query));
        let mut metrics = Metrics {
            query,
            places,
            exchanges,
            hash_key,
            groups: Groups::new(most),
            counts: Counts::default(),
            times: None,
        };
        if metrics.query.keys.is_empty() {
            // Without keys, a report has a group even before the first record.
            group(&mut metrics.groups, &metrics.query, hash_key, &[]);
        }
        Evaluator {
            reader,
            streams,
            metrics,
        }
    }

    /// Evaluates a packet.
    pub fn packet(&mut self, frame: &Frame) {
        let packet = Packet::new(frame.bytes, frame.length, frame.link);
        self.take(&packet, None, frame.time);
    }

    /// Evaluates bytes that an application received itself, at a time: a datagram, or one read from a stream. Only the
    /// ports, the length (that of the bytes) and the attributes of messages have values. Each call is read
    /// independently of the others.
    pub fn received(&mut self, payload: Payload, time: Duration) {
        self.take(&Packet::received(payload), None, Some(time));
    }

    /// Evaluates bytes read from a stream, whose messages continue in the next read. The application identifies its
    /// streams, in each direction, by its own numbers, and reports the end of a stream by [`Evaluator::ended`].
    pub fn received_of(&mut self, stream: u64, payload: Payload, time: Duration) {
        self.take(&Packet::received(payload), Some(stream), Some(time));
    }

    /// Records the end of a stream: later bytes with its number belong to another one.
    pub fn ended(&mut self, stream: u64) {
        if let Some(streams) = &mut self.streams {
            streams.end(stream);
        }
    }

    fn take(&mut self, packet: &Packet, stream: Option<u64>, time: Option<Duration>) {
        let Evaluator {
            reader,
            streams,
            metrics,
        } = self;
        metrics.counts.packets += 1;
        if let Some(time) = time {
            let (first, last) = metrics.times.unwrap_or((time, time));
            metrics.times = Some((first.min(time), last.max(time)));
        } else {
            metrics.counts.untimed += 1;
        }
        let Some(reader) = reader else {
            metrics.record(packet, time, (&[], &[]), None);
            return;
        };
        if let Some(exchanges) = &mut metrics.exchanges {
            exchanges.opening(packet);
        }
        let Some(payload) = packet.payload() else {
            return;
        };
        let from = (packet, &payload);
        let mut each = |message: Found| metrics.message(from, time, message);
        match streams {
            Some(streams) => {
                streams.read(from, stream, reader.as_mut(), &mut each);
                metrics.counts.streams = streams.counts();
                if let Some(exchanges) = &mut metrics.exchanges {
                    exchanges.settle(packet, &payload);
                    metrics.counts.streams.unfollowed += exchanges.unfollowed();
                }
            }
            None => reader.read(&payload, &mut Position::default(), &mut each),
        }
    }

    /// Returns the numbers of packets and records so far.
    pub fn counts(&self) -> Counts {
        self.metrics.counts
    }

    /// Returns the time from the first to the last packet, in seconds.
    pub fn seconds(&self) -> f64 {
        let times = self.metrics.times;
        times.map_or(0.0, |(first, last)| (last - first).as_secs_f64())
    }

    /// Reports the metrics so far. Rates cover the time since the last report, `seconds` ago.
    pub fn report(&mut self, seconds: f64) -> Report {
        let Metrics {
            query,
            groups,
            counts,
            ..
        } = &mut self.metrics;
        let rows: Vec<Row> = groups
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
        Report::new(query, rows, *counts, seconds)
    }
}

impl Metrics {
    /// Adds a message. In a query about response times, a response with its request is a record; in others, each
    /// message is.
    fn message(&mut self, from: (&Packet, &Payload), time: Option<Duration>, message: Found) {
        let is_malformed = !message.whole && !message.unread && !message.missed;
        self.counts.malformed += u64::from(is_malformed);
        if let Some(exchanges) = &mut self.exchanges {
            let answered = exchanges.take(from, time, message, &mut self.counts);
            if let Some((values, response_time)) = answered {
                self.record(from.0, time, (&values.first, &values.more), response_time);
            }
        } else if message.whole {
            self.record(from.0, time, (message.values, message.more), None);
        }
    }

    /// Adds a record: its packet and arrival time, the values of the attributes of messages, and its response time.
    fn record(
        &mut self,
        packet: &Packet,
        time: Option<Duration>,
        (message, more): (&[Option<Value>], &[(usize, Value)]),
        response_time: Option<u64>,
    ) {
        self.counts.records += 1;
        let query = &self.query;
        let record = Record {
            packet,
            message,
            more,
            response_time,
            query,
            places: &self.places,
        };
        let condition = query.condition.as_ref();
        if !condition.is_none_or(|condition| holds(condition, &record)) {
            return;
        }
        self.counts.matched += 1;
        let keys: Option<Vec<Value>> = query.keys.iter().map(|&key| record.get(key)).collect();
        let Some(mut keys) = keys else {
            self.counts.without_key += 1;
            return;
        };
        self.counts.cut += keys.iter_mut().map(cut).sum::<u64>();
        let (hash_key, number) = (self.hash_key, (self.counts.packets, self.counts.records));
        let (groups, counts) = (&mut self.groups, &mut self.counts);
        let mut is_lost = false;
        let mut add =
            |keys: &[Value], counts: &mut Counts| match group(groups, query, hash_key, keys) {
                Some(group) => group.add(&record, time, number, hash_key, counts),
                None => is_lost = true,
            };
        add(&keys, counts);
        // At most one key has several values.
        let several = query.keys.iter().enumerate();
        let several = several.filter(|(_, key)| query.attributes[**key].several);
        for (at, &key) in several {
            for value in record.others(key) {
                keys[at] = value;
                counts.cut += cut(&mut keys[at]);
                add(&keys, counts);
            }
        }
        self.counts.not_grouped += u64::from(is_lost);
    }
}

impl Group {
    /// Adds a record to the group, once: several values of its keys may lead here. `packet` and `number` are the
    /// numbers of its packet and of the record.
    fn add(
        &mut self,
        record: &Record,
        time: Option<Duration>,
        (packet, number): (u64, u64),
        hash_key: HashKey,
        counts: &mut Counts,
    ) {
        if std::mem::replace(&mut self.record, number) == number {
            return;
        }
        let is_new = std::mem::replace(&mut self.packet, packet) != packet;
        for (state, aggregate) in self.states.iter_mut().zip(&record.query.aggregates) {
            let function = aggregate.function;
            let mut add = |value: Value| state.add(&value, hash_key);
            match function {
                // A record without a time is in no rate.
                Function::Rate(_) if time.is_none() => {}
                Function::Count | Function::Rate(None) => add(Value::Number(1)),
                // A packet's bytes count once in a group, regardless of the number of its messages.
                Function::Bytes if !is_new => {}
                Function::Bytes => add(Value::Number(record.packet.length().into())),
                Function::Sum(x)
                | Function::Min(x)
                | Function::Max(x)
                | Function::Mean(x)
                | Function::Histogram(x)
                | Function::Distinct(x)
                | Function::Rate(Some(x)) => record.all(x).for_each(add),
                Function::Top(_, x) => record.all(x).for_each(|mut value| {
                    counts.cut += cut(&mut value);
                    add(value);
                }),
            }
        }
    }
}

/// Returns the group for these keys.
fn group<'g>(
    groups: &'g mut Groups,
    query: &Query,
    hash_key: HashKey,
    keys: &[Value],
) -> Option<&'g mut Group> {
    let states = || {
        let functions = query.aggregates.iter().map(|a| a.function);
        functions
            .map(|f| AggregateState::new(f, hash_key))
            .collect()
    };
    groups.get(keys, states)
}

impl Record<'_, '_> {
    /// Returns the value of the query's attribute of this index.
    fn get(&self, index: usize) -> Option<Value<'_>> {
        match self.query.attributes[index].source {
            Source::Packet(field) => self.packet.field(field),
            Source::Message => Some(self.message.get(self.places[index])?.as_ref()?.borrowed()),
            Source::ResponseTime => self.response_time.map(Value::Number),
        }
    }

    /// Returns further values, if the attribute may have several.
    fn others(&self, index: usize) -> impl Iterator<Item = Value<'_>> {
        let place = self.places[index];
        let is_several = self.query.attributes[index].several;
        let others = self
            .more
            .iter()
            .filter(move |(of, _)| is_several && *of == place);
        others.map(|(_, value)| value.borrowed())
    }

    /// Returns all values of an attribute.
    fn all(&self, index: usize) -> impl Iterator<Item = Value<'_>> {
        self.get(index).into_iter().chain(self.others(index))
    }
}

/// Cuts a text to the greatest length that is kept. Returns 1 if it was longer.
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

fn holds(condition: &Condition, record: &Record) -> bool {
    match condition {
        Condition::All(parts) => parts.iter().all(|part| holds(part, record)),
        Condition::Any(parts) => parts.iter().any(|part| holds(part, record)),
        Condition::Not(inside) => !holds(inside, record),
        Condition::Test(attribute, predicate) => record
            .all(*attribute)
            .any(|value| is_true(predicate, &value)),
    }
}

fn is_true(predicate: &Predicate, value: &Value) -> bool {
    match (predicate, value) {
        (Predicate::Number(operator, right), Value::Number(left)) => operator.holds(*left, *right),
        (Predicate::In(elements), value) => elements.iter().any(|element| fits(element, value)),
        (Predicate::Not(element), value) => !fits(element, value),
        (Predicate::StartsWith(begin), Value::Text(text)) => text.starts_with(begin),
        (Predicate::Matches(pattern), Value::Text(text)) => pattern.is_in(text),
        // The check admits only texts here.
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
