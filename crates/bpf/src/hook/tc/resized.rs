//! Last steps for packets that grow or shrink before their IP header, for example by the headers of a tunnel. The
//! helper that hands such a packet to the network stack needs to know by how many bytes it has grown.

use super::{CAME_AS, ETHERNET};
use crate::emitter::{Gen, unknown_zero};
use cgen::tree::{BinOp, Expr as C, Stmt, Type};
use emit::{Hints, Role};

/// Largest number of bytes before an outer header: an Ethernet header and a tag.
const MOST_FRONT: u32 = ETHERNET + 4;

/// Emits the deparser. If the packet may get or lose a tunnel's headers, the variable `grown` then holds the number of
/// bytes by which it has grown.
pub(super) fn deparse(g: &mut Gen<'_>) {
    let at = g.out.len();
    g.deparse();
    if let Some(grown) = g.target.grown.clone() {
        let is_set = |stmt: &Stmt| matches!(stmt, Stmt::Assign(to, _) if *to == grown);
        if !g.out[at..].iter().any(is_set) {
            // It is not set on every path.
            g.out.insert(at, Stmt::Assign(grown, unknown_zero()));
        }
    }
}

/// Emits an assignment of the packet's growth, from `keep` bytes to `to`, if the change may be by a tunnel's headers.
/// At least `front` bytes stay before the inserted or removed ones.
pub(super) fn note(g: &mut Gen<'_>, front: u32, to: &C) {
    let inserts = to.as_int().is_none_or(|to| to > u64::from(front));
    // A packet that shrinks ends like any other one as long as its protocol stays.
    if front > MOST_FRONT || !(inserts || g.target.wire.changes_type) {
        return;
    }
    let grown = match g.target.grown.clone() {
        Some(grown) => grown,
        None => g.own_local("grown", Type::U32, None),
    };
    g.target.grown = Some(grown.clone());
    g.file.own.tunnels = true;
    let by = C::bin(BinOp::Sub, to.clone(), C::id("keep"));
    // Otherwise verifiers would distinguish paths by it.
    let by = g.target.see(Role::Varying, by);
    g.set(grown, by);
}

/// Returns the call that prepares the packet for the network stack. The call returns 0 on success.
pub(super) fn ending(g: &Gen<'_>) -> C {
    let changes_type = g.target.wire.changes_type;
    let name = match (&g.target.grown, changes_type) {
        (Some(_), true) => "packet_end_resized_as",
        (Some(_), false) => "packet_end_resized",
        (None, true) => "packet_end_as",
        (None, false) => "packet_end",
    };
    let came_as = changes_type.then(|| C::id(CAME_AS));
    let args = [Some(C::id("ctx")), came_as, g.target.grown.clone()];
    C::call(name, args.into_iter().flatten().collect())
}
