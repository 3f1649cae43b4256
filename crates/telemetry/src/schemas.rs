//! Messages that a schema describes, read by the plain reader of crate `payload`.

use crate::catalogue::Type;
use crate::messages::{Found, Messages, NoMessages, Payload, Reader, Transport};
use crate::value::Value;
use payload::{Kind, Schema, Taken, Wanted, plan};
use std::borrow::Cow;

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
    fn read<'a>(&mut self, payload: &Payload<'a>, each: &mut dyn FnMut(Found<'_, 'a>)) {
        let schema = self.wanted.schema();
        if !carries(schema, payload) {
            return;
        }
        let mut values = emptied(std::mem::take(&mut self.values));
        let mut rest = payload.bytes;
        while !rest.is_empty() && schema.recognises(rest) {
            let answer = self.wanted.read(rest);
            let (own, about_next) = answer.values.split_at_mut(self.types.len());
            // A parser that stops at what it looks for does not see what is wrong behind it.
            let whole = answer.malformed.is_none() || own.iter().all(Option::is_some);
            let typed = own.iter_mut().zip(&self.types);
            values.clear();
            values.extend(typed.map(|(taken, ty)| of_type(taken.take()?, rest, (*ty)?)));
            each(Found {
                values: &values,
                start: payload.bytes.len() - rest.len(),
                whole,
            });
            if !whole {
                break;
            }
            rest = behind(about_next, rest);
        }
        self.values = emptied(values);
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

/// What follows a message in the same payload, where messages of its kind do: of HTTP, requests that are sent without waiting for answers
/// (RFC 9112, section 9.3.2), and their answers. The values are those of the names in [`payload::Next`], in its order.
fn behind<'a>(values: &[Option<Taken>], bytes: &'a [u8]) -> &'a [u8] {
    let (Some(Some(body)), Some(length)) = (values.first(), values.get(1)) else {
        return &[];
    };
    if let Some(Some(_)) = values.get(2) {
        return &[];
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
        // More digits are more than a packet has.
        Some(digits) if (1..=5).contains(&digits.len()) => {
            match digits.iter().all(u8::is_ascii_digit) {
                true => digits
                    .iter()
                    .fold(0, |n, digit| n * 10 + usize::from(digit - b'0')),
                false => return &[],
            }
        }
        Some(_) => return &[],
    };
    bytes.get(body.offset + length..).unwrap_or_default()
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
