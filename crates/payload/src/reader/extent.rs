//! Extents of fields.

use super::input::Window;
use super::layout::Frame;
use super::malformed::{Stop, stop};
use super::notes::Notes;
use super::{Reader, Reason, dns_name};
use crate::{Extent, MessageField};

/// Extent of a field.
pub(super) struct Bounds {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Offset of the next field.
    pub(super) next: usize,
    /// Its number, if the extent itself is one.
    pub(super) number: Option<i128>,
    /// Its text, if that differs from its bytes.
    pub(super) text: Option<Vec<u8>>,
}

impl Bounds {
    fn of(start: usize, end: usize) -> Bounds {
        Bounds {
            start,
            end,
            next: end,
            number: None,
            text: None,
        }
    }
}

impl<N: Notes> Reader<'_, N> {
    /// Returns the extent of a field that begins at `at`, after its tag.
    pub(super) fn bounds(
        &mut self,
        field: &MessageField,
        frame: &mut Frame,
        window: Window,
        at: usize,
    ) -> Result<Bounds, Stop> {
        let left = window.end.saturating_sub(at);
        match &field.extent {
            Extent::Bits(width) => bits(*width, frame, window, at),
            Extent::Size(size) if *size <= left => Ok(Bounds::of(at, at + size)),
            Extent::Size(_) => stop(Reason::Truncated, window.end),
            Extent::Length(sum) => {
                let length = sum.value(|field| self.number(frame, field));
                match usize::try_from(length) {
                    Ok(length) if length <= left => Ok(Bounds::of(at, at + length)),
                    _ => stop(Reason::LengthPastEnd, at),
                }
            }
            Extent::Until {
                ends,
                or_end,
                keep_end,
            } => {
                let bounds = until(field, (ends, *or_end), window, at)?;
                let next = if *keep_end { bounds.end } else { bounds.next };
                Ok(Bounds { next, ..bounds })
            }
            Extent::Rest => Ok(Bounds::of(at, at + left)),
            Extent::Varint => varint(window, at),
            Extent::DnsName => {
                let (next, text) = dns_name::read(window, at, &mut self.pointed_to)?;
                Ok(Bounds {
                    text: Some(text),
                    ..Bounds::of(at, next)
                })
            }
            Extent::Contents | Extent::Joined { .. } => Ok(Bounds::of(at, at)),
        }
    }
}

fn bits(width: u32, frame: &mut Frame, window: Window, at: usize) -> Result<Bounds, Stop> {
    let bytes = (frame.bit + width).div_ceil(8) as usize;
    let Some(touched) = window.from(at).get(..bytes) else {
        return stop(Reason::Truncated, window.end);
    };
    let all = touched
        .iter()
        .fold(0, |sum: u128, &b| sum << 8 | u128::from(b));
    let behind = bytes as u32 * 8 - frame.bit - width;
    let value = (all >> behind) & ((1 << width) - 1);
    let end = frame.bit + width;
    frame.bit = end % 8;
    Ok(Bounds {
        next: at + (end / 8) as usize,
        number: Some(value as i128),
        ..Bounds::of(at, at + bytes)
    })
}

fn until(
    field: &MessageField,
    (ends, or_end): (&[Vec<u8>], bool),
    window: Window,
    at: usize,
) -> Result<Bounds, Stop> {
    for end in at..window.end {
        if let Some(length) = window.stands(ends, end) {
            return Ok(Bounds {
                next: end + length,
                ..Bounds::of(at, end)
            });
        }
    }
    match or_end {
        true => Ok(Bounds::of(at, window.end.max(at))),
        false => match wrong(field, ends, window.from(at)) {
            Some(wrong) => stop(Reason::Unexpected, at + wrong),
            None => stop(Reason::Truncated, window.end),
        },
    }
}

/// Returns the index of the first byte that the field cannot have; `bytes` do not contain its end.
fn wrong(field: &MessageField, ends: &[Vec<u8>], bytes: &[u8]) -> Option<usize> {
    let chars = field.chars_to_end().filter(|_| field.shows_early())?;
    let begins = |last: &u8| ends.iter().any(|end| end.len() > 1 && end[0] == *last);
    let rest = bytes.split_last().filter(|(last, _)| begins(last));
    let seen = rest.map_or(bytes, |(_, seen)| seen);
    seen.iter().position(|&byte| !chars.contains(byte))
}

fn varint(window: Window, at: usize) -> Result<Bounds, Stop> {
    let mut number = 0;
    for (index, &byte) in window.from(at).iter().take(4).enumerate() {
        number |= i128::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Ok(Bounds {
                number: Some(number),
                ..Bounds::of(at, at + index + 1)
            });
        }
    }
    match window.from(at).len() < 4 {
        true => stop(Reason::Truncated, window.end),
        false => stop(Reason::Unexpected, at),
    }
}
