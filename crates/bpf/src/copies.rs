//! Copies of packets that may differ, as far as all emitting code has to know them: whether a program makes such
//! copies, the labels of the loop over them, and the memory of the current one.

use arch::v1model::copying::REQUESTS;
use cgen::tree::{Block, Expr as C, Stmt, Type};
use ir::Program;

/// Pointer to the state of the current packet or copy.
pub(crate) const THIS: &str = "this_copy";

/// Label at which an iteration of the loop begins.
pub(crate) const NEXT: &str = "next_copy";
pub(crate) const BEGINS: &str = "copy_begins";
pub(crate) const ALL: &str = "all_copies";
/// Label for the case that neither the current packet nor the waiting ones can go on.
pub(crate) const LOST: &str = "reject";

/// Struct of the state that a copy begins with, and its map.
pub(crate) const STATE: &str = "packet_state";
pub(crate) const STATES: &str = "packet_states";

/// Returns true if copies of a program's packets may differ, or its packets are resubmitted or recirculated.
pub(crate) fn differ(program: &Program) -> bool {
    program.slots.iter().any(|slot| slot.name == REQUESTS)
}

/// Makes a slot of a program whose copies differ.
#[cfg(test)]
pub(crate) fn requests() -> ir::Slot {
    ir::Slot {
        name: REQUESTS.into(),
        kind: ir::SlotKind::Intrinsic,
        vars: Vec::new(),
        headers: Vec::new(),
    }
}

/// Returns true if a statement is the label where an iteration of the loop begins, at which iterations are counted, or
/// where the loop ends. The verifier has to see that no end leads back.
pub(crate) fn is_of_loop(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Label(label) if [BEGINS, ALL, LOST].contains(&label.as_str()))
}

/// Pointers to memory: their names, their types, and the maps.
const IN_MEMORY: [(&str, &str, &str); 2] =
    [(THIS, STATE, STATES), (TRAFFIC, TRAFFIC, "traffic_map")];
const TRAFFIC: &str = "traffic";
/// Macro that uses the traffic memory without naming it.
const LENGTH: &str = "packet_length";

/// Returns true if a variable points to memory that a function can find by itself.
pub(crate) fn is_fetched(name: &str) -> bool {
    IN_MEMORY.iter().any(|(known, ..)| *known == name)
}

/// Finds the memory that a function uses. `uses` tells which names the function has, including those of its calls;
/// `zero` is a variable that is 0. Without the memory, the function returns `refused`. If everything is to be `kept`
/// there, each access to the current packet's state is one of memory, as for
/// [`Scratch::fetch`](crate::placed::Scratch::fetch).
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
