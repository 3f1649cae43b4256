//! Ends of packets that grow and shrink before their IP header, such as by a tunnel.

use super::{CAME_AS, ETHERNET};
use crate::emitter::{Gen, unknown_zero};
use cgen::tree::{BinOp, Expr as C, Stmt, Type};
use emit::{Hints, Role};

/// Largest number of bytes before an outer header: an Ethernet header and a tag.
const MOST_FRONT: u32 = ETHERNET + 4;

/// Deparses the packet. After that, the number of bytes that it has grown by is known, if it matters.
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

/// Records by how much the packet grows or shrinks after at least `front` bytes, if that may be a tunnel's headers.
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

/// Returns the call that makes the packet one that the stack can handle; its value is not 0 if it cannot.
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
