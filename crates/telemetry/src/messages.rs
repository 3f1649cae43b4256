//! What reads the messages in packets, as this crate sees it.

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

    /// True if a message may have several values of an attribute, of which each counts.
    fn several(&self, kind: usize, name: &str) -> bool {
        let _ = (kind, name);
        false
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
    fn reader(&self, kind: usize, wanted: &[Wish]) -> Box<dyn Reader + '_>;
}

/// An attribute whose values are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wish<'n> {
    /// Its name, without the kind.
    pub name: &'n str,
    /// True if all its values are, if a message has several.
    pub all: bool,
}

/// A message as it was read.
#[derive(Clone, Copy, Debug)]
pub struct Found<'r, 'a> {
    /// The values of the attributes that were asked for, in the order in which they were asked for; of a malformed message, those that
    /// are in front of what is wrong.
    pub values: &'r [Option<Value<'a>>],
    /// The other values of attributes of which all are wanted, with the place of the attribute among those that were asked for.
    pub more: &'r [(usize, Value<'a>)],
    /// Where it begins: an offset in the payload, or so many bytes in front of it.
    pub start: i64,
    /// Whether nothing is wrong with it. A malformed message ends the reading.
    pub whole: bool,
    /// Whether it could not be read as its rest is missing, which is no fault of its own.
    pub unread: bool,
    /// True in place of a message: bytes that are none were found where one begins. There are no values.
    pub missed: bool,
}

impl Found<'_, '_> {
    /// Bytes that are no message where one begins.
    pub(crate) const MISSED: Found<'static, 'static> = Found {
        values: &[],
        more: &[],
        start: 0,
        whole: false,
        unread: false,
        missed: true,
    };
}

/// Where in a stream its next message begins, before a payload of it is read and behind that. A new one is that of a stream of which nothing
/// is known: there, a message begins with a payload, or not at all.
#[derive(Clone, Debug)]
pub struct Position {
    /// From which byte of the payload on it is read.
    pub at: usize,
    /// Messages that begin there, or further behind, are not read.
    pub until: usize,
    /// Bytes behind those of the payload that the capture left out.
    pub cut: usize,
    /// Whether a message begins there, or is to be gone on with.
    pub known: bool,
    /// Bytes of a body behind the payload, behind which the next message begins; of one that has no end, [`u64::MAX`], and of one in chunks its state
    /// ([`chunks::pass`]).
    pub skip: u64,
    /// The bytes that were kept of a message whose head goes on there.
    pub kept: Vec<u8>,
    /// Whether that message was read before as far as it is wanted.
    pub recorded: bool,
    /// Whether a message has begun, in its head or in its body, and has not ended.
    pub begun: bool,
    /// Whether nothing is kept for what follows the payload, which may never come.
    pub alone: bool,
    /// True if a message that is cut is taken as it is once it shows its side of an exchange, instead of waiting for its rest: its place among others
    /// counts.
    pub in_order: bool,
    /// Whether the payload had a message.
    pub seen: bool,
    /// The requests that the stream's messages may answer.
    pub(crate) awaited: Awaited,
    /// The requests that the payload had.
    pub(crate) asks: Awaited,
    /// Messages so far behind which it is not known where the next one begins.
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

/// The most bytes that are kept of a message whose head goes on in the next payload of its stream.
pub(crate) const MOST_KEPT: usize = 4096;

impl Position {
    /// That of a payload behind which nothing may come.
    pub(crate) fn alone() -> Position {
        Position {
            alone: true,
            ..Position::default()
        }
    }

    /// Whether nothing can be kept for what follows.
    pub(crate) fn is_last(&self) -> bool {
        self.alone || self.cut > 0
    }

    /// Nobody knows where the next message begins.
    pub(crate) fn lose(&mut self) {
        (self.known, self.begun, self.recorded) = (false, false, false);
        self.skip = 0;
        self.kept.clear();
    }

    /// The same where bytes are no message; if one begins there, it is missed.
    pub(crate) fn miss(&mut self, is_known: bool, each: &mut dyn FnMut(Found)) {
        self.lose();
        if is_known {
            self.unfollowed += 1;
            each(Found::MISSED);
        }
    }

    /// Goes on in a body in chunks, in the next payload, behind so many bytes that the capture left out.
    pub(crate) fn go_on_in_chunks(&mut self, state: u64, cut: usize) {
        let state = chunks::pass_unseen(cut as u64, state);
        if state == chunks::LOST {
            self.unfollowed += 1;
            return self.lose();
        }
        (self.skip, self.begun) = (state, true);
    }

    /// Keeps the first bytes of a message, until its rest comes.
    pub(crate) fn keep(&mut self, message: &[u8]) {
        (self.known, self.begun) = (true, true);
        self.kept = message.to_vec();
    }
}

/// Reads messages of one kind, for the values of some of their attributes.
pub trait Reader: Send {
    /// Whether the messages that a payload may carry go on in the next one of its stream.
    fn follows(&self, payload: &Payload) -> bool {
        let _ = payload;
        false
    }

    /// Whether several messages follow one another in a stream, so that it is known where the next one begins.
    fn several(&self) -> bool {
        true
    }

    /// Calls `each` for the messages in a payload, one after the other: for none if it carries none. The place is that of its stream, and is moved
    /// on if its messages are followed.
    fn read(&mut self, payload: &Payload, place: &mut Position, each: &mut dyn FnMut(Found));
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

    fn reader(&self, _: usize, _: &[Wish]) -> Box<dyn Reader + '_> {
        Box::new(NoMessages)
    }
}

impl Reader for NoMessages {
    fn read(&mut self, _: &Payload, _: &mut Position, _: &mut dyn FnMut(Found)) {}
}
