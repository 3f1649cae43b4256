//! Common definitions for programs whose packet copies may differ. Such a program runs egress in a loop, once for the
//! packet and for each copy. This module has the test for such programs, the labels of the loop, and the pointers to
//! the state of the current packet or copy.

use arch::v1model::copying::REQUESTS;
use cgen::tree::{Block, Expr as C, Stmt, Type};
use ir::Program;

/// Pointer to the state of the current packet or copy.
pub(crate) const THIS: &str = "this_copy";

/// Label at which the loop takes the next waiting copy.
pub(crate) const NEXT: &str = "next_copy";
/// Label at which egress begins for the current packet or copy. Iterations are counted here.
pub(crate) const BEGINS: &str = "copy_begins";
/// Label where the loop ends, since no copy is waiting.
pub(crate) const ALL: &str = "all_copies";
/// Label for failures by which the current packet and all waiting copies are lost.
pub(crate) const LOST: &str = "reject";

/// Struct of the state with which a copy begins.
pub(crate) const STATE: &str = "packet_state";
/// Map of these states.
pub(crate) const STATES: &str = "packet_states";

/// Returns true if copies of a program's packets may differ, or its packets are resubmitted or recirculated.
pub(crate) fn differ(program: &Program) -> bool {
    program.slots.iter().any(|slot| slot.name == REQUESTS)
}

/// Returns the slot by which [`differ`] recognises a program.
#[cfg(test)]
pub(crate) fn requests() -> ir::Slot {
    ir::Slot {
        name: REQUESTS.into(),
        kind: ir::SlotKind::Intrinsic,
        vars: Vec::new(),
        headers: Vec::new(),
    }
}

/// Returns true if a statement is the label at which iterations are counted, or a label where the loop ends. Outlining
/// leaves these in the function that has the loop, since the verifier has to see that no end leads back.
pub(crate) fn is_of_loop(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Label(label) if [BEGINS, ALL, LOST].contains(&label.as_str()))
}

/// Pointers to values of maps: the name of each, its struct, and its map.
const IN_MEMORY: [(&str, &str, &str); 2] =
    [(THIS, STATE, STATES), (TRAFFIC, TRAFFIC, "traffic_map")];
const TRAFFIC: &str = "traffic";
/// Macro that uses the pointer [`TRAFFIC`] without naming it.
const LENGTH: &str = "packet_length";

/// Returns true if a variable is a pointer that each function looks up by itself.
pub(crate) fn is_fetched(name: &str) -> bool {
    IN_MEMORY.iter().any(|(known, ..)| *known == name)
}

/// Emits the look-ups of the pointers that a function uses. `uses` returns true for the names in the function and in
/// the functions that it calls. `zero` is a variable that is 0. If a look-up fails, the function returns `refused`. If
/// `kept`, the pointer to the current packet's state is volatile, as in
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
