//! Layouts: their fields one after the other, or in any order.

use super::input::Window;
use super::json::Member;
use super::malformed::{Fault, Stop, stop};
use super::{Found, Reader, Reason, Value};
use crate::{CaseKey, FieldId, LayoutId, Order, Which};

/// Where a field of an instance stands in the input, and its number if it is one.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) number: Option<i128>,
}

/// An instance of a layout that is being read.
pub(super) struct Frame {
    pub(super) layout: LayoutId,
    /// Its number in the innermost repetition around it.
    pub(super) index: usize,
    /// The fields that have been read.
    pub(super) slots: Vec<Option<Slot>>,
    /// Bits of the byte at the present offset that have been read.
    pub(super) bit: u32,
}

impl Frame {
    /// A field as a number; one that is absent counts as 0.
    pub(super) fn number(&self, field: FieldId) -> i128 {
        let slot = self.slots[field].as_ref();
        slot.and_then(|slot| slot.number).unwrap_or(0)
    }
}

impl Reader<'_> {
    /// Reads an instance from `at` on: where it ends, and its fields. A chain sets one of them beforehand.
    pub(super) fn layout(
        &mut self,
        layout: LayoutId,
        window: Window,
        at: usize,
        index: usize,
        preset: Option<(FieldId, i128)>,
    ) -> Result<(usize, Frame), Fault> {
        let fields = self.schema.layouts[layout].fields.len();
        let mut frame = Frame {
            layout,
            index,
            slots: vec![None; fields],
            bit: 0,
        };
        if window.depth > self.schema.limits.depth {
            let too_deep = Stop {
                reason: Reason::TooDeep,
                at,
            };
            return Err(self.fault(&frame, 0, window, too_deep));
        }
        if let Some((field, number)) = preset {
            frame.slots[field] = Some(Slot {
                start: at,
                end: at,
                number: Some(number),
            });
        }
        let mut at = at;
        match self.schema.layouts[layout].order {
            Order::Fixed => {
                for field in 0..fields {
                    at = self.field(&mut frame, field, window, at)?;
                }
            }
            Order::Any => {
                while at < window.end {
                    let known = &self.schema.layouts[layout].fields;
                    let here = window.from(at);
                    let Some(field) = known.iter().position(|f| here.starts_with(&f.tag)) else {
                        let unknown = Stop {
                            reason: Reason::Unexpected,
                            at,
                        };
                        return Err(self.fault(&frame, 0, window, unknown));
                    };
                    at = self.field(&mut frame, field, window, at)?;
                }
            }
        }
        Ok((at, frame))
    }

    /// A stop in a field.
    pub(super) fn fault(&self, frame: &Frame, field: FieldId, window: Window, stop: Stop) -> Fault {
        let layout = &self.schema.layouts[frame.layout];
        Fault {
            reason: stop.reason,
            at: window.input.offset(stop.at),
            field: format!("{}.{}", layout.name, layout.fields[field].name),
        }
    }

    /// Notes a field's value, and gives it to the attributes that are this field.
    pub(super) fn note(
        &mut self,
        frame: &mut Frame,
        field: FieldId,
        window: Window,
        slot: Slot,
        text: Option<Vec<u8>>,
    ) {
        for attribute in &self.schema.attributes {
            if (attribute.layout, attribute.field) != (frame.layout, field) {
                continue;
            }
            let name = match &attribute.which {
                Which::All => Some(attribute.name.clone()),
                Which::Index(index) => (*index == frame.index).then(|| attribute.name.clone()),
                Which::Key(key) => self
                    .has_key(frame, window, key)
                    .then(|| attribute.name.clone()),
                Which::AnyKey => self
                    .key_text(frame, window)
                    .map(|key| attribute.name.trim_end_matches('*').to_string() + &key),
                Which::Member(_) | Which::AnyMember => None,
            };
            if let Some(name) = name {
                let bytes = || window.input.bytes[slot.start..slot.end].to_vec();
                self.found.push(Found {
                    name,
                    offset: window.input.offset(slot.start),
                    length: slot.end - slot.start,
                    value: match slot.number {
                        Some(number) => Value::Number(number),
                        None => Value::Bytes(text.clone().unwrap_or_else(bytes)),
                    },
                });
            }
        }
        frame.slots[field] = Some(slot);
    }

    /// Gives the members of a document to the attributes that are in this field.
    pub(super) fn note_members(
        &mut self,
        frame: &Frame,
        field: FieldId,
        window: Window,
        members: Vec<Member>,
    ) {
        let here = self.schema.attributes.iter();
        let here: Vec<_> = here
            .filter(|attribute| (attribute.layout, attribute.field) == (frame.layout, field))
            .collect();
        for member in members {
            for attribute in &here {
                let name = match &attribute.which {
                    Which::Member(path) if *path == member.path => attribute.name.clone(),
                    Which::AnyMember => {
                        attribute.name.trim_end_matches('*').to_string() + &member.path
                    }
                    _ => continue,
                };
                self.found.push(Found {
                    name,
                    offset: window.input.offset(member.start),
                    length: member.end - member.start,
                    value: Value::Bytes(window.input.bytes[member.start..member.end].to_vec()),
                });
            }
        }
    }

    fn has_key(&self, frame: &Frame, window: Window, wanted: &CaseKey) -> bool {
        let Some(key) = self.schema.layouts[frame.layout].key else {
            return false;
        };
        let slot = frame.slots[key.field].as_ref();
        slot.is_some_and(|slot| is(slot, window, wanted, key.ignore_case))
    }

    fn key_text(&self, frame: &Frame, window: Window) -> Option<String> {
        let key = self.schema.layouts[frame.layout].key?;
        let slot = frame.slots[key.field].as_ref()?;
        let text = match slot.number {
            Some(number) => number.to_string(),
            None => String::from_utf8_lossy(&window.input.bytes[slot.start..slot.end]).into_owned(),
        };
        Some(match key.ignore_case {
            true => text.to_ascii_lowercase(),
            false => text,
        })
    }
}

/// Whether a field has this value.
pub(super) fn is(slot: &Slot, window: Window, wanted: &CaseKey, ignore_case: bool) -> bool {
    match (wanted, slot.number) {
        (CaseKey::Number(wanted), Some(number)) => *wanted == number,
        (CaseKey::Bytes(wanted), None) => {
            let bytes = &window.input.bytes[slot.start..slot.end];
            match ignore_case {
                true => bytes.eq_ignore_ascii_case(wanted),
                false => bytes == wanted,
            }
        }
        _ => false,
    }
}

/// Stops if an instance of a repetition took no byte: it would never end.
pub(super) fn progress(before: usize, after: usize) -> Result<usize, Stop> {
    if after > before {
        Ok(after)
    } else {
        stop(Reason::Unexpected, before)
    }
}
