//! Searches in a payload that need not fit into memory at once. One function copies a piece to memory and searches it,
//! a second one does so for all pieces. Both are global, so that the verifier checks them once.

use super::object::memory_of_payload;
use super::{Payload, file, patterns};
use crate::tables::places;
use crate::{AT, MEMORY};
use arch::payload::{MOST_BYTES, REACH, WIDEST_CONSTANT};
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use emit::{Function, Gen};
use smol_str::SmolStr;

// A search has a bit for each byte of the value.
const _: () = assert!(WIDEST_CONSTANT <= 8 * u64::BITS);

/// Offsets, relative to the first byte, of pieces that overlap by `overlap` bytes.
fn begins(overlap: u32) -> impl Iterator<Item = u32> {
    let step = MOST_BYTES - overlap;
    let count = 1 + (REACH - MOST_BYTES).div_ceil(step);
    (0..count).map(move |piece| piece * step)
}

/// Returns the function that searches for bytes in the payload; emits it on first use. Its arguments are the context,
/// the number of parsed bytes, the offset, and the packet's length.
pub(super) fn find<T: Payload>(g: &mut Gen<'_, T>, wanted: &[u8]) -> SmolStr {
    let own = T::shared(&mut g.file.own);
    if let Some((_, known)) = own.finds.iter().find(|(bytes, _)| bytes == wanted) {
        return known.clone();
    }
    let (_, structure) = memory_of_payload(g);
    let none = || C::id("MESSAGE_NO_END");
    let places = places(&mut file(g), wanted);
    let search = vec![
        C::id(MEMORY).arrow("bytes"),
        C::call("message_mask", vec![C::id(MEMORY)]),
        C::id(AT),
        C::id("left"),
        C::int(wanted.first().copied().unwrap_or(0).into()),
        places,
        C::int(wanted.len() as u64),
    ];
    let result = C::call("message_search", search);
    let name = g.file.names.fresh(&format!("{structure}_find"));
    let piece = piece(g, &name, None, &none(), result);

    let absent = || vec![Stmt::Return(Some(C::id("MESSAGE_ABSENT")))];
    let mut body = vec![from(), all()];
    for (number, begin) in begins(wanted.len() as u32 - 1).enumerate() {
        if number > 0 {
            body.push(Stmt::If(
                is_all(begin, wanted.len() as u32 - 1),
                absent(),
                Block::new(),
            ));
        }
        let place = C::call(piece.clone(), at(begin));
        body.push(match number {
            0 => Stmt::decl(CType::U32, "place", place),
            _ => Stmt::Assign(C::id("place"), place),
        });
        let found = C::id("offset").plus(begin.into());
        let found = C::bin(BinOp::Add, found, C::id("place"));
        let there = C::bin(BinOp::Ne, C::id("place"), none());
        body.push(Stmt::If(
            there,
            vec![Stmt::Return(Some(found))],
            Block::new(),
        ));
    }
    body.extend(absent());
    push(g, &name, &["parsed", "offset", "length"], body);
    T::shared(&mut g.file.own)
        .finds
        .push((wanted.to_vec(), name.clone()));
    name
}

/// Returns the function that matches a regular expression in the payload; emits it on first use. `None` if the
/// expression has no automaton; then the program has been refused. Its arguments are those of [`find`], with the number
/// of bytes before the packet's length.
pub(super) fn matches<T: Payload>(g: &mut Gen<'_, T>, text: &str) -> Option<SmolStr> {
    let own = T::shared(&mut g.file.own);
    if let Some((_, known)) = own.payload_patterns.iter().find(|(known, _)| known == text) {
        return Some(known.clone());
    }
    let (patterns, mut file) = patterns(g);
    let automaton = patterns.automaton(&mut file, text)?;
    let (_, structure) = memory_of_payload(g);
    let run = automaton.run(
        C::id(MEMORY).arrow("bytes"),
        C::call("message_mask", vec![C::id(MEMORY)]),
        (C::id(AT), C::id("left")),
        C::id("state"),
    );
    let name = g.file.names.fresh(&format!("{structure}_matches"));
    let piece = piece(g, &name, Some("state"), &C::int(0), run);

    let done = || vec![Stmt::Return(Some(automaton.has_found(C::id("state"))))];
    let mut body = vec![from(), all()];
    let fewer = C::bin(BinOp::Gt, C::id("all"), C::id("most"));
    body.push(Stmt::If(
        fewer,
        vec![Stmt::Assign(C::id("all"), C::id("most"))],
        Block::new(),
    ));
    for (number, begin) in begins(0).enumerate() {
        let mut args = at(begin);
        let state = match number {
            0 => automaton.start(),
            _ => C::id("state"),
        };
        args.push(state);
        let next = C::call(piece.clone(), args);
        if number == 0 {
            body.push(Stmt::decl(CType::U32, "state", next));
            continue;
        }
        let ends = C::or(is_all(begin, 0), automaton.stays(C::id("state")));
        body.push(Stmt::If(ends, done(), Block::new()));
        body.push(Stmt::Assign(C::id("state"), next));
    }
    body.extend(done());
    push(g, &name, &["parsed", "offset", "most", "length"], body);
    let known = &mut T::shared(&mut g.file.own).payload_patterns;
    known.push((text.to_owned(), name.clone()));
    Some(name)
}

/// Declares `from`, the offset in the packet.
fn from() -> Stmt {
    let parsed = C::id("parsed").cast(CType::U64);
    let from = C::bin(BinOp::Add, parsed, C::id("offset"));
    Stmt::decl(CType::U64, "from", from)
}

/// Declares `all`, the number of bytes that are searched.
fn all() -> Stmt {
    let searched = C::call("payload_searched", vec![C::id("from"), C::id("length")]);
    Stmt::decl(CType::U32, "all", searched)
}

/// Tests that all bytes were in the pieces before the one that begins at offset `begin`.
fn is_all(begin: u32, overlap: u32) -> C {
    C::bin(BinOp::Le, C::id("all"), C::int((begin + overlap).into()))
}

/// Returns the first arguments of a function about a piece.
fn at(begin: u32) -> Vec<C> {
    let from = C::id("from").plus(begin.into());
    let size = C::call(
        "payload_piece_size",
        vec![C::id("all"), C::int(begin.into())],
    );
    vec![C::id("ctx"), from.cast(CType::U32), size, C::int(0)]
}

/// Adds a function that copies a piece of the payload to memory and returns the result of searching its `left` bytes;
/// `none` if the piece cannot be copied. Its parameter [`AT`] is their offset in memory, 0. With a constant, the
/// verifier would explore every iteration of the loop.
fn piece<T: Payload>(
    g: &mut Gen<'_, T>,
    of: &str,
    more: Option<&str>,
    none: &C,
    result: C,
) -> SmolStr {
    let (map, structure) = memory_of_payload(g);
    let memory = || C::id(MEMORY);
    let found = T::find(&map, C::id("zero").addr());
    let refuse_if = |condition: C| {
        let refused = vec![Stmt::Return(Some(none.clone()))];
        Stmt::If(condition, refused, Block::new())
    };
    let copy = vec![
        C::id("ctx"),
        C::id("from"),
        memory().arrow("bytes"),
        C::id(AT),
        C::id("left"),
        C::call("message_mask", vec![memory()]),
    ];
    let copied = C::call("payload_copy", copy);
    let body = vec![
        Stmt::decl(CType::U32, "zero", C::int(0)),
        Stmt::decl(CType::Struct(structure).ptr(), MEMORY, found),
        refuse_if(C::not(memory())),
        refuse_if(C::and(C::id("left"), copied)),
        Stmt::Return(Some(result)),
    ];
    let name = g.file.names.fresh(&format!("{of}_in"));
    let numbers: Vec<&str> = ["from", "left", AT].into_iter().chain(more).collect();
    push(g, &name, &numbers, body);
    name
}

/// Adds a global function of the packet and of numbers.
fn push<T: Payload>(g: &mut Gen<'_, T>, name: &SmolStr, numbers: &[&str], body: Block) {
    let packet = super::packet(g);
    let numbers = numbers
        .iter()
        .map(|&name| (CType::U32, SmolStr::from(name)));
    g.file.functions.push(Function {
        linkage: g.target.linkage().into(),
        name: name.clone(),
        result: CType::U32,
        params: std::iter::once(packet).chain(numbers).collect(),
        body,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_overlap_and_reach_the_end() {
        for overlap in [0, 1, 63] {
            let all: Vec<u32> = begins(overlap).collect();
            for two in all.windows(2) {
                assert_eq!(two[0] + MOST_BYTES, two[1] + overlap);
            }
            let last = all[all.len() - 1];
            assert!(last < REACH && last + MOST_BYTES >= REACH, "{all:?}");
        }
    }
}
