//! JSON texts, as an automaton without a stack. The actions in `document.h` decide what a bracket closes, and what
//! follows a comma.

use super::automaton::{DocumentTransition, Table, table};

/// Expected input. `document.h` knows the row numbers of the first three states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum JsonState {
    /// The rest of a string.
    Text(Inside),
    /// The rest of a name.
    Name(Inside),
    /// A value.
    Value,
    /// A value, or the end of an array.
    First,
    /// A name, or the end of an object.
    FirstName,
    /// A name in quotes.
    NextName,
    /// A colon.
    Colon,
    /// The input after a value.
    After,
    /// The rest of a number.
    Number(Digits),
    /// The rest of `true`, `false` or `null`.
    Word(&'static str),
}

use JsonState::{After, Colon, First, FirstName, Name, NextName, Number, Text, Value, Word};

/// Position in a string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Inside {
    Plain,
    /// After a backslash.
    Escape,
    /// Before this number of hexadecimal digits.
    Hex(u8),
    /// Before this number of bytes of a character, the next one in this range (RFC 3629, section 4).
    Rest(u8, u8, u8),
}

/// Position in a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Digits {
    Minus,
    Zero,
    Whole,
    Point,
    Fraction,
    Exponent,
    Sign,
    Power,
}

/// Actions: the numbers of `JSON_...` in `document.h`.
pub(super) mod action {
    pub(in super::super) const FAIL: u16 = 1;
    pub(in super::super) const CUT: u16 = 2;
    pub(in super::super) const END: u16 = 3;
    pub(in super::super) const SCALAR: u16 = 4;
    pub(in super::super) const STRING: u16 = 5;
    pub(in super::super) const STRING_END: u16 = 6;
    pub(in super::super) const WORD_END: u16 = 7;
    pub(in super::super) const OBJECT: u16 = 8;
    pub(in super::super) const ARRAY: u16 = 9;
    pub(in super::super) const OBJECT_END: u16 = 10;
    pub(in super::super) const ARRAY_END: u16 = 11;
    pub(in super::super) const COMMA: u16 = 12;
    pub(in super::super) const NAME: u16 = 13;
    pub(in super::super) const LETTER: u16 = 14;
}

const INSIDE: [Inside; 13] = [
    Inside::Plain,
    Inside::Escape,
    Inside::Hex(4),
    Inside::Hex(3),
    Inside::Hex(2),
    Inside::Hex(1),
    Inside::Rest(1, 0x80, 0xbf),
    Inside::Rest(2, 0x80, 0xbf),
    Inside::Rest(2, 0xa0, 0xbf),
    Inside::Rest(2, 0x80, 0x9f),
    Inside::Rest(3, 0x80, 0xbf),
    Inside::Rest(3, 0x90, 0xbf),
    Inside::Rest(3, 0x80, 0x8f),
];

const DIGITS: [Digits; 8] = [
    Digits::Minus,
    Digits::Zero,
    Digits::Whole,
    Digits::Point,
    Digits::Fraction,
    Digits::Exponent,
    Digits::Sign,
    Digits::Power,
];

/// Rests of the words.
const WORDS: [&str; 9] = ["rue", "ue", "e", "alse", "lse", "se", "ull", "ll", "l"];

/// Builds the automaton.
pub(super) fn automaton() -> Table {
    let mut states = vec![
        Text(Inside::Plain),
        Name(Inside::Plain),
        Value,
        First,
        FirstName,
        NextName,
        Colon,
        After,
    ];
    states.extend(INSIDE[1..].iter().map(|&inside| Text(inside)));
    states.extend(INSIDE[1..].iter().map(|&inside| Name(inside)));
    states.extend(DIGITS.map(Number));
    states.extend(WORDS.map(Word));
    table(&states, step, |_| 0)
}

fn step(state: JsonState, byte: Option<u8>) -> DocumentTransition<JsonState> {
    let fail = DocumentTransition::with(action::FAIL, state);
    let Some(byte) = byte else {
        return end(state);
    };
    let is_blank = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    match (state, byte) {
        (Text(Inside::Plain), b'"') => DocumentTransition::with(action::STRING_END, After),
        (Text(inside), _) => {
            within(inside, byte).map_or(fail, |next| DocumentTransition::to(Text(next)))
        }
        (Name(Inside::Plain), b'"') => DocumentTransition::to(Colon),
        (Name(inside), _) => within(inside, byte).map_or(fail, |next| {
            DocumentTransition::with(action::LETTER, Name(next))
        }),
        (Number(digits), _) => number(digits, byte),
        (Word(rest), _) if rest.bytes().next() == Some(byte) => match &rest[1..] {
            "" => DocumentTransition::with(action::WORD_END, After),
            rest => DocumentTransition::to(Word(rest)),
        },
        (Word(_), _) => fail,
        _ if is_blank => DocumentTransition::to(state),
        (First, b']') => DocumentTransition::with(action::ARRAY_END, After),
        (Value | First, _) => value(byte).unwrap_or(fail),
        (FirstName, b'}') => DocumentTransition::with(action::OBJECT_END, After),
        (FirstName | NextName, b'"') => DocumentTransition::with(action::NAME, Name(Inside::Plain)),
        (Colon, b':') => DocumentTransition::to(Value),
        (After, b',') => DocumentTransition::with(action::COMMA, NextName),
        (After, b'}') => DocumentTransition::with(action::OBJECT_END, After),
        (After, b']') => DocumentTransition::with(action::ARRAY_END, After),
        _ => fail,
    }
}

/// Returns the step at the end of the text.
fn end(state: JsonState) -> DocumentTransition<JsonState> {
    match state {
        Number(Digits::Zero | Digits::Whole | Digits::Fraction | Digits::Power) => {
            DocumentTransition::with(action::END, state).behind()
        }
        After => DocumentTransition::with(action::END, state),
        _ => DocumentTransition::with(action::CUT, state),
    }
}

fn value(byte: u8) -> Option<DocumentTransition<JsonState>> {
    let word = |rest| DocumentTransition::with(action::SCALAR, Word(rest));
    let number = |digits| DocumentTransition::with(action::SCALAR, Number(digits));
    Some(match byte {
        b'{' => DocumentTransition::with(action::OBJECT, FirstName),
        b'[' => DocumentTransition::with(action::ARRAY, First),
        b'"' => DocumentTransition::with(action::STRING, Text(Inside::Plain)),
        b't' => word("rue"),
        b'f' => word("alse"),
        b'n' => word("ull"),
        b'-' => number(Digits::Minus),
        b'0' => number(Digits::Zero),
        b'1'..=b'9' => number(Digits::Whole),
        _ => return None,
    })
}

/// Returns the position in a string after a byte; `None` if the byte is not allowed.
fn within(inside: Inside, byte: u8) -> Option<Inside> {
    let rest = |left, first, last| Some(Inside::Rest(left, first, last));
    match (inside, byte) {
        (Inside::Plain, b'\\') => Some(Inside::Escape),
        (Inside::Plain, 0x20..=0x7f) => Some(Inside::Plain),
        (Inside::Plain, 0xc2..=0xdf) => rest(1, 0x80, 0xbf),
        (Inside::Plain, 0xe0) => rest(2, 0xa0, 0xbf),
        (Inside::Plain, 0xed) => rest(2, 0x80, 0x9f),
        (Inside::Plain, 0xe1..=0xef) => rest(2, 0x80, 0xbf),
        (Inside::Plain, 0xf0) => rest(3, 0x90, 0xbf),
        (Inside::Plain, 0xf1..=0xf3) => rest(3, 0x80, 0xbf),
        (Inside::Plain, 0xf4) => rest(3, 0x80, 0x8f),
        (Inside::Escape, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
            Some(Inside::Plain)
        }
        (Inside::Escape, b'u') => Some(Inside::Hex(4)),
        (Inside::Hex(1), _) if byte.is_ascii_hexdigit() => Some(Inside::Plain),
        (Inside::Hex(left), _) if byte.is_ascii_hexdigit() => Some(Inside::Hex(left - 1)),
        (Inside::Rest(left, first, last), _) if (first..=last).contains(&byte) => match left {
            1 => Some(Inside::Plain),
            _ => rest(left - 1, 0x80, 0xbf),
        },
        _ => None,
    }
}

fn number(digits: Digits, byte: u8) -> DocumentTransition<JsonState> {
    use Digits::{Exponent, Fraction, Minus, Point, Power, Sign, Whole, Zero};
    let next = match (digits, byte) {
        (Minus, b'0') => Zero,
        (Minus, b'1'..=b'9') | (Whole, b'0'..=b'9') => Whole,
        (Zero | Whole, b'.') => Point,
        (Point | Fraction, b'0'..=b'9') => Fraction,
        (Zero | Whole | Fraction, b'e' | b'E') => Exponent,
        (Exponent, b'+' | b'-') => Sign,
        (Exponent | Sign | Power, b'0'..=b'9') => Power,
        (Minus | Point | Exponent | Sign, _) | (Zero, b'0'..=b'9') => {
            return DocumentTransition::with(action::FAIL, After);
        }
        (Zero | Whole | Fraction | Power, _) => {
            return step(After, Some(byte)).behind();
        }
    };
    DocumentTransition::to(Number(next))
}
