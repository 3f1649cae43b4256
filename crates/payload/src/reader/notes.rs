//! Visitors of the values in a message.

use super::input::Window;
use super::json::LocatedScalar;
use super::layout::{Frame, Slot};
use super::{Found, Value};
use crate::{CaseKey, FieldId, LayoutId, Schema, Which};

/// Visitor of values, in the order in which they are read.
pub(super) trait Notes {
    /// Returns true if values of a field may be wanted.
    fn asks_for(&self, place: (LayoutId, FieldId)) -> bool;

    /// Visits a field's value. `text` is its text, if that differs from its bytes.
    fn field(&mut self, read: &Read, text: Option<Vec<u8>>);

    /// Visits a member of a document in a field.
    fn member(&mut self, place: (LayoutId, FieldId), window: Window, member: &LocatedScalar);

    /// Forgets the values from an offset in the message on.
    fn forget(&mut self, from: usize);

    /// Returns true if nothing more is wanted.
    fn is_done(&self) -> bool;
}

/// Field that was read.
pub(super) struct Read<'r> {
    pub(super) schema: &'r Schema,
    pub(super) frame: &'r Frame,
    /// Fields of the frame.
    pub(super) slots: &'r [Option<Slot>],
    pub(super) window: Window<'r>,
    pub(super) field: FieldId,
    pub(super) slot: Slot,
}

impl Read<'_> {
    /// Returns the field's location in the schema.
    pub(super) fn place(&self) -> (LayoutId, FieldId) {
        (self.frame.layout, self.field)
    }

    /// Returns true if the field is in an instance with this key.
    pub(super) fn has_key(&self, wanted: &CaseKey) -> bool {
        let Some(key) = self.schema.layouts[self.frame.layout].key else {
            return false;
        };
        let slot = self.slots[key.field].as_ref();
        slot.is_some_and(|slot| slot.is(self.window, wanted, key.ignore_case))
    }

    fn key_text(&self) -> Option<String> {
        let key = self.schema.layouts[self.frame.layout].key?;
        let slot = self.slots[key.field].as_ref()?;
        let text = match slot.number {
            Some(number) => number.to_string(),
            None => String::from_utf8_lossy(&self.window.bytes[slot.start..slot.end]).into_owned(),
        };
        Some(match key.ignore_case {
            true => text.to_ascii_lowercase(),
            false => text,
        })
    }
}

/// Visitor that collects every attribute of a schema.
pub(super) struct All<'s> {
    pub(super) schema: &'s Schema,
    pub(super) found: Vec<Found>,
}

impl Notes for All<'_> {
    fn asks_for(&self, place: (LayoutId, FieldId)) -> bool {
        let mut attributes = self.schema.attributes.iter();
        attributes.any(|attribute| (attribute.layout, attribute.field) == place)
    }

    fn field(&mut self, read: &Read, text: Option<Vec<u8>>) {
        for attribute in &self.schema.attributes {
            if (attribute.layout, attribute.field) != read.place() {
                continue;
            }
            let name = match &attribute.which {
                Which::All => Some(attribute.name.clone()),
                Which::Index(index) => (*index == read.frame.index).then(|| attribute.name.clone()),
                Which::Key(key) => read.has_key(key).then(|| attribute.name.clone()),
                Which::AnyKey => read
                    .key_text()
                    .map(|key| attribute.name.trim_end_matches('*').to_string() + &key),
                Which::Member(_) | Which::AnyMember => None,
            };
            if let Some(name) = name {
                let Slot { start, end, number } = read.slot;
                let bytes = || read.window.bytes[start..end].to_vec();
                self.found.push(Found {
                    name,
                    offset: read.window.input.offset(start),
                    length: end - start,
                    value: match number {
                        Some(number) => Value::Number(number),
                        None => Value::Bytes(text.clone().unwrap_or_else(bytes)),
                    },
                });
            }
        }
    }

    fn member(&mut self, place: (LayoutId, FieldId), window: Window, member: &LocatedScalar) {
        let here = self.schema.attributes.iter();
        let here = here.filter(|attribute| (attribute.layout, attribute.field) == place);
        for attribute in here {
            let name = match &attribute.which {
                Which::Member(path) if path == member.path => attribute.name.clone(),
                Which::AnyMember => attribute.name.trim_end_matches('*').to_string() + member.path,
                _ => continue,
            };
            self.found.push(Found {
                name,
                offset: window.input.offset(member.start),
                length: member.end - member.start,
                value: Value::Bytes(window.bytes[member.start..member.end].to_vec()),
            });
        }
    }

    fn forget(&mut self, from: usize) {
        self.found.retain(|found| found.offset < from);
    }

    fn is_done(&self) -> bool {
        false
    }
}
