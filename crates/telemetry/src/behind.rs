//! What is behind the head of a message: its body, and where the next message begins.

use crate::awaited::Awaited;
use payload::{Exchange, Next, Reason, Sides, Taken, Value, chunks};

/// The digits that the length of a body may have: more than those of a file.
const MOST_DIGITS: usize = 10;

/// The end of a body that is all that follows on its connection.
pub(crate) const NO_END: u64 = u64::MAX;

/// What is behind the head of a message.
pub(crate) struct Behind {
    /// Where its body begins.
    pub body: usize,
    /// The offset of the next message; [`NO_END`], or where in a body in chunks the bytes end ([`chunks::pass`]).
    pub end: u64,
}

/// Names of the attributes that tell where the next message begins: each is asked for, and is found again by its place.
pub(crate) struct Signs<'s> {
    next: &'s Next,
    exchange: Option<&'s Exchange>,
    names: Vec<&'s str>,
}

impl<'s> Signs<'s> {
    /// Those of a schema whose messages follow one another.
    pub(crate) fn new(next: &'s Next, exchange: Option<&'s Exchange>) -> Signs<'s> {
        let mut names = vec![next.body.as_str(), &next.length];
        names.extend(next.chunked.as_deref());
        names.extend(next.none.as_ref().map(|none| none.attribute.as_str()));
        names.extend(next.to_end.as_deref());
        // Which requests these are matters to some answers only.
        let exchange = exchange.filter(|_| !next.answers.is_empty());
        names.extend(exchange.iter().flat_map(|exchange| exchange.attributes()));
        Signs {
            next,
            exchange,
            names,
        }
    }

    /// The names, some of which may stand twice.
    pub(crate) fn names(&self) -> &[&'s str] {
        &self.names
    }

    fn value<'v>(&self, values: &'v [Option<Taken>], name: &str) -> Option<&'v Taken> {
        let place = self.names.iter().position(|known| *known == name)?;
        values.get(place)?.as_ref()
    }

    fn number(&self, values: &[Option<Taken>], name: &str) -> Option<u64> {
        match self.value(values, name)?.value {
            Some(Value::Number(number)) => u64::try_from(number).ok(),
            _ => None,
        }
    }

    /// Finds where the body of a message begins, and what follows it, where messages of its kind do: of HTTP, requests that are sent without waiting for
    /// answers (RFC 9112, section 9.3.2), and their answers. `None` if nothing says where that is. The values are those of the names.
    pub(crate) fn behind(
        &self,
        values: &[Option<Taken>],
        bytes: &[u8],
        kind: usize,
    ) -> Option<Behind> {
        let next = self.next;
        let body = self.value(values, &next.body)?.offset;
        let end_at = |end| Some(Behind { body, end });
        if let Some(none) = &next.none
            && let Some(number) = self.number(values, &none.attribute)
            && (none.is(Some(number)) || next.is_bodiless(kind, number))
        {
            return end_at(body as u64);
        }
        let has = |name: &Option<String>| {
            let name = name.as_ref();
            name.is_some_and(|name| self.value(values, name).is_some())
        };
        let chunked = next.chunked.as_ref();
        if let Some(coding) = chunked.and_then(|name| self.value(values, name)) {
            if !chunks::is_chunked(coding.bytes(bytes)?) {
                return has(&next.to_end).then_some(Behind { body, end: NO_END });
            }
            return match chunks::pass(bytes.get(body..)?, chunks::BEGIN) {
                chunks::LOST => None,
                state @ chunks::BEGIN.. => end_at(state),
                passed => end_at(body as u64 + passed),
            };
        }
        let Some(length) = self.value(values, &next.length) else {
            return end_at(match has(&next.to_end) {
                true => NO_END,
                false => body as u64,
            });
        };
        end_at(body as u64 + decimal(length.bytes(bytes)?)?)
    }

    /// Takes note of a request, or finds of which kind the one was that a response answers: 0 if that is not known.
    pub(crate) fn paired(
        &self,
        values: &[Option<Taken>],
        bytes: &[u8],
        (awaited, asks): (&mut Awaited, &mut Awaited),
    ) -> usize {
        let Some(Exchange {
            sides: Sides::Attributes { request, response },
            ..
        }) = self.exchange
        else {
            return 0;
        };
        if let Some(asked) = self.value(values, &request.attribute) {
            let kind = asked
                .bytes(bytes)
                .map_or(0, |asked| self.next.kind_of(asked));
            asks.ask(kind);
            return 0;
        }
        match self.number(values, &response.attribute) {
            Some(number) if response.is(Some(number)) => awaited.answer(),
            _ => 0,
        }
    }
}

/// The number that some digits are.
fn decimal(digits: &[u8]) -> Option<u64> {
    if !(1..=MOST_DIGITS).contains(&digits.len()) {
        return None;
    }
    let add = |sum: u64, digit: &u8| {
        let is_digit = digit.is_ascii_digit();
        is_digit.then(|| sum * 10 + u64::from(digit - b'0'))
    };
    digits.iter().try_fold(0, add)
}

/// Whether more bytes may mend what is wrong with a message.
pub(crate) fn is_cut(reason: Reason) -> bool {
    matches!(reason, Reason::Truncated | Reason::LengthPastEnd)
}
