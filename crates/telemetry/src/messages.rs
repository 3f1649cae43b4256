//! Interface to the readers of messages in packets.

use crate::awaited::Awaited;
use crate::catalogue::Type;
use crate::value::Value;
use payload::{Exchange, Schema, chunks};

/// A transport protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

/// Payload of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'a> {
    /// Protocol that carries it.
    pub transport: Transport,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Bytes after the transport header.
    pub bytes: &'a [u8],
}

/// Source of messages: knows their kinds, and reads them. Attributes are named without the kind: the `host` of
/// `http.host`.
pub trait Messages {
    /// Returns the names of the kinds.
    fn kinds(&self) -> &[String];

    /// Returns the attributes of a kind that have a fixed name.
    fn attributes(&self, kind: usize) -> &[(String, Type)];

    /// Returns the type of an attribute, if the kind has it.
    fn attribute(&self, kind: usize, name: &str) -> Option<Type> {
        let attributes = self.attributes(kind).iter();
        let found = attributes.clone().find(|(known, _)| known == name);
        found.map(|(_, ty)| *ty)
    }

    /// Returns true if a message may have several values of an attribute, each of which counts.
    fn several(&self, kind: usize, name: &str) -> bool {
        let _ = (kind, name);
        false
    }

    /// Describes how a parser on the packets' path finds an attribute, if it looks for no other and the technique is
    /// known.
    fn technique(&self, kind: usize, name: &str) -> Option<String> {
        let _ = (kind, name);
        None
    }

    /// Returns the schema of a kind, if there is one by which a program on the packets' path could read it.
    fn schema(&self, kind: usize) -> Option<&Schema> {
        let _ = kind;
        None
    }

    /// Returns the rule that pairs the requests and responses of a kind, if there is one.
    fn exchange(&self, kind: usize) -> Option<&Exchange> {
        self.schema(kind)?.exchange.as_ref()
    }

    /// Returns a reader of a kind's messages for the values of `wanted`.
    fn reader(&self, kind: usize, wanted: &[Wish]) -> Box<dyn Reader + '_>;
}

/// Attribute whose values are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wish<'n> {
    /// Name, without the kind.
    pub name: &'n str,
    /// True if all values of a message are wanted, not only the first.
    pub all: bool,
}

/// Message that was read.
#[derive(Clone, Copy, Debug)]
pub struct Found<'r, 'a> {
    /// Values of the wanted attributes, in the order of the request. A malformed message has the values before the
    /// fault.
    pub values: &'r [Option<Value<'a>>],
    /// Further values of attributes of which all are wanted, each with the attribute's index in the request.
    pub more: &'r [(usize, Value<'a>)],
    /// Start: an offset in the payload. It is negative if the message began earlier.
    pub start: i64,
    /// True if the message has no fault. A malformed message ends the reading.
    pub whole: bool,
    /// True if the message could not be read because its rest is missing, which is not a fault.
    pub unread: bool,
    /// True if this stands for bytes that are not a message although one should begin there. It has no values.
    pub missed: bool,
}

impl Found<'_, '_> {
    /// Bytes that are not a message although one should begin there.
    pub(crate) const MISSED: Found<'static, 'static> = Found {
        values: &[],
        more: &[],
        start: 0,
        whole: false,
        unread: false,
        missed: true,
    };
}

/// Position in a stream: the start of its next message, relative to the current payload. The reader updates it. A new
/// position is that of an unknown stream: a message begins with the payload, or not at all.
#[derive(Clone, Debug)]
pub struct Position {
    /// Offset in the payload from which it is read.
    pub at: usize,
    /// Offset in the payload from which on messages are not read.
    pub until: usize,
    /// Number of bytes after the payload that the capture left out.
    pub cut: usize,
    /// True if a message is known to begin or continue there.
    pub known: bool,
    /// Number of bytes of a body after the payload; the next message follows them. For a body without an end,
    /// [`u64::MAX`]; for a chunked one, its state ([`chunks::pass`]).
    pub skip: u64,
    /// Preserved bytes of a message whose head continues there.
    pub kept: Vec<u8>,
    /// True if that message was already recorded with all wanted values.
    pub recorded: bool,
    /// True if a message has begun, in its head or its body, and has not ended.
    pub begun: bool,
    /// True if nothing is preserved for later payloads, which may never come.
    pub alone: bool,
    /// True if the order of messages counts. Then a truncated message does not wait for its rest once its side of an
    /// exchange is known.
    pub in_order: bool,
    /// True if the payload contained a message.
    pub seen: bool,
    /// Requests that the stream's messages may answer.
    pub(crate) awaited: Awaited,
    /// Requests in the payload.
    pub(crate) asks: Awaited,
    /// Number of messages so far whose end is unknown, so that the next one could not be located.
    pub unfollowed: u64,
}

impl Default for Position {
    fn default() -> Position {
        Position {
            at: 0,
            until: usize::MAX,
            cut: 0,
            known: false,
            skip: 0,
            kept: Vec::new(),
            recorded: false,
            begun: false,
            alone: false,
            in_order: false,
            seen: false,
            awaited: Awaited::default(),
            asks: Awaited::default(),
            unfollowed: 0,
        }
    }
}

/// Greatest number of preserved bytes of a message whose head continues in the next payload.
pub(crate) const MOST_KEPT: usize = 4096;

impl Position {
    /// Returns the position in a payload without a stream.
    pub(crate) fn alone() -> Position {
        Position {
            alone: true,
            ..Position::default()
        }
    }

    /// Returns true if nothing can be preserved for later payloads.
    pub(crate) fn is_last(&self) -> bool {
        self.alone || self.cut > 0
    }

    /// Loses the position: the start of the next message is unknown.
    pub(crate) fn lose(&mut self) {
        (self.known, self.begun, self.recorded) = (false, false, false);
        self.skip = 0;
        self.kept.clear();
    }

    /// Loses the position at bytes that are not a message. If one should begin there, it is reported as missed.
    pub(crate) fn miss(&mut self, is_known: bool, each: &mut dyn FnMut(Found)) {
        self.lose();
        if is_known {
            self.unfollowed += 1;
            each(Found::MISSED);
        }
    }

    /// Continues a chunked body in the next payload, after `cut` bytes that the capture left out.
    pub(crate) fn go_on_in_chunks(&mut self, state: u64, cut: usize) {
        let state = chunks::pass_unseen(cut as u64, state);
        if state == chunks::LOST {
            self.unfollowed += 1;
            return self.lose();
        }
        (self.skip, self.begun) = (state, true);
    }

    /// Preserves the first bytes of a message until its rest comes.
    pub(crate) fn keep(&mut self, message: &[u8]) {
        (self.known, self.begun) = (true, true);
        self.kept = message.to_vec();
    }
}

/// Reader of one kind of messages, for the values of some attributes.
pub trait Reader: Send {
    /// Returns true if messages of such a payload continue in the next one of its stream.
    fn follows(&self, payload: &Payload) -> bool {
        let _ = payload;
        false
    }

    /// Returns true if messages follow one another in a stream, so that the start of the next one is known.
    fn several(&self) -> bool {
        true
    }

    /// Calls `each` for the messages in a payload, in order. `place` is the position in its stream; it is advanced if
    /// messages are followed.
    fn read(&mut self, payload: &Payload, place: &mut Position, each: &mut dyn FnMut(Found));
}

/// Source without messages.
#[derive(Clone, Copy, Debug)]
pub struct NoMessages;

impl Messages for NoMessages {
    fn kinds(&self) -> &[String] {
        &[]
    }

    fn attributes(&self, _: usize) -> &[(String, Type)] {
        &[]
    }

    fn reader(&self, _: usize, _: &[Wish]) -> Box<dyn Reader + '_> {
        Box::new(NoMessages)
    }
}

impl Reader for NoMessages {
    fn read(&mut self, _: &Payload, _: &mut Position, _: &mut dyn FnMut(Found)) {}
}
