//! Fields: repetition, tag, extent and contents.

use super::extent::Bounds;
use super::input::{Input, Window};
use super::json::LocatedScalar;
use super::layout::{Frame, Shared, Slot, fault, progress};
use super::malformed::{Halt, Stop, stop};
use super::notes::Notes;
use super::{Reader, Reason, json, xml};
use crate::{CharSet, Contents, Extent, FieldId, LayoutId, MessageField, Repeat};

impl<N: Notes> Reader<'_, N> {
    /// Reads all occurrences of a field. Returns the offset after them.
    pub(super) fn field(
        &mut self,
        frame: &mut Frame,
        id: FieldId,
        window: Window,
        mut at: usize,
    ) -> Result<usize, Halt> {
        let schema = self.schema;
        let field = &schema.layouts[frame.layout].fields[id];
        let when = field.when.as_ref();
        if when.is_some_and(|when| !when.holds(|field| self.number(frame, field))) {
            return Ok(at);
        }
        let mut index = 0;
        match &field.repeat {
            Repeat::Once => return self.instance(frame, id, window, at, frame.index),
            Repeat::Optional if at >= window.end => {}
            Repeat::Optional => return self.instance(frame, id, window, at, frame.index),
            Repeat::ToEnd => {
                while at < window.end {
                    at = self.repeated(frame, id, window, at, index)?;
                    index += 1;
                }
            }
            Repeat::Count(sum) => {
                let times = sum.value(|field| self.number(frame, field));
                while (index as i128) < times {
                    at = self.repeated(frame, id, window, at, index)?;
                    index += 1;
                }
            }
            Repeat::Stop(ends) => loop {
                if let Some(length) = window.stands(ends, at) {
                    return Ok(at + length);
                }
                let rest = window.from(at);
                // The bytes that are left may be the start of a stop string.
                if ends.iter().any(|end| end.starts_with(rest)) {
                    let short = Stop {
                        reason: Reason::Truncated,
                        at,
                    };
                    return Err(fault(frame, id, window, short));
                }
                at = self.repeated(frame, id, window, at, index)?;
                index += 1;
            },
            Repeat::Chain(first) => {
                let Contents::Layout(item) = field.contents else {
                    return Ok(at);
                };
                let name = &schema.layouts[frame.layout].fields[*first].name;
                let mut names = schema.layouts[item].fields.iter();
                let Some(link) = names.position(|field| &field.name == name) else {
                    return Ok(at);
                };
                let mut next = self.number(frame, *first);
                while next != 0 {
                    let inner = window.inner(window.end);
                    let shared = Shared {
                        field: link,
                        number: Some(next),
                    };
                    let (end, read) = self.layout(item, inner, at, index, Some(shared))?;
                    at = progress(at, end).map_err(|stop| fault(frame, id, window, stop))?;
                    next = read.and_then(|slot| slot.number).unwrap_or(0);
                    index += 1;
                }
            }
        }
        Ok(at)
    }

    /// Reads one instance of a repetition, which must consume at least one byte.
    fn repeated(
        &mut self,
        frame: &mut Frame,
        id: FieldId,
        window: Window,
        at: usize,
        index: usize,
    ) -> Result<usize, Halt> {
        let end = self.instance(frame, id, window, at, index)?;
        progress(at, end).map_err(|stop| fault(frame, id, window, stop))
    }

    fn instance(
        &mut self,
        frame: &mut Frame,
        id: FieldId,
        window: Window,
        at: usize,
        index: usize,
    ) -> Result<usize, Halt> {
        let schema = self.schema;
        let field = &schema.layouts[frame.layout].fields[id];
        if let Some(size) = plain_size(field) {
            return self.plain(frame, id, window, at, size);
        }
        let faulty = |frame: &Frame, stop| fault(frame, id, window, stop);
        let at = skip(field, window, at).map_err(|stop| faulty(frame, stop))?;
        let at = tag(field, window, at).map_err(|stop| faulty(frame, stop))?;
        if let Extent::Joined { layout, part } = field.extent {
            return self.joined(frame, id, window, at, (layout, part));
        }
        let bounds = self.bounds(field, frame, window, at);
        let bounds = bounds.map_err(|stop| faulty(frame, stop))?;
        let inside = check(field, window, &bounds).map_err(|stop| faulty(frame, stop))?;
        followed(field, window, bounds.next).map_err(|stop| faulty(frame, stop))?;
        let slot = Slot {
            start: inside.0,
            end: inside.1,
            number: number(field, window, &bounds, inside).map_err(|stop| faulty(frame, stop))?,
        };
        let next = bounds.next;
        let is_open = field.extent == Extent::Contents;
        let chosen = choose(field, self.slots(frame), window, inside, is_open);
        let chosen = chosen.map_err(|stop| faulty(frame, stop))?;
        let Some(layout) = chosen else {
            self.note(frame, id, window, slot, bounds.text)?;
            return self.members(frame, id, window, inside).map(|()| next);
        };
        let end = if is_open { window.end } else { inside.1 };
        let (end, _) = self.layout(layout, window.inner(end), inside.0, index, None)?;
        if is_open {
            let slot = Slot { end, ..slot };
            self.note(frame, id, window, slot, None)?;
            Ok(end)
        } else {
            self.note(frame, id, window, slot, None)?;
            Ok(next)
        }
    }

    /// Reads a field of constant size that needs no check. Most fields of most messages are such.
    fn plain(
        &mut self,
        frame: &Frame,
        id: FieldId,
        window: Window,
        at: usize,
        size: usize,
    ) -> Result<usize, Halt> {
        let Some(bytes) = window.from(at).get(..size) else {
            let short = Stop {
                reason: Reason::Truncated,
                at: window.end,
            };
            return Err(fault(frame, id, window, short));
        };
        let number = match self.schema.layouts[frame.layout].fields[id].contents {
            Contents::Number { little_endian } => Some(whole(bytes, little_endian)),
            _ => None,
        };
        let (start, end) = (at, at + size);
        let slot = Slot { start, end, number };
        self.note(frame, id, window, slot, None)?;
        Ok(end)
    }

    /// Concatenates a field of consecutive instances and reads the result. An instance that is malformed or incomplete
    /// ends them.
    fn joined(
        &mut self,
        frame: &mut Frame,
        id: FieldId,
        window: Window,
        at: usize,
        (layout, part): (LayoutId, FieldId),
    ) -> Result<usize, Halt> {
        let mut parts = Vec::new();
        let mut next = at;
        let is_inside = self.incomplete.is_some();
        let shared = Shared {
            field: part,
            number: None,
        };
        while next < window.end {
            let inner = window.inner(window.end);
            match self.layout(layout, inner, next, parts.len(), Some(shared)) {
                Ok((end, part)) if end > next => {
                    parts.extend(part.map(|part| (part.start, part.end)));
                    next = end;
                }
                Err(halt) if parts.is_empty() || matches!(halt, Halt::Done) => return Err(halt),
                _ => {
                    // Unless all of it is inside such an instance, its values are forgotten.
                    if !is_inside {
                        self.forget_incomplete();
                    }
                    break;
                }
            }
        }
        let input = Input::joined(window.input, &parts);
        let inner = Window::of(&input, window.depth + 1);
        match self.schema.layouts[frame.layout].fields[id].contents {
            Contents::Layout(layout) => self.layout(layout, inner, 0, 0, None)?.0,
            _ => 0,
        };
        Ok(next)
    }

    /// Reads the members of JSON or XML in a field.
    fn members(
        &mut self,
        frame: &Frame,
        id: FieldId,
        window: Window,
        inside: (usize, usize),
    ) -> Result<(), Halt> {
        let document = Window {
            end: inside.1,
            ..window
        };
        let limit = self.schema.limits.depth;
        let place = (frame.layout, id);
        let notes = &mut self.notes;
        let mut found = |member: LocatedScalar| notes.member(place, window, &member);
        let done = match self.schema.layouts[frame.layout].fields[id].contents {
            Contents::Json => json::read(document, inside.0, limit, &mut found),
            Contents::Xml => xml::read(document, inside.0, limit, &mut found),
            _ => return Ok(()),
        };
        done.map_err(|stop| fault(frame, id, window, stop))?;
        self.go_on()
    }
}

/// Returns the size of a field that may have any bytes: nothing precedes it, and nothing in it is checked.
fn plain_size(field: &MessageField) -> Option<usize> {
    let Extent::Size(size) = field.extent else {
        return None;
    };
    let is_plain = matches!(field.contents, Contents::Bytes | Contents::Number { .. })
        && field.tag.is_empty()
        && field.skip.is_empty()
        && field.trim.is_none()
        && field.chars.is_none()
        && field.followed_by.is_none()
        && field.min <= size
        && field.max.is_none_or(|max| size <= max);
    is_plain.then_some(size)
}

/// Decodes bytes as a whole number.
fn whole(bytes: &[u8], little_endian: bool) -> i128 {
    let fold = |sum: i128, &byte: &u8| sum << 8 | i128::from(byte);
    match little_endian {
        true => bytes.iter().rev().fold(0, fold),
        false => bytes.iter().fold(0, fold),
    }
}

/// Passes over byte strings that may precede the field.
fn skip(field: &MessageField, window: Window, mut at: usize) -> Result<usize, Stop> {
    while let Some(length) = window.stands(&field.skip, at).filter(|&length| length > 0) {
        at += length;
    }
    let rest = window.from(at);
    // The bytes that are left may be the start of another such string.
    let is_cut = !rest.is_empty() && field.skip.iter().any(|bytes| bytes.starts_with(rest));
    match is_cut {
        true => stop(Reason::Truncated, window.end),
        false => Ok(at),
    }
}

/// Passes over the tag.
fn tag(field: &MessageField, window: Window, at: usize) -> Result<usize, Stop> {
    let here = window.from(at);
    if here.starts_with(&field.tag) {
        return Ok(at + field.tag.len());
    }
    match field.tag.starts_with(here) {
        true => stop(Reason::Truncated, window.end.max(at)),
        false => stop(Reason::Unexpected, at),
    }
}

/// Trims the field, and checks its bytes. Returns its start and end.
fn check(field: &MessageField, window: Window, bounds: &Bounds) -> Result<(usize, usize), Stop> {
    let bytes = window.bytes;
    let (mut start, mut end) = (bounds.start, bounds.end);
    if let Some(trim) = &field.trim {
        while start < end && trim.contains(bytes[start]) {
            start += 1;
        }
        while start < end && trim.contains(bytes[end - 1]) {
            end -= 1;
        }
    }
    let bytes_there = end - start;
    if bytes_there < field.min || field.max.is_some_and(|max| bytes_there > max) {
        return stop(Reason::Unexpected, start);
    }
    let wrong = |chars: &CharSet| bytes[start..end].iter().position(|&b| !chars.contains(b));
    if let Some(wrong) = field.chars.as_ref().and_then(wrong) {
        return stop(Reason::Unexpected, start + wrong);
    }
    Ok((start, end))
}

/// Checks the byte after a field.
fn followed(field: &MessageField, window: Window, next: usize) -> Result<(), Stop> {
    let Some(may_follow) = &field.followed_by else {
        return Ok(());
    };
    match window.from(next).first() {
        Some(&byte) if may_follow.contains(byte) => Ok(()),
        Some(_) => stop(Reason::Unexpected, next),
        None => stop(Reason::Truncated, window.end),
    }
}

fn number(
    field: &MessageField,
    window: Window,
    bounds: &Bounds,
    (start, end): (usize, usize),
) -> Result<Option<i128>, Stop> {
    let bytes = &window.bytes[start..end];
    match field.contents {
        _ if bounds.number.is_some() => Ok(bounds.number),
        Contents::Number { little_endian } => Ok(Some(whole(bytes, little_endian))),
        Contents::Decimal => {
            let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
            // Numbers of 18 digits fit the arithmetic of fields and sums.
            if digits.is_empty() || digits.len() > 18 || !digits.iter().all(u8::is_ascii_digit) {
                return stop(Reason::Unexpected, start);
            }
            let fold = |sum: i128, &digit: &u8| sum * 10 + i128::from(digit - b'0');
            let number = digits.iter().fold(0, fold);
            Ok(Some(if digits.len() < bytes.len() {
                -number
            } else {
                number
            }))
        }
        _ => Ok(None),
    }
}

/// Returns the layout that the field holds, if it holds one that must be read.
fn choose(
    field: &MessageField,
    slots: &[Option<Slot>],
    window: Window,
    (start, end): (usize, usize),
    is_open: bool,
) -> Result<Option<LayoutId>, Stop> {
    let (found, default) = match &field.contents {
        Contents::Layout(layout) => return Ok(Some(*layout)),
        Contents::Select(by, cases) => {
            let slot = slots[*by].as_ref();
            let fits = |slot: &Slot| {
                let mut all = cases.cases.iter();
                all.find(|(key, _)| slot.is(window, key, false))
            };
            (slot.and_then(fits).map(|case| case.1), cases.default)
        }
        Contents::Starts(cases) => {
            let end = if is_open { window.end } else { end };
            let here = &window.bytes[start..end];
            let mut all = cases.cases.iter();
            let found = all.find(|(bytes, _)| here.starts_with(bytes));
            (found.map(|case| case.1), cases.default)
        }
        _ => return Ok(None),
    };
    match found.or(default) {
        None if is_open => stop(Reason::Unexpected, start),
        chosen => Ok(chosen),
    }
}
