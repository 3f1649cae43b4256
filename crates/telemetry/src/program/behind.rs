//! End of a message in P4: its body, and the next message. [`crate::behind`] does the same.

use super::attribute::messages;
use super::message::{SEGMENT, apply};
use super::p4::{Block, Expr, Stmt, Type, all, any, declare, name, number, text, variable};
use payload::{AttributeKind, Exchange, Next, Schema, Side, Sides};

/// Number of bytes of a request's attribute that identify its kind.
const WIDTH: usize = 8;

/// Emits the statements that locate the next message. With `awaits`, they record the requests that wait for answers.
pub(super) fn behind(schema: &Schema, next: &Next, awaits: bool) -> Block {
    let mut out = Block::new();
    let mut numbers = Numbers {
        schema,
        known: Vec::new(),
    };
    let no = || Expr::Bool(false);
    let (mut asks, mut kind, mut answers) = (no(), number(0u8), no());
    if let (
        true,
        Some(Exchange {
            sides: Sides::Attributes { request, response },
            ..
        }),
    ) = (awaits, &schema.exchange)
    {
        out.extend(bytes_of(&request.attribute));
        let kinds = next.answers.iter().zip(1u64..);
        let kinds = kinds.map(|(answers, kind)| {
            let is_it = bit(is_text(&answers.to)).cast(Type::Bits(2));
            is_it.binary("*", number(kind))
        });
        kind = kinds.reduce(|a, b| a.binary("|", b)).unwrap_or(kind);
        asks = name(HAS_REQUEST);
        let is_answer = numbers.is(response, &mut out);
        out.push(declare(Type::Bits(1), IS_ANSWER, is_answer));
        answers = name(IS_ANSWER).equals(number(1u8));
    }
    let mut emptiness = vec![bit(no()); 4];
    if let Some(none) = &next.none {
        let always = numbers.is(none, &mut out);
        out.push(declare(Type::Bits(1), IS_EMPTY, always));
        let (has, value) = numbers.of(&none.attribute, &mut out);
        for (kind, answers) in next.answers.iter().enumerate() {
            let (least, most) = answers.numbers.clone().into_inner();
            let least = (least > 0).then(|| value.clone().binary(">=", number(least)));
            let most = (most < u64::MAX).then(|| value.clone().binary("<=", number(most)));
            let between = all([has.clone()].into_iter().chain(least).chain(most));
            let is_empty = name(IS_EMPTY).binary("|", bit(between));
            out.push(declare(Type::Bits(1), is_empty_of(kind), is_empty));
        }
        let of_kind = |kind: usize| match kind.checked_sub(1) {
            Some(kind) if kind < next.answers.len() => name(is_empty_of(kind)),
            _ => name(IS_EMPTY),
        };
        emptiness = (0..4).map(of_kind).collect();
    }
    let to_end = match &next.to_end {
        Some(attribute) => numbers.of(attribute, &mut out).0,
        None => no(),
    };
    // The first kind is the lowest bit.
    let emptiness = emptiness.into_iter().rev();
    let emptiness = emptiness.reduce(|a, b| a.binary("++", b)).unwrap_or(no());
    let head = Expr::List(vec![asks, kind, answers, emptiness, to_end]);
    out.push(apply("body", vec![name(SEGMENT), head]));
    out
}

/// Names of variables of one bit each. Messages with different values share the code after them, so the verifier
/// explores it once.
const IS_ANSWER: &str = "is_answer";
const IS_EMPTY: &str = "is_empty";

fn is_empty_of(kind: usize) -> String {
    format!("{IS_EMPTY}{}", kind + 1)
}

const HAS_REQUEST: &str = "is_asking";
const REQUEST: &str = "asking";
const REQUEST_LENGTH: &str = "asking_length";

/// Emits the statements that read the identifying attribute of requests.
fn bytes_of(attribute: &str) -> [Stmt; 3] {
    let args = vec![text(attribute), name(REQUEST), name(REQUEST_LENGTH)];
    [
        variable(Type::Bits(8 * WIDTH as u32), REQUEST),
        variable(Type::Bits(32), REQUEST_LENGTH),
        declare(Type::Bool, HAS_REQUEST, messages("get_bytes", args)),
    ]
}

/// Tests that this attribute has these bytes.
fn is_text(bytes: &[u8]) -> Expr {
    let mut padded = bytes.to_vec();
    padded.resize(WIDTH, 0);
    let same = name(REQUEST).equals(Expr::Bytes(padded));
    let length = name(REQUEST_LENGTH).equals(number(bytes.len() as u64));
    all([name(HAS_REQUEST), length, same])
}

fn bit(condition: Expr) -> Expr {
    condition.cast(Type::Bits(1))
}

/// Attributes of a message that are numbers, each read once.
struct Numbers<'s> {
    schema: &'s Schema,
    known: Vec<&'s str>,
}

impl<'s> Numbers<'s> {
    /// Returns the variables of an attribute: its presence and its value.
    fn of(&mut self, attribute: &'s str, out: &mut Block) -> (Expr, Expr) {
        let place = self.known.iter().position(|known| *known == attribute);
        let place = place.unwrap_or_else(|| {
            let place = self.known.len();
            self.known.push(attribute);
            let (has, value) = names(place);
            let kind = self.schema.asked(attribute).map(|asked| asked.kind);
            out.push(variable(Type::Bits(64), value.clone()));
            let get = match kind {
                Ok(AttributeKind::Number { .. }) => {
                    messages("get_number", vec![text(attribute), name(value)])
                }
                _ => {
                    let length = format!("{value}_length");
                    out.push(variable(Type::Bits(32), length.clone()));
                    messages(
                        "get_bytes",
                        vec![text(attribute), name(value), name(length)],
                    )
                }
            };
            out.push(declare(Type::Bool, has, get));
            place
        });
        let (has, value) = names(place);
        (name(has), name(value))
    }

    /// Computes the bit that is set if a message is of a side.
    fn is(&mut self, side: &'s Side, out: &mut Block) -> Expr {
        let (has, value) = self.of(&side.attribute, out);
        let among = |numbers: &[u64]| {
            let ranges = ranges(numbers).into_iter();
            bit(any(ranges.map(|(first, more)| match more {
                0 => value.clone().equals(number(first)),
                _ => value
                    .clone()
                    .binary("-", number(first))
                    .binary("<=", number(more)),
            })))
        };
        let mut is = bit(has);
        if !side.values.is_empty() {
            is = is.binary("&", among(&side.values));
        }
        if !side.except.is_empty() {
            let none = among(&side.except).binary("^", number(1u8));
            is = is.binary("&", none);
        }
        is
    }
}

/// Groups numbers into ranges: the first number of each, and how many follow it.
fn ranges(numbers: &[u64]) -> Vec<(u64, u64)> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for number in sorted {
        match ranges.last_mut() {
            Some((first, more)) if *first + *more + 1 == number => *more += 1,
            _ => ranges.push((number, 0)),
        }
    }
    ranges
}

fn names(place: usize) -> (String, String) {
    (format!("has_sign{place}"), format!("sign{place}"))
}
