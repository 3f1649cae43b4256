//! What reads the messages in packets, as this crate sees it.

use crate::catalogue::Type;
use crate::value::Value;
use payload::{Exchange, Schema};

/// A transport protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

/// What a packet carries.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'a> {
    /// By which protocol.
    pub transport: Transport,
    /// From which port.
    pub source_port: u16,
    /// To which port.
    pub destination_port: u16,
    /// The bytes behind the transport header.
    pub bytes: &'a [u8],
}

/// Something that knows kinds of messages and reads them. Attributes are named without the kind: the `host` of `http.host`.
pub trait Messages {
    /// The kinds that there are.
    fn kinds(&self) -> &[String];

    /// The attributes of a kind that have a fixed name, to be listed.
    fn attributes(&self, kind: usize) -> &[(String, Type)];

    /// The type of an attribute, if the kind has it.
    fn attribute(&self, kind: usize, name: &str) -> Option<Type> {
        let attributes = self.attributes(kind).iter();
        let found = attributes.clone().find(|(known, _)| known == name);
        found.map(|(_, ty)| *ty)
    }

    /// How a parser on the packets' path that looks for an attribute alone finds it, in a few words, if that is known.
    fn technique(&self, kind: usize, name: &str) -> Option<String> {
        let _ = (kind, name);
        None
    }

    /// The schema of a kind, if there is one by which a program on the packets' path could read it.
    fn schema(&self, kind: usize) -> Option<&Schema> {
        let _ = kind;
        None
    }

    /// Which messages of a kind are requests, and which are the responses to them, if that is known.
    fn exchange(&self, kind: usize) -> Option<&Exchange> {
        self.schema(kind)?.exchange.as_ref()
    }

    /// What reads messages of a kind for the values of `wanted`.
    fn reader(&self, kind: usize, wanted: &[&str]) -> Box<dyn Reader + '_>;
}

/// A message as it was read.
#[derive(Clone, Copy, Debug)]
pub struct Found<'r, 'a> {
    /// The values of the attributes that were asked for, in the order in which they were asked for; of a malformed message, those that
    /// are in front of what is wrong.
    pub values: &'r [Option<Value<'a>>],
    /// Where in the payload it begins.
    pub start: usize,
    /// Whether nothing is wrong with it. A malformed message ends the reading.
    pub whole: bool,
}

/// Reads messages of one kind, for the values of some of their attributes.
pub trait Reader {
    /// Calls `each` for the messages in a payload, one after the other: for none if it carries none.
    fn read<'a>(&mut self, payload: &Payload<'a>, each: &mut dyn FnMut(Found<'_, 'a>));
}

/// No kind of message.
#[derive(Clone, Copy, Debug)]
pub struct NoMessages;

impl Messages for NoMessages {
    fn kinds(&self) -> &[String] {
        &[]
    }

    fn attributes(&self, _: usize) -> &[(String, Type)] {
        &[]
    }

    fn reader(&self, _: usize, _: &[&str]) -> Box<dyn Reader + '_> {
        Box::new(NoMessages)
    }
}

impl Reader for NoMessages {
    fn read<'a>(&mut self, _: &Payload<'a>, _: &mut dyn FnMut(Found<'_, 'a>)) {}
}
