//! DNS names: labels, and pointers to labels further to the front (RFC 1035, sections 3.1 and 4.1.4).

use super::Reason;
use super::input::Window;
use super::malformed::{Stop, stop};

/// Bytes of a name with its lengths (RFC 1035, section 3.1).
const LONGEST: usize = 255;

/// Labels and pointers that the names of a message may lead to by pointers, for each byte of the message. Where each record leads to a
/// name of 34 labels, as addresses of IPv6 have, it is about one.
pub const POINTED_TO_A_BYTE: usize = 2;

/// Reads a name: where it ends, and its text with dots. Pointers count from the start of the input.
///
/// A pointer leads to a prior name: it points in front of the labels that it continues, and what it points to ends in
/// front of them. So following pointers always ends. `pointed_to` is the number of labels and pointers that may still be read behind
/// pointers in this message: names of two bytes each could lead to all that is in front of them. A name is compared with it at each pointer
/// and at its end.
pub(super) fn read(
    window: Window,
    start: usize,
    pointed_to: &mut usize,
) -> Result<(usize, Vec<u8>), Stop> {
    let mut text = Vec::new();
    let (mut at, mut limit) = (start, start);
    let mut bound = window.end;
    let mut next = None;
    let mut total = 1;
    let mut turns = 0;
    loop {
        if next.is_some() {
            if at >= bound {
                return stop(Reason::PointerLoop, at);
            }
            turns += 1;
        }
        let here = window.from(at);
        let Some(&length) = here.first() else {
            return stop(Reason::Truncated, window.end);
        };
        match length >> 6 {
            0 if length == 0 => match pointed_to.checked_sub(turns) {
                Some(left) => {
                    *pointed_to = left;
                    break;
                }
                None => return stop(Reason::PointerLoop, at),
            },
            0 => {
                let Some(label) = here.get(1..=usize::from(length)) else {
                    return stop(Reason::LengthPastEnd, at);
                };
                total += label.len() + 1;
                if total > LONGEST {
                    return stop(Reason::Unexpected, at);
                }
                if !text.is_empty() {
                    text.push(b'.');
                }
                text.extend(label.iter().flat_map(|&byte| escaped(byte)));
                at += 1 + label.len();
            }
            3 => {
                let Some(&low) = here.get(1) else {
                    return stop(Reason::Truncated, window.end);
                };
                let target = usize::from(length & 0x3f) << 8 | usize::from(low);
                if target >= limit || turns > *pointed_to {
                    return stop(Reason::PointerLoop, at);
                }
                next.get_or_insert(at + 2);
                bound = limit;
                (at, limit) = (target, target);
            }
            _ => return stop(Reason::Unexpected, at),
        }
    }
    if text.is_empty() {
        text.push(b'.');
    }
    Ok((next.unwrap_or(at + 1), text))
}

/// A byte of a label in text (RFC 4343, section 2.1).
fn escaped(byte: u8) -> Vec<u8> {
    match byte {
        b'.' | b'\\' => vec![b'\\', byte],
        b'!'..=b'~' => vec![byte],
        _ => format!("\\{byte:03}").into_bytes(),
    }
}
