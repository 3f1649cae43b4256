//! Messages of applications in the payload (`p4include/payload.p4`), read by crate `payload`.
//!
//! ```p4
//! extern message {
//!     message(string schema);
//!     message(string schema, bit<32> limit);
//!     message_status read(in bit<32> offset);
//!     message_status read(in bit<32> offset, in bit<32> length);
//!     message_status read_for(in bit<32> offset, in bit<32> length, string attributes);
//!     bit<64> keep(in bit<64> ticket, in bit<32> offset, in bit<32> length);
//!     message_status read_behind(in bit<64> ticket, in bit<32> offset, in bit<32> length);
//!     message_status read_behind(in bit<64> ticket, in bit<32> offset, in bit<32> length, string attributes);
//!     message_status read_held(stream_bytes streams, in bit<64> ticket, in bit<32> sequence, in bit<32> offset, in bit<32> length, string attributes);
//!     message_status read_initials(quic_initials connections, in bit<64> ticket, string attributes);
//!     bool get_number<T>(string attribute, out T value);
//!     bool get_bytes<T>(string attribute, out T value, out bit<32> length);
//!     bool matches(string attribute, string pattern);
//!     bool find_name(string attribute, name_set names, out bit<32> number, out bit<32> lists);
//!     bool find_pattern(string attribute, pattern_set patterns, out bit<32> number, out bit<32> lists);
//!     bool find_url(pattern_set patterns, out bit<32> prefix, out bit<32> prefix_lists, out bit<32> number, out bit<32> lists);
//! }
//! ```

use crate::call::{Arg, Env, Fault, Reply, index, values};
use crate::name_set::decided;
use crate::pattern_set::found;
use crate::{Extern, ExternState, Meaning};
use ir::{Bits, CtorValue, ExternData};
use patterns::UrlText;
use payload::builtin::Builtin;
use payload::{Found, Pattern, Schema, Status, Value, read_up_to};
use std::collections::VecDeque;

/// Extern whose objects read messages.
pub const MESSAGE: &str = "message";
/// Method that reads a message.
pub const READ_MESSAGE: &str = "read";
/// Method that reads a message only as far as needed.
pub const READ_FOR: &str = "read_for";
/// Method that keeps the first bytes of a message.
pub const KEEP: &str = "keep";
/// Method that reads a message after bytes that were kept.
pub const READ_BEHIND: &str = "read_behind";
/// Method that reads a message of which a [`stream_bytes`](crate::stream_bytes) may hold the bytes.
pub const READ_HELD: &str = "read_held";
/// Method that reads a message of which a [`quic`](crate::quic) object holds the bytes.
pub const READ_INITIALS: &str = "read_initials";
/// Method that returns a number.
pub const GET_NUMBER: &str = "get_number";
/// Method that returns bytes.
pub const GET_BYTES: &str = "get_bytes";
/// Method that searches an attribute for a regular expression.
pub const MATCHES_PATTERN: &str = "matches";

/// Method that looks up a name in a set.
pub const FIND_NAME: &str = "find_name";
/// Method that looks for the patterns of a set in a name.
pub const FIND_PATTERN: &str = "find_pattern";
/// Method that looks for the patterns of a set in the URL of a request.
pub const FIND_URL: &str = "find_url";
/// Attributes that [`FIND_URL`] takes: the host, the path, and the target that has the path.
pub const OF_URL: [&str; 3] = ["host", "path", "target"];

/// Largest number of bytes of a message that are read: a value of a per-CPU map has room for them. It also has room
/// for a piece of a payload that is searched.
pub const MOST_BYTES: u32 = 16 << 10;

/// Number of `message_status.BEGINS`, which only [`READ_BEHIND`] and [`READ_HELD`] return.
pub const BEGINS: u32 = Status::ALL.len() as u32;

/// Number of messages whose first bytes an object keeps; the oldest are evicted.
pub const HEADS: u32 = 1024;

/// Returns the largest number of bytes of a message that an object with a limit keeps, and the number of bytes after
/// them that it reads.
pub const fn kept_and_behind(limit: u32) -> (u32, u32) {
    (limit / 4, limit / 2)
}

/// Returns the schema that describes an object's messages. `None` if there is none of its name.
pub fn schema_of(object: &ExternData) -> Option<Schema> {
    Builtin::named(schema_name(object)?)?.schema().ok()
}

/// Returns the number of bytes of a message that an object reads.
pub fn limit_of(object: &ExternData, schema: &Schema) -> u32 {
    let asked = object.int_arg("limit").and_then(|n| u32::try_from(n).ok());
    asked.unwrap_or(schema.limits.bytes)
}

/// Returns the name of the schema that an object is made with.
pub fn schema_name(object: &ExternData) -> Option<&str> {
    object.args.iter().find_map(|(name, value)| match value {
        CtorValue::String(text) if name == "schema" => Some(text.as_str()),
        _ => None,
    })
}

/// `message`
pub(crate) const EXTERN: Extern = Extern {
    name: MESSAGE,
    meaning: Meaning::Object {
        create: |data| ExternState::Message(Box::new(Message::new(data))),
        methods: &[
            (READ_MESSAGE, read),
            (READ_FOR, read_for),
            (KEEP, keep),
            (READ_BEHIND, read_behind),
            (READ_HELD, read_held),
            (READ_INITIALS, read_initials),
            (GET_NUMBER, get_number),
            (GET_BYTES, get_bytes),
            (MATCHES_PATTERN, matches_pattern),
            (FIND_NAME, find_name),
            (FIND_PATTERN, find_pattern),
            (FIND_URL, find_url),
        ],
    },
};

/// State of a message object: the packet's message, and the first bytes of other messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Schema of its messages; `None` if the program was not checked.
    schema: Option<Box<Schema>>,
    limit: usize,
    /// Attributes of the message that was read last, by their offset.
    found: Vec<Found>,
    /// Bytes of that message, as far as they were read.
    bytes: Vec<u8>,
    /// First bytes of messages that continue in later packets, each with the ticket that leads to it. The oldest is
    /// first.
    heads: VecDeque<(u64, Vec<u8>)>,
    /// Regular expressions that were searched for so far.
    patterns: Vec<Pattern>,
}

impl Message {
    fn new(data: &ExternData) -> Message {
        let schema = schema_of(data);
        Message {
            limit: schema.as_ref().map_or(0, |s| limit_of(data, s) as usize),
            schema: schema.map(Box::new),
            found: Vec::new(),
            bytes: Vec::new(),
            heads: VecDeque::new(),
            patterns: Vec::new(),
        }
    }

    /// Resets the object for a packet of which no message was read yet.
    pub fn forget(&mut self) {
        self.found.clear();
        self.bytes.clear();
    }

    /// Reads a message that begins with these bytes, as far as the limit allows. Returns its status.
    fn read(&mut self, bytes: &[u8], limit: usize) -> Result<Status, Fault> {
        let schema = self.schema.as_ref().ok_or(Fault::Malformed)?;
        let (status, found) = read_up_to(schema, bytes, limit);
        self.found = found;
        self.bytes = bytes[..bytes.len().min(limit)].to_vec();
        Ok(status)
    }

    /// Keeps bytes after those that a ticket leads to; with ticket 0, as the first ones. Returns the ticket of all of
    /// them.
    fn keep(&mut self, ticket: u64, bytes: &[u8]) -> Option<u64> {
        let (most, _) = kept_and_behind(self.limit as u32);
        let fits = |length: usize| length <= most as usize;
        if ticket != 0 {
            let mut heads = self.heads.iter_mut();
            let (_, head) = heads.find(|(known, _)| *known == ticket)?;
            return fits(head.len() + bytes.len()).then(|| {
                head.extend(bytes);
                ticket
            });
        }
        fits(bytes.len()).then(|| {
            let ticket = self.heads.back().map_or(1, |(last, _)| last + 1);
            self.heads.push_back((ticket, bytes.to_vec()));
            if self.heads.len() > HEADS as usize {
                self.heads.pop_front();
            }
            ticket
        })
    }

    /// Returns true if a message may begin with the bytes that were read last, which are too few to recognise it.
    fn begins(&self) -> bool {
        let schema = self.schema.as_ref();
        schema.is_some_and(|schema| schema.may_begin(&self.bytes))
    }

    /// Returns the status of a message from which only the listed attributes are needed: it is read as soon as all are
    /// found.
    fn as_far_as(&self, list: &str, status: Status) -> Status {
        let is_found = |name: &str| self.found.iter().any(|found| found.name == name);
        // Bytes after the last of them make no difference to them.
        match names_in(list).all(is_found) {
            true => Status::Read,
            false => status,
        }
    }
}

fn message(state: &mut ExternState) -> Result<&mut Message, Fault> {
    match state {
        ExternState::Message(message) => Ok(message.as_mut()),
        _ => Err(Fault::Malformed),
    }
}

/// Splits the list of names that [`READ_FOR`] takes.
pub fn names_in(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim)
}

fn read(state: &mut ExternState, args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let status = status(message(state)?, args, env)?;
    Ok(Reply::value(Bits::new(8, status.number())))
}

fn read_for(state: &mut ExternState, args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let Some(Arg::String(list)) = args.get(2) else {
        return Err(Fault::Malformed);
    };
    let message = message(state)?;
    let status = status(message, args, env)?;
    let status = message.as_far_as(list, status);
    Ok(Reply::value(Bits::new(8, status.number())))
}

/// Reads a message and returns its status.
fn status(message: &mut Message, args: &[Arg], env: &Env<'_>) -> Result<Status, Fault> {
    let limit = message.limit;
    message.read(asked(args, 0, env)?, limit)
}

/// Returns the bytes of the payload from an offset on, which is argument `at`. The next argument, if there is one,
/// limits their number.
fn asked<'e>(args: &[Arg], at: usize, env: &'e Env<'_>) -> Result<&'e [u8], Fault> {
    let bytes = env.payload_from(index(args, at)?);
    let most = match args.get(at + 1) {
        Some(_) => usize::try_from(index(args, at + 1)?).unwrap_or(usize::MAX),
        None => usize::MAX,
    };
    Ok(&bytes[..bytes.len().min(most)])
}

fn keep(state: &mut ExternState, args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let message = message(state)?;
    message.forget();
    let ticket = index(args, 0)?;
    let length = usize::try_from(index(args, 2)?).unwrap_or(usize::MAX);
    let bytes = asked(args, 1, env)?;
    let of_all = match bytes.len() == length && !bytes.is_empty() {
        true => message.keep(ticket, bytes),
        false => None,
    };
    Ok(Reply::value(Bits::new(64, of_all.unwrap_or(0))))
}

fn read_behind(state: &mut ExternState, args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let message = message(state)?;
    let ticket = index(args, 0)?;
    let rest = asked(args, 1, env)?;
    let status = match ticket {
        0 => {
            let limit = message.limit;
            message.read(rest, limit)?
        }
        _ => {
            let mut heads = message.heads.iter();
            let head = heads.find(|(known, _)| *known == ticket);
            let (_, behind) = kept_and_behind(message.limit as u32);
            match head.map(|(_, head)| [head.as_slice(), rest].concat()) {
                Some(bytes) => {
                    let limit = bytes.len() - rest.len() + rest.len().min(behind as usize);
                    message.read(&bytes, limit)?
                }
                None => {
                    message.forget();
                    return Ok(Reply::value(Bits::new(8, Status::Other.number())));
                }
            }
        }
    };
    Ok(continued(message, status, args.get(3)))
}

/// Returns the status of a message that may continue in a later packet, as far as the list of attributes needs it.
fn continued(message: &Message, status: Status, list: Option<&Arg>) -> Reply {
    if status == Status::Other && message.begins() {
        return Reply::value(Bits::new(8, BEGINS));
    }
    let status = match list {
        Some(Arg::String(list)) => message.as_far_as(list, status),
        _ => status,
    };
    Reply::value(Bits::new(8, status.number()))
}

fn read_held(state: &mut ExternState, args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let Some(Arg::Streams(streams)) = args.first() else {
        return Err(Fault::Malformed);
    };
    let message = message(state)?;
    let (ticket, sequence) = (index(args, 1)?, index(args, 2)? as u32);
    let limit = message.limit;
    let status = match ticket {
        0 => {
            let bytes = env.payload_from(index(args, 3)?);
            let length = usize::try_from(index(args, 4)?).unwrap_or(usize::MAX);
            message.read(&bytes[..bytes.len().min(length)], limit)?
        }
        _ => {
            let length = usize::try_from(index(args, 4)?).unwrap_or(usize::MAX);
            match streams.from(ticket, sequence, length) {
                Some(bytes) => message.read(&bytes, limit)?,
                None => {
                    message.forget();
                    return Ok(Reply::value(Bits::new(8, Status::Other.number())));
                }
            }
        }
    };
    Ok(continued(message, status, args.get(5)))
}

fn read_initials(state: &mut ExternState, args: &[Arg], _: &mut Env<'_>) -> Result<Reply, Fault> {
    let Some(Arg::Quic(connections)) = args.first() else {
        return Err(Fault::Malformed);
    };
    let message = message(state)?;
    let held = connections.bytes(index(args, 1)?);
    let (most, _) = kept_and_behind(message.limit as u32);
    let Some(bytes) = held.filter(|bytes| bytes.len() <= most as usize) else {
        message.forget();
        return Ok(Reply::value(Bits::new(8, Status::Other.number())));
    };
    let status = message.read(bytes, bytes.len())?;
    Ok(continued(message, status, args.get(2)))
}

/// Returns the value of the attribute that the first argument names.
fn named<'m>(state: &'m mut ExternState, args: &[Arg]) -> Result<Option<&'m Value>, Fault> {
    let Some(Arg::String(name)) = args.first() else {
        return Err(Fault::Malformed);
    };
    let mut found = message(state)?.found.iter();
    Ok(found.find(|f| f.name == *name).map(|f| &f.value))
}

fn get_number(state: &mut ExternState, args: &[Arg], _: &mut Env<'_>) -> Result<Reply, Fault> {
    let width = width(args, 1)?;
    let number = match named(state, args)? {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    };
    // The program's check ensures that no number has more bits; negative ones are sign-extended.
    let all = u64::MAX >> (64 - width.clamp(1, 64));
    let wrapped = number.unwrap_or(0) as u64 & all;
    Ok(Reply {
        result: vec![Bits::new(1, u32::from(number.is_some()))],
        outs: vec![(1, vec![Bits::new(width, wrapped)])],
    })
}

fn get_bytes(state: &mut ExternState, args: &[Arg], _: &mut Env<'_>) -> Result<Reply, Fault> {
    let width = width(args, 1)?;
    let bytes = match named(state, args)? {
        Some(Value::Bytes(bytes)) => Some(bytes.as_slice()),
        _ => None,
    };
    let mut first = bytes.unwrap_or_default().to_vec();
    let length = first.len();
    first.resize(width as usize / 8, 0);
    Ok(Reply {
        result: vec![Bits::new(1, u32::from(bytes.is_some()))],
        outs: vec![
            (1, vec![Bits::from_bytes(width, &first)]),
            (2, vec![Bits::new(32, length as u64)]),
        ],
    })
}

fn matches_pattern(state: &mut ExternState, args: &[Arg], _: &mut Env<'_>) -> Result<Reply, Fault> {
    let value = match named(state, args)? {
        Some(Value::Bytes(bytes)) => Some(bytes.clone()),
        _ => None,
    };
    let Some(Arg::String(text)) = args.get(1) else {
        return Err(Fault::Malformed);
    };
    let known = &mut message(state)?.patterns;
    let at = match known.iter().position(|known| known.text() == text) {
        Some(at) => at,
        None => {
            known.push(Pattern::new(text).map_err(|_| Fault::Malformed)?);
            known.len() - 1
        }
    };
    let is_found = value.is_some_and(|value| known[at].is_in(&value));
    Ok(Reply::value(Bits::new(1, u32::from(is_found))))
}

fn find_name(state: &mut ExternState, args: &[Arg], _: &mut Env<'_>) -> Result<Reply, Fault> {
    let Some(Arg::Names(rules)) = args.get(1) else {
        return Err(Fault::Malformed);
    };
    let name = match named(state, args)? {
        Some(Value::Bytes(bytes)) => Some(bytes.as_slice()),
        _ => None,
    };
    Ok(decided(rules, name, 2))
}

fn find_pattern(state: &mut ExternState, args: &[Arg], _: &mut Env<'_>) -> Result<Reply, Fault> {
    let Some(Arg::Patterns(rules)) = args.get(1) else {
        return Err(Fault::Malformed);
    };
    let text = match named(state, args)? {
        Some(Value::Bytes(bytes)) => Some(UrlText::of_host(bytes)),
        _ => None,
    };
    Ok(found(rules, text, 2, false))
}

fn find_url(state: &mut ExternState, args: &[Arg], _: &mut Env<'_>) -> Result<Reply, Fault> {
    let Some(Arg::Patterns(rules)) = args.first() else {
        return Err(Fault::Malformed);
    };
    let message = message(state)?;
    let [host, path, target] = OF_URL.map(|name| {
        let mut all = message.found.iter();
        let found = all.find(|found| found.name == name)?;
        Some((
            found.offset,
            message
                .bytes
                .get(found.offset..found.offset + found.length)?,
        ))
    });
    let text = host.map(|(_, host)| match (path, target) {
        (Some((from, path)), Some((start, target))) if from >= start => {
            let from = (from - start).min(target.len());
            UrlText::of_request(host, &target[from..], path.len())
        }
        _ => UrlText::of_host(host),
    });
    Ok(found(rules, text, 1, true))
}

/// Returns the width of an argument that is one scalar.
pub(crate) fn width(args: &[Arg], at: usize) -> Result<u32, Fault> {
    match values(args, at)? {
        [one] => Ok(one.width()),
        _ => Err(Fault::Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::{arg, with_env};
    use diag::Span;

    fn object(schema: &str) -> ExternState {
        ExternState::Message(Box::new(Message::new(&ExternData {
            name: "m".into(),
            ty: MESSAGE.into(),
            type_args: Vec::new(),
            type_arg_names: Vec::new(),
            type_arg_declared: Vec::new(),
            args: vec![("schema".into(), CtorValue::String(schema.into()))],
            implementations: Vec::new(),
            annotations: Vec::new(),
            span: Span::NONE,
        })))
    }

    fn got(state: &mut ExternState, name: &str, width: u32) -> (bool, Vec<u8>, u64) {
        let args = [Arg::String(name.into()), arg(width, 0), arg(32, 0)];
        let (reply, _) = with_env(b"", 0, |env| get_bytes(state, &args, env));
        let reply = reply.expect("a reply");
        let length = reply.outs[1].1[0].to_u64().expect("a length");
        (
            reply.result[0].to_u64() == Some(1),
            reply.outs[0].1[0].to_bytes(),
            length,
        )
    }

    #[test]
    fn the_first_bytes_stand_at_the_left_with_zeros_behind() {
        let mut state = object("http");
        let packet = b"..GET /a HTTP/1.1\r\nHost: one.test\r\nHost: two.test\r\n\r\n";
        let status = with_env(packet, 1, |env| read(&mut state, &[arg(32, 1)], env)).0;
        assert_eq!(status, Ok(Reply::value(Bits::new(8, 0u32))));
        assert_eq!(got(&mut state, "host", 32), (true, b"one.".to_vec(), 8));
        assert_eq!(got(&mut state, "path", 32), (true, b"/a\0\0".to_vec(), 2));
        assert_eq!(got(&mut state, "user_agent", 16), (false, vec![0, 0], 0));
    }

    #[test]
    fn what_follows_the_attributes_that_are_read_for_does_not_matter() {
        let mut state = object("dns");
        // A question that is cut off.
        let packet = b"\0\x07\x81\x83\0\x01\0\0\0\0\0\0\x03ab";
        let mut status = |names: &str| {
            let args = [arg(32, 0), arg(32, 100), Arg::String(names.into())];
            let reply = with_env(packet, 0, |env| read_for(&mut state, &args, env)).0;
            reply.expect("a reply").result[0].to_u64()
        };
        assert_eq!(status("id"), Some(0));
        assert_eq!(status("rcode, id"), Some(0));
        let cut = Status::Malformed(payload::Reason::LengthPastEnd).number();
        assert_eq!(status("id, qname"), Some(cut.into()));
    }

    #[test]
    fn an_expression_is_looked_for_in_all_of_an_attribute() {
        let mut state = object("http");
        let packet = b"GET /a/b.html HTTP/1.1\r\nHost: one.test\r\n\r\n";
        let status = with_env(packet, 0, |env| read(&mut state, &[arg(32, 0)], env)).0;
        assert_eq!(status, Ok(Reply::value(Bits::new(8, 0u32))));
        let mut is_in = |name: &str, pattern: &str| {
            let args = [Arg::String(name.into()), Arg::String(pattern.into())];
            with_env(b"", 0, |env| matches_pattern(&mut state, &args, env)).0
        };
        let one = |bit: u32| Ok(Reply::value(Bits::new(1, bit)));
        assert_eq!(is_in("path", r"^/\w/.*\.html?$"), one(1));
        assert_eq!(is_in("path", "^b"), one(0));
        assert_eq!(is_in("user_agent", ""), one(0));
        assert_eq!(is_in("path", "("), Err(Fault::Malformed));
    }

    #[test]
    fn behind_the_end_there_is_no_message_and_the_next_packet_has_none_yet() {
        let mut state = object("http");
        let request = b"GET / HTTP/1.1\r\n\r\n";
        let read_at = |state: &mut ExternState, offset| {
            with_env(request, 0, |env| read(state, &[arg(32, offset)], env)).0
        };
        assert!(read_at(&mut state, 0).is_ok());
        assert!(got(&mut state, "method", 8).0);
        let other = Ok(Reply::value(Bits::new(8, 1u32)));
        assert_eq!(read_at(&mut state, 1 << 20), other);
        assert!(!got(&mut state, "method", 8).0);
        assert!(read_at(&mut state, 0).is_ok());
        let ExternState::Message(message) = &mut state else {
            panic!("a message");
        };
        message.forget();
        assert!(!got(&mut state, "method", 8).0);
    }
}
