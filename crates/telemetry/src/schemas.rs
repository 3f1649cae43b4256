//! Messages that a schema describes, read by the plain reader of crate `payload`.

use crate::catalogue::Type;
use crate::messages::{Found, Messages, Payload, Transport};
use crate::value::Value;
use payload::{Attribute, Kind, Schema, Which, plan};
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

    fn read<'a>(&self, kind: usize, wanted: &[&str], payload: Payload<'a>) -> Found<'a> {
        let mut found = Found::default();
        let Some(schema) = self.schemas.get(kind).filter(|s| carries(s, &payload)) else {
            return found;
        };
        let types: Vec<Option<Type>> = wanted.iter().map(|w| self.attribute(kind, w)).collect();
        let mut rest = payload.bytes;
        while !rest.is_empty() && schema.recognises(rest) {
            let (attributes, fault) = match payload::read(schema, rest) {
                Ok(attributes) => (attributes, false),
                Err(malformed) => (malformed.before, true),
            };
            let value = |(name, ty): (&&str, &Option<Type>)| {
                let attribute = attributes.iter().find(|a| a.name == **name)?;
                of_type(&attribute.value, (*ty)?)
            };
            let values: Vec<Option<Value>> = wanted.iter().zip(&types).map(value).collect();
            // A parser that stops at what it looks for does not see what is wrong behind it.
            if fault && values.contains(&None) {
                found.malformed = true;
                found.part = Some((values, payload.bytes.len() - rest.len()));
                break;
            }
            found.starts.push(payload.bytes.len() - rest.len());
            found.messages.push(values);
            rest = behind(schema, &attributes, rest);
        }
        found
    }
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
/// (RFC 9112, section 9.3.2), and their answers.
fn behind<'a>(schema: &Schema, attributes: &[payload::Found], bytes: &'a [u8]) -> &'a [u8] {
    let Some(next) = &schema.next else {
        return &[];
    };
    let found = |name: &str| attributes.iter().find(|a| a.name == name);
    let Some(body) = found(&next.body) else {
        return &[];
    };
    if next
        .unless
        .as_ref()
        .is_some_and(|name| found(name).is_some())
    {
        return &[];
    }
    let text = |name: &str| match &found(name)?.value {
        payload::Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes)),
        payload::Value::Number(_) => None,
    };
    let length = match text(&next.length) {
        None => 0,
        // More digits are more than a packet has.
        Some(digits) if (1..=5).contains(&digits.len()) => {
            match digits.bytes().all(|b| b.is_ascii_digit()) {
                true => digits.parse().unwrap_or(0),
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
        Err(_) => {
            let mut attributes = schema.attributes.iter();
            let is_member = |a: &Attribute| match a.which {
                Which::Member(_) => a.name == name,
                Which::AnyMember => {
                    let begin = a.name.trim_end_matches('*');
                    name.strip_prefix(begin)
                        .is_some_and(|rest| !rest.is_empty())
                }
                _ => false,
            };
            attributes.any(is_member).then_some(Type::Text)
        }
    }
}

/// The value as one of the type; negative numbers and those of more than 64 bits have none.
fn of_type(value: &payload::Value, ty: Type) -> Option<Value<'static>> {
    match (value, ty) {
        (payload::Value::Number(number), Type::Number(_)) => {
            (*number).try_into().ok().map(Value::Number)
        }
        (payload::Value::Number(number), _) => {
            Some(Value::Text(Cow::Owned(number.to_string().into_bytes())))
        }
        (payload::Value::Bytes(bytes), Type::Text) => Some(Value::Text(Cow::Owned(bytes.clone()))),
        (payload::Value::Bytes(_), _) => None,
    }
}
