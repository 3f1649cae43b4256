//! Layouts: their fields in order, or in any order.

use super::input::Window;
use super::malformed::{Fault, Halt, Stop, stop};
use super::notes::{Notes, Read};
use super::{Reader, Reason};
use crate::{CaseKey, FieldId, LayoutId, Order};

/// Position of an instance's field in the input, and its number if it is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) number: Option<i128>,
}

impl Slot {
    /// Returns true if the field has this value.
    pub(super) fn is(&self, window: Window, wanted: &CaseKey, ignore_case: bool) -> bool {
        match (wanted, self.number) {
            (CaseKey::Number(wanted), Some(number)) => *wanted == number,
            (CaseKey::Bytes(wanted), None) => {
                let bytes = &window.bytes[self.start..self.end];
                match ignore_case {
                    true => bytes.eq_ignore_ascii_case(wanted),
                    false => bytes == wanted,
                }
            }
            _ => false,
        }
    }
}

/// Instance of a layout that is being read.
pub(super) struct Frame {
    pub(super) layout: LayoutId,
    /// Its index in the innermost enclosing repetition.
    pub(super) index: usize,
    /// Index of its first field in [`Reader::slots`].
    base: usize,
    /// Number of bits already read of the byte at the current offset.
    pub(super) bit: u32,
}

/// Field of an instance that the caller uses: it is set before the instance is read, or returned after it.
#[derive(Clone, Copy)]
pub(super) struct Shared {
    pub(super) field: FieldId,
    /// Number that it is set to, if it is set.
    pub(super) number: Option<i128>,
}

impl<N: Notes> Reader<'_, N> {
    /// Reads an instance from `at` on. Returns the offset of its end, and the shared field.
    pub(super) fn layout(
        &mut self,
        layout: LayoutId,
        window: Window,
        at: usize,
        index: usize,
        shared: Option<Shared>,
    ) -> Result<(usize, Option<Slot>), Halt> {
        let base = self.slots.len();
        let fields = self.schema.layouts[layout].fields.len();
        self.slots.resize(base + fields, None);
        if let Some(Shared {
            field,
            number: number @ Some(_),
        }) = shared
        {
            let (start, end) = (at, at);
            self.slots[base + field] = Some(Slot { start, end, number });
        }
        let mut frame = Frame {
            layout,
            index,
            base,
            bit: 0,
        };
        let is_outermost = self.schema.layouts[layout].whole && self.incomplete.is_none();
        if is_outermost {
            self.incomplete = Some(window.input.offset(at));
        }
        let end = self.fields(&mut frame, window, at);
        if is_outermost && end.is_ok() {
            self.incomplete = None;
        }
        let shared = shared.and_then(|shared| self.slots[base + shared.field]);
        self.slots.truncate(base);
        let end = end?;
        if is_outermost {
            self.go_on()?;
        }
        Ok((end, shared))
    }

    fn fields(&mut self, frame: &mut Frame, window: Window, at: usize) -> Result<usize, Halt> {
        let schema = self.schema;
        if window.depth > schema.limits.depth {
            let too_deep = Stop {
                reason: Reason::TooDeep,
                at,
            };
            return Err(fault(frame, 0, window, too_deep));
        }
        let mut at = at;
        let layout = &schema.layouts[frame.layout];
        match layout.order {
            Order::Fixed => {
                for field in 0..layout.fields.len() {
                    at = self.field(frame, field, window, at)?;
                }
            }
            Order::Any => {
                while at < window.end {
                    let here = window.from(at);
                    let mut known = layout.fields.iter();
                    let Some(field) = known.position(|f| here.starts_with(&f.tag)) else {
                        let unknown = Stop {
                            reason: Reason::Unexpected,
                            at,
                        };
                        return Err(fault(frame, 0, window, unknown));
                    };
                    at = self.field(frame, field, window, at)?;
                }
            }
        }
        Ok(at)
    }

    /// Returns the fields of an instance that have been read.
    pub(super) fn slots(&self, frame: &Frame) -> &[Option<Slot>] {
        &self.slots[frame.base..]
    }

    /// Returns a field as a number; an absent one counts as 0.
    pub(super) fn number(&self, frame: &Frame, field: FieldId) -> i128 {
        let slot = self.slots(frame)[field].as_ref();
        slot.and_then(|slot| slot.number).unwrap_or(0)
    }

    /// Notes a field's value.
    pub(super) fn note(
        &mut self,
        frame: &Frame,
        field: FieldId,
        window: Window,
        slot: Slot,
        text: Option<Vec<u8>>,
    ) -> Result<(), Halt> {
        let read = Read {
            schema: self.schema,
            frame,
            slots: &self.slots[frame.base..],
            window,
            field,
            slot,
        };
        if !self.lengths.agree(&read) {
            let conflict = Stop {
                reason: Reason::Conflict,
                at: slot.start,
            };
            return Err(fault(frame, field, window, conflict));
        }
        if self.notes.asks_for((frame.layout, field)) {
            self.notes.field(&read, text);
        }
        self.slots[frame.base + field] = Some(slot);
        self.go_on()
    }

    /// Stops the reading if nothing more is wanted.
    pub(super) fn go_on(&self) -> Result<(), Halt> {
        match self.incomplete.is_none() && self.notes.is_done() {
            true => Err(Halt::Done),
            false => Ok(()),
        }
    }
}

/// Builds the halt for a stop in a field.
pub(super) fn fault(frame: &Frame, field: FieldId, window: Window, stop: Stop) -> Halt {
    Halt::Fault(Fault {
        reason: stop.reason,
        at: window.input.offset(stop.at),
        place: (frame.layout, field),
    })
}

/// Fails if an instance of a repetition consumed no byte: the repetition would never end.
pub(super) fn progress(before: usize, after: usize) -> Result<usize, Stop> {
    if after > before {
        Ok(after)
    } else {
        stop(Reason::Unexpected, before)
    }
}
