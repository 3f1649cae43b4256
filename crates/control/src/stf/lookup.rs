//! Names and values of a script by the program at hand.

use super::script::{Cell, Text};
use crate::entry::{find, find_table, parse_keys};
use crate::errors::{self, Refusal};
use crate::piece::Piece;
use crate::values::parse_value;
use ir::{Bits, ExternInst, KeyMatch, Program, Table, Type};

/// A counter, register or meter by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A counter with an index.
    Counter,
    /// A register.
    Register,
    /// A meter.
    Meter,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Register => "register",
            Kind::Meter => "meter",
        }
    }
}

/// A statement's text with its place.
pub fn piece(text: &Text) -> Piece<'_> {
    Piece::new(&text.text, text.span.lo)
}

/// An extern instance by name, among those of one kind.
pub fn find_extern(program: &Program, name: &Text, kind: Kind) -> Result<ExternInst, Refusal> {
    let named = program
        .externs
        .iter()
        .filter(|(_, e)| e.ty.to_ascii_lowercase().contains(kind.word()))
        .map(|(id, e)| (id, e.name.as_str()));
    find(named, piece(name), kind.word())
}

/// The scalars that a register's element is taken apart into.
pub fn register_types(
    program: &Program,
    register: ExternInst,
) -> impl Iterator<Item = Type> + Clone + '_ {
    let first = program.externs[register].type_args.first();
    first.into_iter().flatten().copied()
}

/// A register and a value for an element of it: one scalar, or several between blanks for a struct.
pub fn register_value(
    program: &Program,
    cell: &Cell,
    text: &Text,
) -> Result<(ExternInst, Vec<Bits>), Refusal> {
    let register = find_extern(program, &cell.name, Kind::Register)?;
    let types: Vec<Type> = register_types(program, register).collect();
    let words = piece(text).words();
    if words.len() != types.len() {
        return Err(errors::register_width(text.span, types.len(), words.len()));
    }
    let values = words
        .into_iter()
        .zip(types)
        .map(|(word, ty)| {
            parse_value(program, ty, word.text)
                .map_err(|e| errors::bad_value(word.span(), "register", e))
        })
        .collect::<Result<_, _>>()?;
    Ok((register, values))
}

/// The entry whose counter a `check_counter TABLE KEYS` means.
pub fn counted_entry(
    program: &Program,
    table: &Text,
    keys: &Text,
) -> Result<(Table, Vec<KeyMatch>, u32), Refusal> {
    // The table's name and its keys stand apart in the line, with blanks between them: joined over as
    // many blanks, every place stays where it is.
    let gap = keys.span.lo.saturating_sub(table.span.hi).max(1) as usize;
    let both = format!("{}{:gap$}{}", table.text, "", keys.text);
    if let (Err(refusal), Some(counter)) = (
        find_table(program, piece(table)),
        array_counter(program, table),
    ) {
        return Err(errors::index_missing(refusal.primary.span, counter));
    }
    parse_keys(program, Piece::new(&both, table.span.lo))
}

/// The counter of that name, if it is one with an index.
fn array_counter<'a>(program: &'a Program, name: &Text) -> Option<&'a str> {
    let counter = &program.externs[find_extern(program, name, Kind::Counter).ok()?];
    let direct = counter.ty.to_ascii_lowercase().contains("direct");
    (!direct).then_some(counter.name.as_str())
}
