//! A message as a program in the data plane reads it: no further than a limit.

use crate::{Found, Reason, Schema, read};

/// Outcome of reading a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// It is such a message, up to the limit.
    Read,
    /// It does not begin as such a message does.
    Other,
    /// It begins as such a message, but is malformed.
    Malformed(Reason),
    /// It continues beyond the limit.
    TooLong,
}

impl Status {
    /// All, in the order of their numbers.
    pub const ALL: [Status; 9] = [
        Status::Read,
        Status::Other,
        Status::Malformed(Reason::Truncated),
        Status::Malformed(Reason::LengthPastEnd),
        Status::Malformed(Reason::TooDeep),
        Status::Malformed(Reason::PointerLoop),
        Status::Malformed(Reason::Unexpected),
        Status::TooLong,
        Status::Malformed(Reason::Conflict),
    ];

    /// Returns the status's number.
    pub fn number(self) -> u32 {
        let place = Status::ALL.iter().position(|status| *status == self);
        place.map_or(0, |place| place as u32)
    }

    /// Returns the status's name in programs.
    pub fn name(self) -> &'static str {
        match self {
            Status::Read => "READ",
            Status::Other => "OTHER",
            Status::Malformed(Reason::Truncated) => "TRUNCATED",
            Status::Malformed(Reason::LengthPastEnd) => "LENGTH_PAST_END",
            Status::Malformed(Reason::TooDeep) => "TOO_DEEP",
            Status::Malformed(Reason::PointerLoop) => "POINTER_LOOP",
            Status::Malformed(Reason::Unexpected) => "UNEXPECTED",
            Status::TooLong => "TOO_LONG",
            Status::Malformed(Reason::Conflict) => "CONFLICT",
        }
    }
}

/// Reads the first `limit` bytes of a message. Returns the outcome, and the attributes in the order of their offsets.
/// Bytes beyond the limit count as missing, so attributes that the limit cuts off are absent. [`Status::TooLong`]
/// reports that the limit, not the message, is the reason.
pub fn read_up_to(schema: &Schema, message: &[u8], limit: usize) -> (Status, Vec<Found>) {
    let seen = &message[..message.len().min(limit)];
    if !schema.recognises(seen) {
        return (Status::Other, Vec::new());
    }
    match read(schema, seen) {
        Ok(found) => (Status::Read, found),
        Err(malformed) => {
            let cut = seen.len() < message.len()
                && matches!(malformed.reason, Reason::Truncated | Reason::LengthPastEnd);
            let status = match cut {
                true => Status::TooLong,
                false => Status::Malformed(malformed.reason),
            };
            (status, malformed.before)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::Builtin;

    #[test]
    fn a_message_is_read_up_to_its_limit() {
        let http = Builtin::named("http").and_then(|b| b.schema().ok());
        let http = http.expect("a built-in message");
        let text = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nbody";
        let status = |limit| read_up_to(&http, text, limit).0;
        assert_eq!(status(text.len()), Status::Read);
        // The body is as long as the limit lets it be.
        assert_eq!(status(text.len() - 2), Status::Read);
        assert_eq!(status(20), Status::TooLong);
        let cut = read_up_to(&http, &text[..20], 1400);
        assert_eq!(cut.0, Status::Malformed(Reason::Truncated));
        assert!(cut.1.iter().any(|found| found.name == "method"));
        assert_eq!(read_up_to(&http, b"hello", 1400).0, Status::Other);
    }

    /// A ServerHello differs from a ClientHello only in the type of the handshake message (RFC 8446, section 4).
    #[test]
    fn what_answers_a_client_hello_is_none() {
        let tls = Builtin::named("tls").and_then(|b| b.schema().ok());
        let tls = tls.expect("a built-in message");
        let status = |bytes: &[u8]| read_up_to(&tls, bytes, 1400).0;
        let cut = Status::Malformed(Reason::LengthPastEnd);
        assert_eq!(status(&[22, 3, 3, 0, 90, 2, 0, 0, 86, 3, 3]), Status::Other);
        assert_eq!(status(&[22, 3, 1, 0, 90, 1]), cut);
        assert_eq!(status(&[22, 3, 1, 0, 90]), cut);
    }

    #[test]
    fn every_status_has_a_number_of_its_own() {
        let numbers = Status::ALL.map(Status::number);
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    }
}
