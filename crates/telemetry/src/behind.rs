//! What is behind the head of a message: its body, and where the next message begins.

use crate::messages::LOOKED_AT;
use payload::{Next, Reason, Taken, Wanted};

/// The digits that the length of a body may have: more than those of a file.
const MOST_DIGITS: usize = 10;

/// What is behind the head of a message.
pub(crate) struct Behind {
    /// Where its body begins.
    pub body: usize,
    /// Where the next message does.
    pub end: u64,
    /// Whether it has no body if a message like it begins there: what came of the body is too little to tell.
    pub unsure: bool,
}

impl Behind {
    /// Of a message that has no body.
    fn empty(body: usize) -> Behind {
        Behind {
            body,
            end: body as u64,
            unsure: false,
        }
    }
}

/// Where the body of a message begins, and what follows it, where messages of its kind do: of HTTP, requests that are sent without waiting for
/// answers (RFC 9112, section 9.3.2), and their answers. `None` if nothing says where that is. The values are those of the names in
/// [`payload::Next`], in its order.
pub(crate) fn behind(next: &Next, values: &[Option<Taken>], bytes: &[u8]) -> Option<Behind> {
    let (Some(Some(body)), Some(length)) = (values.first(), values.get(1)) else {
        return None;
    };
    let mut others = values.iter().skip(2);
    let unless = next.unless.as_ref().and_then(|_| others.next());
    let none = next.none.as_ref().zip(others.next());
    let number = none.and_then(|(_, taken)| match taken.as_ref()?.value {
        Some(payload::Value::Number(number)) => u64::try_from(number).ok(),
        _ => None,
    });
    let of_length = |length: u64| Behind {
        body: body.offset,
        end: body.offset as u64 + length,
        unsure: number.is_some(),
    };
    if none.is_some_and(|(none, _)| number.is_some_and(|number| none.is(Some(number)))) {
        return Some(Behind::empty(body.offset));
    }
    if let Some(Some(_)) = unless {
        return None;
    }
    let digits = match length {
        Some(taken) => match &taken.value {
            None => bytes.get(taken.offset..taken.offset + taken.length),
            Some(payload::Value::Bytes(digits)) => Some(digits.as_slice()),
            Some(payload::Value::Number(_)) => None,
        },
        None => None,
    };
    let length = match digits {
        None => 0,
        Some(digits) if (1..=MOST_DIGITS).contains(&digits.len()) => {
            let number = |sum: u64, digit: &u8| {
                let is_digit = digit.is_ascii_digit();
                is_digit.then(|| sum * 10 + u64::from(digit - b'0'))
            };
            digits.iter().try_fold(0, number)?
        }
        Some(_) => return None,
    };
    Some(of_length(length))
}

/// Looks whether another message begins in the place of a body, of which the capture left so many bytes out: an answer to HEAD announces a
/// body, and has none.
pub(crate) fn looked(bodiless: &mut Wanted, behind: Behind, message: &[u8], cut: usize) -> Behind {
    let body = message.get(behind.body..).unwrap_or_default();
    let came = (behind.body + body.len()) as u64;
    match begins(bodiless, body) {
        // All that was announced came, and more.
        None if came > behind.end => Behind::empty(behind.body),
        Some(true) => Behind::empty(behind.body),
        is_one => Behind {
            unsure: is_one.is_none() && came < behind.end && cut == 0,
            ..behind
        },
    }
}

/// Whether another message that may have no body begins with these bytes; `None` if they are too few to tell.
pub(crate) fn begins(bodiless: &mut Wanted, bytes: &[u8]) -> Option<bool> {
    let seen = &bytes[..bytes.len().min(LOOKED_AT)];
    let schema = bodiless.schema();
    if !schema.recognises(seen) {
        return (!schema.may_begin(seen)).then_some(false);
    }
    let answer = bodiless.read(seen);
    let is_one = answer.values.iter().all(Option::is_some);
    let is_short = seen.len() < LOOKED_AT && answer.malformed.is_some_and(is_cut);
    (is_one || !is_short).then_some(is_one)
}

/// Whether more bytes may mend what is wrong with a message.
pub(crate) fn is_cut(reason: Reason) -> bool {
    matches!(reason, Reason::Truncated | Reason::LengthPastEnd)
}
