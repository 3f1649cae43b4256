//! Chunked bodies (RFC 9112, section 7.1): each chunk has its size before it, and trailer fields follow the last one.
//!
//! One number holds a reader's position in a body: the state of an automaton, and the bytes that remain of a chunk. So
//! a body can be passed over segment by segment. Programs run the same automaton, by the same tables.

/// State at the first byte of a body. States are numbers from this one on, so none can be mistaken for a number of
/// bytes.
pub const BEGIN: u64 = 1 << 63;
/// State after bytes that are not a chunked body.
pub const LOST: u64 = state(Phase::Malformed, 0);

/// Part of a body that may come next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Phase {
    /// The first digit of a size.
    Size,
    /// A further digit, or the byte after the last one.
    Digits,
    /// A blank, or the byte after the last one.
    Blank,
    Extension,
    /// The line feed after a size.
    SizeEnd,
    Data,
    /// The end of the data: CR, and a line feed.
    DataEnd,
    DataFeed,
    /// The first byte of a field's name, or the byte that ends the body.
    Field,
    Name,
    Value,
    ValueFeed,
    /// The line feed that ends the body.
    LastFeed,
    Done,
    Malformed,
}

/// Number of bits that hold a phase or a kind of byte.
const BITS: u32 = 4;
/// Position of the phase in a state, and mask of the bytes that remain of a chunk.
const PHASE: u32 = 56;
const LEFT: u64 = (1 << 44) - 1;

/// Kinds of bytes.
#[derive(Clone, Copy)]
#[repr(u8)]
enum ByteClass {
    Control,
    Hex,
    /// Any other byte of a token.
    Token,
    Colon,
    Semicolon,
    Blank,
    Return,
    Feed,
    Other,
}

const fn kind(byte: u8) -> ByteClass {
    match byte {
        b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F' => ByteClass::Hex,
        b'g'..=b'z' | b'G'..=b'Z' => ByteClass::Token,
        b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_'
        | b'`' | b'|' | b'~' => ByteClass::Token,
        b':' => ByteClass::Colon,
        b';' => ByteClass::Semicolon,
        b' ' | b'\t' => ByteClass::Blank,
        b'\r' => ByteClass::Return,
        b'\n' => ByteClass::Feed,
        0..=0x1f | 0x7f => ByteClass::Control,
        _ => ByteClass::Other,
    }
}

/// Transition function: the phase after a byte. A field's line may end in a line feed alone, that of a size may not
/// (section 2.2).
const fn next(phase: Phase, kind: ByteClass) -> Phase {
    match (phase, kind) {
        (Phase::Size | Phase::Digits, ByteClass::Hex) => Phase::Digits,
        (Phase::Digits | Phase::Blank, ByteClass::Blank) => Phase::Blank,
        (Phase::Digits | Phase::Blank, ByteClass::Semicolon) => Phase::Extension,
        (Phase::Digits | Phase::Blank | Phase::Extension, ByteClass::Return) => Phase::SizeEnd,
        (Phase::Extension, ByteClass::Control | ByteClass::Feed) => Phase::Malformed,
        (Phase::Extension, _) => Phase::Extension,
        (Phase::SizeEnd, ByteClass::Feed) => Phase::Data,
        (Phase::DataEnd, ByteClass::Return) => Phase::DataFeed,
        (Phase::DataFeed, ByteClass::Feed) => Phase::Size,
        (Phase::Field | Phase::Name, ByteClass::Hex | ByteClass::Token) => Phase::Name,
        (Phase::Name, ByteClass::Colon) => Phase::Value,
        (Phase::Value | Phase::ValueFeed, ByteClass::Feed) => Phase::Field,
        (Phase::Value, ByteClass::Return) => Phase::ValueFeed,
        (Phase::Value, ByteClass::Control) => Phase::Malformed,
        (Phase::Value, _) => Phase::Value,
        (Phase::Field, ByteClass::Return) => Phase::LastFeed,
        (Phase::Field | Phase::LastFeed, ByteClass::Feed) => Phase::Done,
        _ => Phase::Malformed,
    }
}

const PHASES: [Phase; 15] = [
    Phase::Size,
    Phase::Digits,
    Phase::Blank,
    Phase::Extension,
    Phase::SizeEnd,
    Phase::Data,
    Phase::DataEnd,
    Phase::DataFeed,
    Phase::Field,
    Phase::Name,
    Phase::Value,
    Phase::ValueFeed,
    Phase::LastFeed,
    Phase::Done,
    Phase::Malformed,
];
const KINDS: [ByteClass; 9] = [
    ByteClass::Control,
    ByteClass::Hex,
    ByteClass::Token,
    ByteClass::Colon,
    ByteClass::Semicolon,
    ByteClass::Blank,
    ByteClass::Return,
    ByteClass::Feed,
    ByteClass::Other,
];

/// Kind of each byte, by its value.
pub const KIND_OF: [u8; 256] = {
    let mut all = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        all[byte] = kind(byte as u8) as u8;
        byte += 1;
    }
    all
};

/// Transition table. The index has the phase before a byte in its higher bits, and the byte's kind in its lower ones.
pub const NEXT: [u8; 256] = {
    let mut all = [Phase::Malformed as u8; 256];
    let mut phase = 0;
    while phase < PHASES.len() {
        let mut kind = 0;
        while kind < KINDS.len() {
            all[phase << BITS | kind] = next(PHASES[phase], KINDS[kind]) as u8;
            kind += 1;
        }
        phase += 1;
    }
    all
};

/// Phases that programs know by name.
pub const NAMED: [(&str, u8); 6] = [
    ("CHUNKS_DIGITS", Phase::Digits as u8),
    ("CHUNKS_DATA", Phase::Data as u8),
    ("CHUNKS_DATA_END", Phase::DataEnd as u8),
    ("CHUNKS_FIELD", Phase::Field as u8),
    ("CHUNKS_DONE", Phase::Done as u8),
    ("CHUNKS_MALFORMED", Phase::Malformed as u8),
];

const fn state(phase: Phase, left: u64) -> u64 {
    BEGIN | (phase as u64) << PHASE | left
}

fn parts(state: u64) -> (Phase, u64) {
    let phase = PHASES.get((state >> PHASE & 15) as usize);
    (*phase.unwrap_or(&Phase::Malformed), state & LEFT)
}

/// Passes over further bytes of a body, from a state on. Returns the number of these bytes that belong to the body if
/// it ends in them, otherwise the state after them.
pub fn pass(bytes: &[u8], from: u64) -> u64 {
    let (mut phase, mut left) = parts(from);
    let mut at = 0;
    while at < bytes.len() {
        if phase == Phase::Data {
            let passed = left.min((bytes.len() - at) as u64);
            (left, at) = (left - passed, at + passed as usize);
            if left == 0 {
                phase = Phase::DataEnd;
            }
            continue;
        }
        let byte = bytes[at];
        at += 1;
        phase = next(phase, kind(byte));
        match phase {
            // More than the size of any body.
            Phase::Digits if left > LEFT >> 4 => phase = Phase::Malformed,
            Phase::Digits => left = left << 4 | u64::from((byte & 15) + 9 * (byte >> 6)),
            Phase::Data if left == 0 => phase = Phase::Field,
            Phase::Done => return at as u64,
            _ => {}
        }
        if phase == Phase::Malformed {
            return LOST;
        }
    }
    state(phase, left)
}

/// Does the same for `count` bytes that are not known: they can only be data.
pub fn pass_unseen(count: u64, from: u64) -> u64 {
    match parts(from) {
        _ if count == 0 || from < BEGIN => from,
        (Phase::Data, left) if left > count => state(Phase::Data, left - count),
        (Phase::Data, left) if left == count => state(Phase::DataEnd, 0),
        _ => LOST,
    }
}

/// Returns true if a value of `Transfer-Encoding` has `chunked` as its last coding (RFC 9112, section 6.3).
pub fn is_chunked(value: &[u8]) -> bool {
    let last = value.rsplit(|&byte| byte == b',').next();
    let is_blank = |byte: &u8| [b' ', b'\t'].contains(byte);
    last.is_some_and(|last| {
        let start = last.iter().position(|byte| !is_blank(byte));
        start.is_some_and(|start| last[start..].eq_ignore_ascii_case(b"chunked"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = b"5\r\nhello\r\n00a;x=\"\xe9;\"\r\n0123456789\r\n1 \t; a\r\n.\r\n0\r\nX-Sum: a b\r\nY:\n\r\n";

    #[test]
    fn a_body_ends_behind_its_fields_however_it_is_cut() {
        let all = [BODY, b"GET / HTTP/1.1\r\n"].concat();
        assert_eq!(pass(&all, BEGIN), BODY.len() as u64);
        for cut in 0..BODY.len() {
            let (front, behind) = all.split_at(cut);
            let state = pass(front, BEGIN);
            assert!(state >= BEGIN && state != LOST, "{cut}");
            assert_eq!(pass(behind, state), (BODY.len() - cut) as u64, "{cut}");
        }
        let each = all.iter().try_fold(BEGIN, |state, &byte| {
            let next = pass(&[byte], state);
            if next < BEGIN { Err(next) } else { Ok(next) }
        });
        assert_eq!(each, Err(1));
        for short in [&b"0\r\n\r\n"[..], b"0\r\n\n", b"000\r\na:\r\n\r\n"] {
            assert_eq!(pass(short, BEGIN), short.len() as u64, "{short:?}");
        }
    }

    #[test]
    fn what_is_no_such_body_is_lost() {
        for wrong in [
            "\r\n",
            "g\r\n",
            " 5\r\n",
            "5\nhello\r\n",
            "5\r\nhelloX",
            "5\r\nhello\n",
            "5\r\nhello5\r\n",
            "5;a\nb",
            "5;a\rb",
            "5 5\r\n",
            "0x5\r\n",
            "0\r\na b: c\r\n",
            "0\r\n a: b\r\n",
            "0\r\na: b\r\n c\r\n",
            "0\r\n: a\r\n",
            "0\r\na:\x01\r\n",
            "0\r\na: b\rc",
            "0\r\n\rx",
            "100000000000\r\n",
        ] {
            assert_eq!(pass(wrong.as_bytes(), BEGIN), LOST, "{wrong:?}");
            assert_eq!(pass(b"0\r\n\r\n", LOST), LOST);
        }
        let most = pass(b"fffffffffff\r\n", BEGIN);
        assert_eq!(most, BEGIN | 5 << PHASE | LEFT);
    }

    #[test]
    fn bytes_that_are_not_known_are_data() {
        let state = pass(b"6\r\nh", BEGIN);
        assert_eq!(pass_unseen(0, state), state);
        assert_eq!(pass(b"o\r\n0\r\n\r\n", pass_unseen(4, state)), 8);
        assert_eq!(pass(b"\r\n0\r\n\r\n", pass_unseen(5, state)), 7);
        assert_eq!(pass_unseen(6, state), LOST);
        assert_eq!(pass_unseen(1, BEGIN), LOST);
        assert_eq!(pass_unseen(9, 7), 7);
    }

    #[test]
    fn the_last_coding_says_that_there_are_chunks() {
        for (value, is_it) in [
            ("chunked", true),
            ("Chunked", true),
            ("gzip, CHUNKED", true),
            ("gzip,\tchunked", true),
            (",chunked", true),
            ("chunked, gzip", false),
            ("chunked,", false),
            ("xchunked", false),
            ("gzip chunked", false),
            ("chunked;a=b", false),
            ("", false),
        ] {
            assert_eq!(is_chunked(value.as_bytes()), is_it, "{value}");
        }
    }
}
