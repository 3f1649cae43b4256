//! Messages that a schema describes, read by the plain reader of crate `payload`.

use crate::catalogue::Type;
use crate::messages::{Found, MOST_KEPT, Messages, NoMessages, Payload, Place, Reader, Transport};
use crate::value::Value;
use payload::{Kind, Reason, Schema, Taken, Wanted, plan};
use std::borrow::Cow;

/// The digits that the length of a body may have: more than those of a file.
const MOST_DIGITS: usize = 10;

/// Several schemas: each is a kind of message.
#[derive(Clone, Debug)]
pub struct Schemas {
    names: Vec<String>,
    schemas: Vec<Schema>,
    /// Those of a fixed name, by kind.
    attributes: Vec<Vec<(String, Type)>>,
}

impl Schemas {
    /// The kinds that these schemas describe.
    pub fn new(schemas: Vec<Schema>) -> Schemas {
        let listed = |schema: &Schema| {
            let names = schema.attributes.iter().map(|a| &a.name);
            let fixed = names.filter(|name| !name.ends_with('*'));
            let typed = fixed.filter_map(|name| Some((name.clone(), ty(schema, name)?)));
            typed.collect()
        };
        Schemas {
            names: schemas.iter().map(|schema| schema.name.clone()).collect(),
            attributes: schemas.iter().map(listed).collect(),
            schemas,
        }
    }

    /// The kinds that are built in.
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

    fn technique(&self, kind: usize, name: &str) -> Option<String> {
        let (target, question) = (plan::Target::Xdp, plan::Question::default());
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

    fn reader(&self, kind: usize, wanted: &[&str]) -> Box<dyn Reader + '_> {
        match self.schemas.get(kind) {
            Some(schema) => Box::new(ByWanted::new(schema, wanted)),
            None => Box::new(NoMessages),
        }
    }
}

/// Reads the messages of a schema.
struct ByWanted<'s> {
    /// What is asked for, and behind it the attributes that tell where the next message begins.
    wanted: Wanted<'s>,
    /// The types of what is asked for; nothing for a name that stands for nothing.
    types: Vec<Option<Type>>,
    /// Room for the values of a message.
    values: Vec<Option<Value<'static>>>,
}

impl<'s> ByWanted<'s> {
    fn new(schema: &'s Schema, wanted: &[&str]) -> ByWanted<'s> {
        let mut names = wanted.to_vec();
        if let Some(next) = &schema.next {
            names.extend([next.body.as_str(), &next.length]);
            names.extend(next.unless.as_deref());
        }
        ByWanted {
            wanted: Wanted::new(schema, &names),
            types: wanted.iter().map(|name| ty(schema, name)).collect(),
            values: Vec::new(),
        }
    }
}

impl Reader for ByWanted<'_> {
    fn follows(&self, payload: &Payload) -> bool {
        let schema = self.wanted.schema();
        schema.follow && carries(schema, payload)
    }

    fn begins(&self, bytes: &[u8]) -> bool {
        self.wanted.schema().recognises(bytes)
    }

    fn read(&mut self, payload: &Payload, place: &mut Place, each: &mut dyn FnMut(Found)) {
        let schema = self.wanted.schema();
        if !carries(schema, payload) {
            return;
        }
        let length = payload.bytes.len() as i64;
        while let Some(rest) = payload
            .bytes
            .get(place.at..)
            .filter(|rest| !rest.is_empty())
        {
            let kept = std::mem::take(&mut place.kept);
            let message: Cow<[u8]> = match kept.is_empty() {
                true => rest.into(),
                false => [kept.as_slice(), rest].concat().into(),
            };
            if !schema.recognises(&message) {
                return other(schema, &message, place);
            }
            place.seen = true;
            let start = place.at as i64 - kept.len() as i64;
            let Some((body, end)) = self.message(&message, start, place, each) else {
                return;
            };
            let (body, end) = (start + body as i64, start + end as i64);
            place.known = true;
            place.begun = end > length && body < length;
            if end > length {
                place.skip = (end - length) as u64;
                return;
            }
            place.at = end as usize;
        }
    }
}

impl ByWanted<'_> {
    /// Reads a message: where its body begins, and where the next message does, if that is known.
    fn message(
        &mut self,
        message: &[u8],
        start: i64,
        place: &mut Place,
        each: &mut dyn FnMut(Found),
    ) -> Option<(usize, u64)> {
        let schema = self.wanted.schema();
        let recorded = std::mem::take(&mut place.recorded);
        let mut values = emptied(std::mem::take(&mut self.values));
        let answer = self.wanted.read(message);
        let (own, about_next) = answer.values.split_at_mut(self.types.len());
        let is_complete = answer.malformed.is_none();
        // A parser that stops at what it looks for does not see what is wrong behind it.
        let whole = is_complete || own.iter().all(Option::is_some);
        let cut = [Reason::Truncated, Reason::LengthPastEnd].map(Some);
        // What follows a message that was read as far as it is wanted matters only if another one does.
        let goes_on =
            schema.follow && cut.contains(&answer.malformed) && (schema.next.is_some() || !whole);
        let waits = goes_on && !place.alone && message.len() <= MOST_KEPT;
        if !recorded && (whole || !waits) {
            let typed = own.iter_mut().zip(&self.types);
            values.extend(typed.map(|(taken, ty)| of_type(taken.take()?, message, (*ty)?)));
            each(Found {
                values: &values,
                start,
                whole,
                unread: goes_on,
            });
        }
        let next = match &schema.next {
            Some(_) if is_complete => behind(about_next, message),
            _ => None,
        };
        if waits {
            place.keep(message);
            place.recorded = recorded || whole;
        } else if next.is_none() {
            let is_unknown = goes_on || schema.next.is_some() && is_complete;
            place.unfollowed += u64::from(is_unknown);
            place.lose();
        }
        self.values = emptied(values);
        next
    }
}

/// Bytes that are no such message.
fn other(schema: &Schema, bytes: &[u8], place: &mut Place) {
    if !place.known {
        return;
    }
    // They may be its first ones.
    if bytes.len() < schema.signature_bytes() && !place.alone {
        place.keep(bytes);
    } else {
        place.unfollowed += 1;
        place.lose();
    }
}

/// The same room, for values that live as long as others.
fn emptied<'b>(mut values: Vec<Option<Value>>) -> Vec<Option<Value<'b>>> {
    values.clear();
    values.into_iter().map(|_| None).collect()
}

/// Whether a payload may begin with such a message: by its bytes if the schema has some by which to recognise it, by its ports otherwise.
fn carries(schema: &Schema, payload: &Payload) -> bool {
    let transport = match schema.transport {
        payload::Transport::Tcp => Transport::Tcp,
        payload::Transport::Udp => Transport::Udp,
    };
    let ports = [payload.source_port, payload.destination_port];
    transport == payload.transport
        && (!schema.recognise.is_empty() || ports.iter().any(|p| schema.ports.contains(p)))
}

/// Where the body of a message begins, and what follows it, where messages of its kind do: of HTTP, requests that are sent without waiting for
/// answers (RFC 9112, section 9.3.2), and their answers. `None` if nothing says where that is. The values are those of the names in
/// [`payload::Next`], in its order.
fn behind(values: &[Option<Taken>], bytes: &[u8]) -> Option<(usize, u64)> {
    let (Some(Some(body)), Some(length)) = (values.first(), values.get(1)) else {
        return None;
    };
    if let Some(Some(_)) = values.get(2) {
        return None;
    }
    let digits = match length {
        Some(taken) => match &taken.value {
            None => bytes.get(taken.offset..taken.offset + taken.length),
            Some(payload::Value::Bytes(digits)) => Some(digits.as_slice()),
            Some(payload::Value::Number(_)) => None,
        },
        None => None,
    };
    let length = match digits {
        None => 0,
        Some(digits) if (1..=MOST_DIGITS).contains(&digits.len()) => {
            let number = |sum: u64, digit: &u8| {
                let is_digit = digit.is_ascii_digit();
                is_digit.then(|| sum * 10 + u64::from(digit - b'0'))
            };
            digits.iter().try_fold(0, number)?
        }
        Some(_) => return None,
    };
    Some((body.offset, body.offset as u64 + length))
}

/// The type of the values that a name stands for, if it stands for any.
fn ty(schema: &Schema, name: &str) -> Option<Type> {
    match schema.asked(name).map(|asked| asked.kind) {
        Ok(Kind::Number { bits, .. }) => Some(Type::Number(bits.min(64) as u8)),
        Ok(Kind::Bytes | Kind::DnsName) => Some(Type::Text),
        Err(_) => None,
    }
}

/// The value as one of the type; negative numbers and those of more than 64 bits have none.
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
        (Some(payload::Value::Bytes(_)) | None, _) => None,
    }
}
