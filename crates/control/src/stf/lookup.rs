//! Resolution of a script's names and values by a schema.

use super::script::{Cell, Text};
use crate::EntryKey;
use crate::entry::{find, find_table, parse_keys};
use crate::errors::{self, Refusal};
use crate::piece::Piece;
use crate::register::parse_values;
use schema::{Bits, Object, ObjectKind, ObjectSchema, Schema, Table, Unit};

/// Kind of object that a name may denote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ArrayKind {
    /// A counter.
    Counter,
    /// A register.
    Register,
}

impl ArrayKind {
    fn word(self) -> &'static str {
        match self {
            ArrayKind::Counter => "counter",
            ArrayKind::Register => "register",
        }
    }

    fn is(self, object: &ObjectSchema) -> bool {
        match self {
            ArrayKind::Counter => object.kind.is_counter(),
            ArrayKind::Register => matches!(object.kind, ObjectKind::Register { .. }),
        }
    }
}

/// Returns a statement's text with its location.
pub(crate) fn piece(text: &Text) -> Piece<'_> {
    Piece::new(&text.text, text.span.lo)
}

/// Finds an object by name, among those of one kind.
pub(crate) fn find_object(
    schema: &Schema,
    name: &Text,
    kind: ArrayKind,
) -> Result<Object, Refusal> {
    let all = schema.objects.iter().filter(|(_, o)| kind.is(o));
    let named = all.map(|(id, o)| (id, o.name.as_str()));
    find(named, piece(name), kind.word())
}

/// Parses a register and a value for an element of it: one scalar, or several between blanks for a struct.
pub(crate) fn register_value(
    schema: &Schema,
    cell: &Cell,
    text: &Text,
) -> Result<(Object, Vec<Bits>), Refusal> {
    let register = find_object(schema, &cell.name, ArrayKind::Register)?;
    Ok((register, parse_values(schema, register, piece(text))?))
}

/// Returns the entry whose counter `check_counter TABLE KEYS` means.
pub(crate) fn counted_entry(
    schema: &Schema,
    table: &Text,
    keys: &Text,
) -> Result<(Table, EntryKey), Refusal> {
    // The table's name and its keys are separated by blanks in the line. They are joined with as many blanks, so that
    // every location stays the same.
    let gap = keys.span.lo.saturating_sub(table.span.hi).max(1) as usize;
    let both = format!("{}{:gap$}{}", table.text, "", keys.text);
    if let (Err(refusal), Some(counter)) = (
        find_table(schema, piece(table)),
        array_counter(schema, table),
    ) {
        return Err(errors::index_missing(refusal.primary.span, counter));
    }
    parse_keys(schema, Piece::new(&both, table.span.lo))
}

/// Refuses to read a unit that a counter does not count: bytes, or packets.
pub(crate) fn require_unit(
    schema: &Schema,
    name: &Text,
    counter: Object,
    bytes: bool,
) -> Result<(), Refusal> {
    let counter = &schema.objects[counter];
    match (&counter.kind, bytes) {
        (
            ObjectKind::Counter {
                unit: Unit::Packets,
                ..
            }
            | ObjectKind::DirectCounter {
                unit: Unit::Packets,
            },
            true,
        ) => Err(errors::counts_no(
            name.span,
            &counter.name,
            "bytes",
            "packets",
        )),
        (
            ObjectKind::Counter {
                unit: Unit::Bytes, ..
            }
            | ObjectKind::DirectCounter { unit: Unit::Bytes },
            false,
        ) => Err(errors::counts_no(
            name.span,
            &counter.name,
            "packets",
            "bytes",
        )),
        _ => Ok(()),
    }
}

/// Returns the counter that belongs to a table's entries, if there is one.
pub(crate) fn direct_counter(schema: &Schema, table: Table) -> Option<Object> {
    let mut objects = schema.tables[table].objects.iter();
    let found = objects.find(|(property, _)| property == "counters");
    found.map(|&(_, counter)| counter)
}

/// Returns the counter with this name, if it is indexed.
fn array_counter<'a>(schema: &'a Schema, name: &Text) -> Option<&'a str> {
    let counter = &schema.objects[find_object(schema, name, ArrayKind::Counter).ok()?];
    matches!(counter.kind, ObjectKind::Counter { .. }).then_some(counter.name.as_str())
}
