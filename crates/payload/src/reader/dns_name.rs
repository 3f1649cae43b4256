//! DNS names: labels, and pointers to earlier labels (RFC 1035, sections 3.1 and 4.1.4).

use super::Reason;
use super::input::Window;
use super::malformed::{Stop, stop};

/// Greatest size of a name in bytes, lengths included (RFC 1035, section 3.1).
const LONGEST: usize = 255;

/// Greatest number of labels and pointers that a message's names may reach by pointers, for each byte of the message.
/// It is about one a byte if every record points to a name of 34 labels, such as the reverse name of an IPv6 address.
pub const POINTED_TO_A_BYTE: usize = 2;

/// Reads a name. Returns the offset of its end, and its text with dots. Pointers count from the start of the input.
///
/// A pointer leads to a prior name: it points before the labels that it continues, and the labels it points to end
/// before them. So following pointers always terminates.
///
/// `pointed_to` is the number of labels and pointers that may still be read through pointers in this message. Without
/// such a bound, many names of two bytes each could lead to everything before them. The number is compared at each
/// pointer and at the end of the name.
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
    let mut iterations = 0;
    loop {
        if next.is_some() {
            if at >= bound {
                return stop(Reason::PointerLoop, at);
            }
            iterations += 1;
        }
        let here = window.from(at);
        let Some(&length) = here.first() else {
            return stop(Reason::Truncated, window.end);
        };
        match length >> 6 {
            0 if length == 0 => match pointed_to.checked_sub(iterations) {
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
                if target >= limit || iterations > *pointed_to {
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

/// Escapes a byte of a label for text (RFC 4343, section 2.1).
fn escaped(byte: u8) -> Vec<u8> {
    match byte {
        b'.' | b'\\' => vec![b'\\', byte],
        b'!'..=b'~' => vec![byte],
        _ => format!("\\{byte:03}").into_bytes(),
    }
}
