//! End of a message: its body, and the position of the next message.

use crate::awaited::Awaited;
use payload::{Exchange, Next, Reason, Sides, Taken, Value, chunks};

/// Greatest number of digits in the length of a body: more than any file has.
const MOST_DIGITS: usize = 10;

/// End of a body that extends to the end of its connection.
pub(crate) const NO_END: u64 = u64::MAX;

/// Part of a message after its head.
pub(crate) struct Behind {
    /// Offset of its body.
    pub body: usize,
    /// Offset of the next message. For a body without an end, [`NO_END`]; for a chunked body that continues, its state
    /// at the end of the bytes ([`chunks::pass`]).
    pub end: u64,
}

/// Names of the attributes that locate the next message. Each is read, and is found again by its index.
pub(crate) struct Signs<'s> {
    next: &'s Next,
    exchange: Option<&'s Exchange>,
    names: Vec<&'s str>,
}

impl<'s> Signs<'s> {
    /// Collects the names for a schema whose messages follow one another.
    pub(crate) fn new(next: &'s Next, exchange: Option<&'s Exchange>) -> Signs<'s> {
        let mut names = vec![next.body.as_str(), &next.length];
        names.extend(next.chunked.as_deref());
        names.extend(next.none.as_ref().map(|none| none.attribute.as_str()));
        names.extend(next.to_end.as_deref());
        // The kind of a request matters only if some answers depend on it.
        let exchange = exchange.filter(|_| !next.answers.is_empty());
        names.extend(exchange.iter().flat_map(|exchange| exchange.attributes()));
        Signs {
            next,
            exchange,
            names,
        }
    }

    /// Returns the names, which may have duplicates.
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

    /// Locates the body of a message, and the message that follows. In HTTP, these are pipelined requests (RFC 9112,
    /// section 9.3.2) and their answers. `values` are those of [`Signs::names`]. `None` if nothing locates the next
    /// message.
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

    /// Records a request, or returns the kind of the request that a response answers: 0 if it is not known.
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

/// Parses a number in decimal digits.
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

/// Returns true if further bytes might complete the message.
pub(crate) fn is_cut(reason: Reason) -> bool {
    matches!(reason, Reason::Truncated | Reason::LengthPastEnd)
}
