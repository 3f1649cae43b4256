//! Copies of packets that may differ, as far as all who emit code have to know: whether a program makes such, the loop that its code is then, and the
//! memory of what runs.

use arch::v1model::copying::REQUESTS;
use cgen::tree::{Block, Expr as C, Stmt, Type};
use ir::Program;

/// The pointer to what runs.
pub(crate) const THIS: &str = "this_copy";

/// The place where an iteration of the loop begins.
pub(crate) const NEXT: &str = "next_copy";
pub(crate) const BEGINS: &str = "copy_begins";
pub(crate) const ALL: &str = "all_copies";
/// Neither the packet that runs nor those that wait can go on.
pub(crate) const LOST: &str = "reject";

/// The struct of what a copy begins with, and its map.
pub(crate) const STATE: &str = "packet_state";
pub(crate) const STATES: &str = "packet_states";

/// True if copies of a program's packets may differ, or its packets begin anew.
pub(crate) fn differ(program: &Program) -> bool {
    program.slots.iter().any(|slot| slot.name == REQUESTS)
}

/// A slot of a program whose copies differ.
#[cfg(test)]
pub(crate) fn requests() -> ir::Slot {
    ir::Slot {
        name: REQUESTS.into(),
        kind: ir::SlotKind::Intrinsic,
        vars: Vec::new(),
        headers: Vec::new(),
    }
}

/// True if a statement is where a turn of the loop begins, which is counted there, or where the loop ends: the verifier is to see that no end
/// leads back.
pub(crate) fn is_of_loop(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Label(label) if [BEGINS, ALL, LOST].contains(&label.as_str()))
}

/// Pointers to memory: their names, their types, and the maps.
const IN_MEMORY: [(&str, &str, &str); 2] =
    [(THIS, STATE, STATES), (TRAFFIC, TRAFFIC, "traffic_map")];
const TRAFFIC: &str = "traffic";
/// The macro that is about it without naming it.
const LENGTH: &str = "packet_length";

/// True if a variable points to memory that a function can find by itself.
pub(crate) fn is_fetched(name: &str) -> bool {
    IN_MEMORY.iter().any(|(known, ..)| *known == name)
}

/// Finds the memory that a function uses, whose names and calls are known, by a variable that is zero. Without it, the
/// function returns `refused`. If everything is to be `kept` there, each access to what the packet is now is one of memory, as
/// [`Scratch::fetch`](crate::placed::Scratch::fetch) has it.
pub(crate) fn fetch(zero: &C, refused: &C, kept: bool, uses: impl Fn(&str) -> bool) -> Block {
    let mut out = Block::new();
    let is_used = |name: &str| uses(name) || name == TRAFFIC && uses(LENGTH);
    for (name, of, map) in IN_MEMORY.into_iter().filter(|(name, ..)| is_used(name)) {
        let stop = vec![Stmt::Return(Some(refused.clone()))];
        let found = C::call(
            "bpf_map_lookup_elem",
            vec![C::id(map).addr(), zero.clone().addr()],
        );
        let ty = match kept && name == THIS {
            true => Type::Named(format!("volatile struct {of}").into()),
            false => Type::Struct(of.into()),
        };
        out.push(Stmt::decl(ty.ptr(), name, found));
        out.push(Stmt::If(C::not(C::id(name)), stop, Block::new()));
    }
    out
}
