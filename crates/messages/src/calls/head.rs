//! First bytes of messages that continue in later packets. They are preserved in a ring of slots, to which tickets lead
//! (`message_keep` in `onpath/message.h`).

use super::{Object, Payload, object, quic};
use crate::MEMORY;
use arch::payload::{HEADS, kept_and_behind};
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use emit::Gen;
use emit::memory::declare;
use ir::ExternInst;
use layout::{Map, MapKind};
use smol_str::SmolStr;

/// Size of `struct message_head`, in bytes.
const HEAD: u32 = 16 + 4096 + 8;

/// Declares the map of preserved bytes for an object with another map as its memory. Its first value has the last
/// ticket.
pub(super) fn map<T: Payload>(g: &mut Gen<'_, T>, memory: &SmolStr) -> SmolStr {
    let map = g.file.names.fresh_short(memory, "_heads", T::MAP_NAME);
    let heads = Map::new(map.as_str(), MapKind::Array, 4, HEAD, u64::from(HEADS) + 1);
    let types = (CType::U32, CType::Struct("message_head".into()));
    declare(g, heads, Some(types));
    map
}

/// Looks up a value of a map.
fn found<T: Payload>(map: &SmolStr, key: &str) -> C {
    T::find(map, C::id(key).addr())
}

fn head() -> CType {
    CType::Struct("message_head".into()).ptr()
}

/// Copies to memory the bytes preserved under `ticket`, and bytes of the packet after them. `refuse_if` emits a return
/// under a condition.
pub(super) fn copied<T: Payload>(
    heads: &SmolStr,
    connections: Option<u32>,
    limit: u32,
    refuse_if: &impl Fn(C) -> Stmt,
) -> Block {
    let (most, behind) = kept_and_behind(limit);
    let memory = || C::id(MEMORY);
    let mask = || C::call("message_mask", vec![memory()]);
    let slot = match connections {
        Some(slots) => quic::slot(C::id("ticket"), slots),
        None => C::call("message_slot", vec![C::id("ticket")]),
    };
    let restored = vec![
        C::id("head"),
        C::id("ticket"),
        memory().arrow("bytes"),
        mask(),
        C::int(most.into()),
    ];
    let longer = C::bin(BinOp::Gt, C::id("left"), C::int(behind.into()));
    let copied = vec![
        C::id("ctx"),
        C::id("from"),
        memory().arrow("bytes"),
        C::id("front"),
        C::id("left"),
        mask(),
    ];
    let more = |name: &str| Stmt::Update(BinOp::Add, C::id(name), C::id("front"));
    vec![
        Stmt::decl(CType::U32, "slot", slot),
        Stmt::decl(head(), "head", found::<T>(heads, "slot")),
        refuse_if(C::not(C::id("head"))),
        Stmt::decl(CType::U32, "front", C::call("message_restore", restored)),
        refuse_if(C::not(C::id("front"))),
        Stmt::If(
            longer,
            vec![Stmt::Assign(C::id("left"), C::int(behind.into()))],
            Block::new(),
        ),
        refuse_if(C::and(
            C::id("left"),
            C::call("message_copy_behind", copied),
        )),
        more("left"),
        more("all"),
    ]
}

/// Returns the function that preserves bytes with which a message begins or continues; emits it on first use. `None` if
/// the program preserves none.
pub(super) fn keep<T: Payload>(
    g: &mut Gen<'_, T>,
    object: ExternInst,
    known: &Object,
) -> Option<SmolStr> {
    // The bytes of QUIC connections have another map.
    let heads = known
        .heads
        .as_ref()
        .filter(|_| known.connections.is_none())?;
    if let Some(made) = T::shared(&mut g.file.own).keeps.get(&object) {
        return Some(made.clone());
    }
    let name = g.file.names.fresh(&format!("{}_keep", known.structure));
    let (most, _) = kept_and_behind(known.limit);
    let memory = || C::id(MEMORY);
    let mask = || C::call("message_mask", vec![memory()]);
    let bytes = || memory().arrow("bytes");
    let none =
        |condition: C| Stmt::If(condition, vec![Stmt::Return(Some(C::int(0)))], Block::new());
    let rest = C::call("payload_left", vec![C::id("from"), C::id("length")]);
    let is_more = |than: C| C::bin(BinOp::Gt, C::id("most"), than);
    let copy = vec![C::id("ctx"), C::id("from"), bytes(), C::id("most"), mask()];
    let new = C::call("message_new_ticket", vec![C::id("last")]);
    let of_all = C::choose(C::id("ticket"), C::id("ticket"), new);
    let slot = C::call("message_slot", vec![C::id("ticket_of_all")]);
    let kept = vec![
        C::id("head"),
        C::id("ticket"),
        C::id("ticket_of_all"),
        bytes(),
        mask(),
        C::id("most"),
        C::int(most.into()),
    ];
    let body = vec![
        Stmt::decl(CType::U32, "zero", C::int(0)),
        Stmt::decl(
            CType::Struct(known.structure.clone()).ptr(),
            MEMORY,
            found::<T>(&known.map, "zero"),
        ),
        Stmt::decl(head(), "last", found::<T>(heads, "zero")),
        Stmt::decl(CType::U32, "all", rest),
        none(C::or(C::not(memory()), C::not(C::id("last")))),
        none(C::or(C::not(C::id("most")), is_more(C::id("all")))),
        none(is_more(C::int(most.into()))),
        none(C::call("message_copy", copy)),
        Stmt::decl(CType::U64, "ticket_of_all", of_all),
        Stmt::decl(CType::U32, "slot", slot),
        Stmt::decl(head(), "head", found::<T>(heads, "slot")),
        none(C::not(C::id("head"))),
        Stmt::Return(Some(C::call("message_keep", kept))),
    ];
    let linkage = g.target.linkage();
    object::push_function(g, linkage, &name, CType::U64, true, body);
    T::shared(&mut g.file.own)
        .keeps
        .insert(object, name.clone());
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arch::payload::MOST_BYTES;

    #[test]
    fn sizes_are_those_of_the_header() {
        let header = include_str!("../../include/onpath/message.h");
        let defined = |name: &str| {
            let mut lines = header.lines().filter_map(|l| l.strip_prefix("#define "));
            let value = lines.find_map(|line| line.strip_prefix(name)?.trim().parse::<u32>().ok());
            value.unwrap_or_else(|| panic!("{name} is not defined"))
        };
        let bytes = defined("MESSAGE_HEAD_BYTES");
        assert_eq!(HEAD, 16 + bytes + 8);
        assert_eq!(HEADS, defined("MESSAGE_HEADS"));
        // The preserved bytes are masked to their buffer.
        assert!(kept_and_behind(MOST_BYTES).0 <= bytes);
    }
}
