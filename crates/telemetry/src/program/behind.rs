//! Finding the body of a message and the next one, as P4: [`crate::behind`] does the same.

use super::attribute::messages;
use super::message::{SEGMENT, apply};
use super::p4::{Block, Expr, Stmt, Type, all, any, declare, name, number, text, variable};
use payload::{Exchange, Kind, Next, Schema, Side, Sides};

/// Bytes of a request's attribute by which its kind is known.
const WIDTH: usize = 8;

/// The statements that find the next message. With `awaits`, they keep which requests wait for their answers.
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
        answers = numbers.is(response, &mut out);
    }
    let mut emptiness = vec![bit(no()); 4];
    if let Some(none) = &next.none {
        let always = numbers.is(none, &mut out);
        let (has, value) = numbers.of(&none.attribute, &mut out);
        let of_kind = |kind: usize| {
            let known = next.answers.get(kind.wrapping_sub(1));
            let between = known.map(|answers| {
                let (least, most) = answers.numbers.clone().into_inner();
                let least = (least > 0).then(|| value.clone().binary(">=", number(least)));
                let most = (most < u64::MAX).then(|| value.clone().binary("<=", number(most)));
                all([has.clone()].into_iter().chain(least).chain(most))
            });
            bit(any([always.clone()].into_iter().chain(between)))
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

const HAS_REQUEST: &str = "is_asking";
const REQUEST: &str = "asking";
const REQUEST_LENGTH: &str = "asking_length";

/// The statements that read the attribute of requests.
fn bytes_of(attribute: &str) -> [Stmt; 3] {
    let args = vec![text(attribute), name(REQUEST), name(REQUEST_LENGTH)];
    [
        variable(Type::Bits(8 * WIDTH as u32), REQUEST),
        variable(Type::Bits(32), REQUEST_LENGTH),
        declare(Type::Bool, HAS_REQUEST, messages("get_bytes", args)),
    ]
}

/// The condition that it is these bytes.
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

/// The attributes of a message that are numbers, each read once.
struct Numbers<'s> {
    schema: &'s Schema,
    known: Vec<&'s str>,
}

impl<'s> Numbers<'s> {
    /// Variables that say that an attribute is there, and its value.
    fn of(&mut self, attribute: &'s str, out: &mut Block) -> (Expr, Expr) {
        let place = self.known.iter().position(|known| *known == attribute);
        let place = place.unwrap_or_else(|| {
            let place = self.known.len();
            self.known.push(attribute);
            let (has, value) = names(place);
            let kind = self.schema.asked(attribute).map(|asked| asked.kind);
            out.push(variable(Type::Bits(64), value.clone()));
            let get = match kind {
                Ok(Kind::Number { .. }) => {
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

    /// The condition that a message is of a side.
    fn is(&mut self, side: &'s Side, out: &mut Block) -> Expr {
        let (has, value) = self.of(&side.attribute, out);
        let values = side.values.iter();
        let one = any(values.map(|&wanted| value.clone().equals(number(wanted))));
        let one = (!side.values.is_empty()).then_some(one);
        let excepted = side.except.iter();
        let none = excepted.map(|&other| value.clone().binary("!=", number(other)));
        all([has].into_iter().chain(one).chain(none))
    }
}

fn names(place: usize) -> (String, String) {
    (format!("has_sign{place}"), format!("sign{place}"))
}
