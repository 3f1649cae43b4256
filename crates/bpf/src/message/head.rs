//! The first bytes of messages that go on in later packets: in a ring of so many, which a ticket leads to (`message_keep` in `onpath/message.h`).

use super::object;
use super::shared::Object;
use crate::abi::{MapAbi, MapKind};
use crate::emitter::Gen;
use crate::maps::MAP_NAME;
use arch::payload::{HEADS, kept_and_behind};
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use ir::ExternInst;
use messages::MEMORY;
use smol_str::SmolStr;

/// Bytes of `struct message_head`.
const HEAD: u32 = 16 + 4096 + 8;

/// The map that they are in, for an object whose memory is another one. Its first value has the ticket that was given last.
pub(super) fn map(g: &mut Gen<'_>, memory: &SmolStr) -> SmolStr {
    let map = g.file.names.fresh_short(memory, "_heads", MAP_NAME);
    let abi = MapAbi::new(map.as_str(), MapKind::Array, 4, HEAD, HEADS + 1);
    let types = (CType::U32, CType::Struct("message_head".into()));
    g.file.own.maps.declare(abi, Some(types));
    map
}

/// A value of a map.
fn found(map: &SmolStr, key: &str) -> C {
    C::call(
        "bpf_map_lookup_elem",
        vec![C::Ident(map.clone()).addr(), C::id(key).addr()],
    )
}

fn head() -> CType {
    CType::Struct("message_head".into()).ptr()
}

/// Copies to memory the bytes that were kept under `ticket`, and behind them so many of the packet. `refuse_if` returns where a
/// condition holds.
pub(super) fn copied(heads: &SmolStr, limit: u32, refuse_if: &impl Fn(C) -> Stmt) -> Block {
    let (most, behind) = kept_and_behind(limit);
    let memory = || C::id(MEMORY);
    let mask = || C::call("message_mask", vec![memory()]);
    let slot = C::call("message_slot", vec![C::id("ticket")]);
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
        Stmt::decl(head(), "head", found(heads, "slot")),
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

/// The function that keeps bytes of a packet, with which a message begins or goes on, made on first use; `None` if the program keeps none.
pub(super) fn keep(g: &mut Gen<'_>, object: ExternInst, known: &Object) -> Option<SmolStr> {
    let heads = known.heads.as_ref()?;
    if let Some(made) = g.file.own.messages.keeps.get(&object) {
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
            found(&known.map, "zero"),
        ),
        Stmt::decl(head(), "last", found(heads, "zero")),
        Stmt::decl(CType::U32, "all", rest),
        none(C::or(C::not(memory()), C::not(C::id("last")))),
        none(C::or(C::not(C::id("most")), is_more(C::id("all")))),
        none(is_more(C::int(most.into()))),
        none(C::call("message_copy", copy)),
        Stmt::decl(CType::U64, "ticket_of_all", of_all),
        Stmt::decl(CType::U32, "slot", slot),
        Stmt::decl(head(), "head", found(heads, "slot")),
        none(C::not(C::id("head"))),
        Stmt::Return(Some(C::call("message_keep", kept))),
    ];
    object::push_function(g, &name, CType::U64, true, body);
    g.file.own.messages.keeps.insert(object, name.clone());
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
        // What is kept is masked by the place for it.
        assert!(kept_and_behind(MOST_BYTES).0 <= bytes);
    }
}
