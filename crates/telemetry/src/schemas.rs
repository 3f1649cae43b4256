//! Messages described by schemas, read by the reference reader of crate `payload`.

use crate::behind::{Behind, NO_END, Signs, is_cut};
use crate::catalogue::Type;
use crate::messages::{
    Found, MOST_KEPT, Messages, NoMessages, Payload, Position, Reader, Transport, Wish,
};
use crate::value::Value;
use payload::{AttributeKind, Exchange, Schema, Site, Taken, Traits, Wanted, chunks, plan};
use std::borrow::Cow;

/// Several schemas, each of which is a kind of message.
#[derive(Clone, Debug)]
pub struct Schemas {
    names: Vec<String>,
    schemas: Vec<Schema>,
    /// Attributes with a fixed name, by kind.
    attributes: Vec<Vec<(String, Type)>>,
}

impl Schemas {
    /// Returns the kinds of these schemas.
    pub fn new(schemas: Vec<Schema>) -> Schemas {
        let listed = |schema: &Schema| {
            let names = schema.names().into_iter();
            let fixed = names.filter(|name| !name.ends_with('*'));
            let typed = fixed.filter_map(|name| Some((name.to_owned(), ty(schema, name)?)));
            typed.collect()
        };
        Schemas {
            names: schemas.iter().map(|schema| schema.name.clone()).collect(),
            attributes: schemas.iter().map(listed).collect(),
            schemas,
        }
    }

    /// Returns the built-in kinds.
    pub fn builtin() -> Schemas {
        // Tests load each of them.
        let schemas = payload::builtin::ALL.iter();
        Schemas::new(schemas.filter_map(|b| b.schema().ok()).collect())
    }
}

impl Messages for Schemas {
    fn kinds(&self) -> &[String] {
        &self.names
    }

    fn attributes(&self, kind: usize) -> &[(String, Type)] {
        self.attributes.get(kind).map_or(&[], Vec::as_slice)
    }

    fn attribute(&self, kind: usize, name: &str) -> Option<Type> {
        ty(self.schemas.get(kind)?, name)
    }

    fn several(&self, kind: usize, name: &str) -> bool {
        let asked = self.schemas.get(kind).map(|schema| schema.asked(name));
        asked.is_some_and(|asked| asked.is_ok_and(|asked| asked.traits.several))
    }

    fn technique(&self, kind: usize, name: &str) -> Option<String> {
        let (target, question) = (plan::Platform::Xdp, plan::Question::default());
        let plan = plan::plan(self.schemas.get(kind)?, name, target, question)?;
        let technique = plan.technique.name();
        Some(match (plan.fits(), plan.cost_ns) {
            (false, _) => format!("{technique}, which does not fit"),
            (true, None) => technique.to_string(),
            (true, Some(cost)) => format!("{technique}, about {cost:.0} ns a packet"),
        })
    }

    fn schema(&self, kind: usize) -> Option<&Schema> {
        self.schemas.get(kind)
    }

    fn reader(&self, kind: usize, wanted: &[Wish]) -> Box<dyn Reader + '_> {
        match self.schemas.get(kind) {
            Some(schema) => Box::new(ByWanted::new(schema, wanted)),
            None => Box::new(NoMessages),
        }
    }
}

/// Reader of a schema's messages.
struct ByWanted<'s> {
    /// Wanted attributes, followed by those that locate the next message.
    wanted: Wanted<'s>,
    /// Attributes that locate the next message, if messages follow one another.
    signs: Option<Signs<'s>>,
    /// Types of the wanted attributes; `None` for a name that does not resolve.
    types: Vec<Option<Type>>,
    /// Noise values of each wanted attribute.
    noise: Vec<Vec<u64>>,
    /// True for each wanted attribute of which every value counts.
    several: Vec<bool>,
    /// Indices of the attributes that identify a message's side of an exchange; empty if ports do.
    sides: Vec<usize>,
    /// Buffer for the values of a message.
    values: Vec<Option<Value<'static>>>,
}

impl<'s> ByWanted<'s> {
    fn new(schema: &'s Schema, wanted: &[Wish]) -> ByWanted<'s> {
        let mut names: Vec<&str> = wanted.iter().map(|wish| wish.name).collect();
        let asked = names.iter().map(|name| schema.asked(name).ok());
        let traits: Vec<Traits> = asked
            .map(|asked| asked.map_or_else(Traits::default, |asked| asked.traits))
            .collect();
        // The first value that is not noise is known only after all were read.
        let reads_all = |(wish, traits): (&Wish, &Traits)| wish.all || !traits.noise.is_empty();
        let all = wanted.iter().zip(&traits).map(reads_all);
        let all: Vec<usize> = (0..)
            .zip(all)
            .filter_map(|(n, all)| all.then_some(n))
            .collect();
        let exchange = schema.exchange.as_ref();
        let sides = exchange.into_iter().flat_map(Exchange::sides);
        let place = |side: &str| names.iter().position(|name| *name == side);
        let sides = sides.filter_map(place).collect();
        let signs = schema.next.as_ref().map(|next| Signs::new(next, exchange));
        names.extend(signs.iter().flat_map(Signs::names));
        ByWanted {
            wanted: Wanted::new(schema, &names).with_all_of(all),
            signs,
            types: wanted.iter().map(|wish| ty(schema, wish.name)).collect(),
            noise: traits.into_iter().map(|traits| traits.noise).collect(),
            several: wanted.iter().map(|wish| wish.all).collect(),
            sides,
            values: Vec::new(),
        }
    }
}

impl Reader for ByWanted<'_> {
    fn follows(&self, payload: &Payload) -> bool {
        let schema = self.wanted.schema();
        schema.follow && carries(schema, payload)
    }

    fn several(&self) -> bool {
        self.wanted.schema().next.is_some()
    }

    fn read(&mut self, payload: &Payload, place: &mut Position, each: &mut dyn FnMut(Found)) {
        let schema = self.wanted.schema();
        if !carries(schema, payload) {
            return;
        }
        let bytes = payload.bytes;
        let length = (bytes.len() + place.cut) as i64;
        while place.at < bytes.len().min(place.until) {
            let rest = &bytes[place.at..];
            let kept = std::mem::take(&mut place.kept);
            let message: Cow<[u8]> = match kept.is_empty() {
                true => rest.into(),
                false => [kept.as_slice(), rest].concat().into(),
            };
            if !schema.recognises(&message) {
                let is_known = std::mem::take(&mut place.known);
                if schema.may_begin(&message) && !place.is_last() {
                    if message.len() > MOST_KEPT {
                        place.miss(is_known, each);
                        return;
                    }
                    place.keep(&message);
                    // Where no message was expected, other bytes are not a loss.
                    place.known = is_known;
                    return;
                }
                place.miss(is_known, each);
                if kept.is_empty() {
                    return;
                }
                // The preserved bytes are not a message, but one may begin here.
                continue;
            }
            place.seen = true;
            let start = place.at as i64 - kept.len() as i64;
            let Some(found) = self.message(&message, start, place, each) else {
                return;
            };
            place.known = true;
            if found.end == NO_END {
                (place.skip, place.begun) = (NO_END, false);
                return;
            }
            if found.end >= chunks::BEGIN {
                place.go_on_in_chunks(found.end, place.cut);
                place.begun &= start + (found.body as i64) < length;
                return;
            }
            let (body, end) = (start + found.body as i64, start + found.end as i64);
            place.begun = end > length && body < length;
            if end > length {
                place.skip = (end - length) as u64;
                return;
            }
            place.at = end as usize;
        }
        // A message may have begun in bytes that the capture left out.
        if place.known && place.at >= bytes.len() && (place.at as i64) < length {
            place.unfollowed += 1;
            place.lose();
        }
    }
}

impl ByWanted<'_> {
    /// Reads a message. Returns the end of it, if that is known.
    fn message(
        &mut self,
        message: &[u8],
        start: i64,
        place: &mut Position,
        each: &mut dyn FnMut(Found),
    ) -> Option<Behind> {
        let schema = self.wanted.schema();
        let recorded = std::mem::take(&mut place.recorded);
        let mut values = emptied(std::mem::take(&mut self.values));
        let mut more: Vec<(usize, Value)> = Vec::new();
        let answer = self.wanted.read(message);
        let (own, about_next) = answer.values.split_at_mut(self.types.len());
        let is_complete = answer.malformed.is_none();
        // A parser that stops at the wanted attributes does not see later faults.
        let reads_all = self.several.contains(&true) || self.noise.iter().any(|n| !n.is_empty());
        let whole = is_complete || !reads_all && own.iter().all(Option::is_some);
        // The rest of a message with all wanted values matters only if another message follows.
        let goes_on = schema.follow
            && answer.malformed.is_some_and(is_cut)
            && (schema.next.is_some() || !whole);
        let shows_side = self.sides.is_empty() || self.sides.iter().any(|&s| own[s].is_some());
        let may_wait = !place.is_last() && message.len() <= MOST_KEPT;
        let waits = goes_on && may_wait && !(place.in_order && shows_side);
        if !recorded && (whole || !waits) {
            let typed = own.iter_mut().zip(&self.types);
            values.extend(typed.map(|(taken, ty)| of_type(taken.take()?, message, (*ty)?)));
            for (number, taken) in answer.more.drain(..) {
                let value = self.types[number].and_then(|ty| of_type(taken, message, ty));
                more.extend(value.map(|value| (number, value)));
            }
            pass_over_noise(&mut values, &mut more, &self.noise);
            more.retain(|(number, _)| self.several[*number]);
            each(Found {
                values: &values,
                more: &more,
                start,
                whole,
                unread: goes_on,
                missed: false,
            });
        }
        let signs = self.signs.as_ref().filter(|_| is_complete);
        let next = signs.and_then(|signs| {
            let requests = (&mut place.awaited, &mut place.asks);
            let kind = signs.paired(about_next, message, requests);
            signs.behind(about_next, message, kind)
        });
        if waits {
            place.keep(message);
            place.recorded = recorded || whole;
        } else if next.is_none() {
            // A fault after all wanted values does not make a message malformed.
            let is_unknown = goes_on || schema.next.is_some() && whole;
            place.unfollowed += u64::from(is_unknown);
            place.lose();
        }
        self.values = emptied(values);
        next
    }
}

/// Clears a buffer, and changes the lifetime of its values.
fn emptied<'b>(mut values: Vec<Option<Value>>) -> Vec<Option<Value<'b>>> {
    values.clear();
    values.into_iter().map(|_| None).collect()
}

/// Swaps the first value that is not noise with the first one, if there is one.
fn pass_over_noise<'v>(
    values: &mut [Option<Value<'v>>],
    more: &mut [(usize, Value<'v>)],
    noise: &[Vec<u64>],
) {
    for (number, (value, noise)) in values.iter_mut().zip(noise).enumerate() {
        let Some(first) = value.as_mut().filter(|value| is_one_of(noise, value)) else {
            continue;
        };
        let mut others = more.iter_mut().filter(|(of, _)| *of == number);
        if let Some((_, other)) = others.find(|(_, other)| !is_one_of(noise, other)) {
            std::mem::swap(first, other);
        }
    }
}

/// Returns true if a value is one of these numbers, or the bytes of one in network byte order.
fn is_one_of(numbers: &[u64], value: &Value) -> bool {
    let number = match value {
        Value::Number(number) => *number,
        Value::Text(bytes) if bytes.len() <= 8 => bytes
            .iter()
            .fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
        _ => return false,
    };
    numbers.contains(&number)
}

/// Returns true if a payload may carry such a message. If the schema has no signature, a port must be one of the
/// schema's.
fn carries(schema: &Schema, payload: &Payload) -> bool {
    let transport = match schema.transport {
        payload::Transport::Tcp => Transport::Tcp,
        payload::Transport::Udp => Transport::Udp,
    };
    let ports = [payload.source_port, payload.destination_port];
    transport == payload.transport
        && (!schema.recognise.is_empty() || ports.iter().any(|p| schema.ports.contains(p)))
}

/// Returns the type of the values that a name stands for, if it resolves.
fn ty(schema: &Schema, name: &str) -> Option<Type> {
    let asked = schema.asked(name).ok()?;
    let size = |site: &Site| {
        let field = &schema.layouts[site.layout].fields[site.field];
        field.constant_size().unwrap_or(0)
    };
    Some(match asked.kind {
        AttributeKind::Number { bits, .. } => Type::Number(bits.min(64) as u8),
        AttributeKind::Bytes
            if asked.traits.is_address && asked.sites.iter().all(|s| size(s) == 4) =>
        {
            Type::Ipv4
        }
        AttributeKind::Bytes
            if asked.traits.is_address && asked.sites.iter().all(|s| size(s) == 16) =>
        {
            Type::Ipv6
        }
        AttributeKind::Bytes | AttributeKind::DnsName => Type::Text,
    })
}

/// Converts a value to the type. Negative numbers and those of more than 64 bits are `None`.
fn of_type(taken: Taken, message: &[u8], ty: Type) -> Option<Value<'_>> {
    match (taken.value, ty) {
        (Some(payload::Value::Number(number)), Type::Number(_)) => {
            number.try_into().ok().map(Value::Number)
        }
        (Some(payload::Value::Number(number)), _) => {
            Some(Value::Text(Cow::Owned(number.to_string().into_bytes())))
        }
        (Some(payload::Value::Bytes(bytes)), Type::Text) => Some(Value::Text(Cow::Owned(bytes))),
        (None, Type::Text) => {
            let bytes = message.get(taken.offset..taken.offset + taken.length)?;
            Some(Value::Text(Cow::Borrowed(bytes)))
        }
        (Some(payload::Value::Bytes(bytes)), Type::Ipv4 | Type::Ipv6) => {
            Value::from_bytes(ty, &bytes)
        }
        (None, Type::Ipv4 | Type::Ipv6) => {
            let bytes = message.get(taken.offset..taken.offset + taken.length)?;
            Value::from_bytes(ty, bytes)
        }
        (Some(payload::Value::Bytes(_)) | None, _) => None,
    }
}
