//! Calls of a flow state: one look-up of the set, whose lock is held for all calls of an atomic block.
//!
//! The key's way is searched once, when the lock is taken. From then on a variable holds the way's number, and each
//! call uses that. A number of `FLOW_WAYS` or more means that the flow is not known. If values are updated in place
//! ([`in_place`](crate::analysis::in_place)), the flow exists from the look-up on, and a pointer leads to it.

mod calls;
mod layout;
mod lock;

pub use calls::home;

use crate::analysis::{in_place, redundant_stores};
use crate::held::Calls;
use crate::target::{LateInput, StateTarget};
use calls::{leave_way, locked_call};
use emit::Gen;
use ir::atomic::Region;
use ir::visit::{self, Access};
use ir::{ExprKind, ExternArg, ExternCall, ExternInst};
use lock::{SetUse, locked};

/// Emits an atomic block whose calls use one flow.
pub(crate) fn atomic<T: StateTarget>(g: &mut Gen<'_, T>, region: &Region, block: &ir::Block) {
    let (before, inside) = block.split_at(region.first);
    g.run(before);
    g.kill_computed();
    let calls = Calls {
        redundant: redundant_stores::of_region(g.p, inside),
        in_place: in_place::of_region(g.p, inside),
    };
    g.hold_headers(inside);
    let cell = &region.cells[0];
    let flow = (cell.object, &cell.key[..]);
    locked(
        g,
        flow,
        (SetUse::Change, calls),
        late_input(g, inside),
        |g| {
            g.run(inside);
            leave_way(g);
        },
    );
    g.release_headers();
}

/// Emits a call, under the lock that is held or a lock of its own.
pub(crate) fn flow_call<T: StateTarget>(
    g: &mut Gen<'_, T>,
    object: ExternInst,
    call: &ExternCall,
    stmt: &ir::Stmt,
) {
    if let Some(held) = g.target.held().flow.clone() {
        return locked_call(g, &held, call, stmt.id);
    }
    let Some(ExternArg::In(key)) = call.args.first() else {
        return g.not_lowered("a flow without key", stmt.span);
    };
    let stmts = std::slice::from_ref(stmt);
    let late = late_input(g, stmts);
    g.hold_headers(stmts);
    let set_use = match call.name.as_str() {
        "lookup" => SetUse::Read,
        _ => SetUse::Change,
    };
    locked(g, (object, key), (set_use, Calls::default()), late, |g| {
        if let Some(held) = g.target.held().flow.clone() {
            locked_call(g, &held, call, stmt.id);
        }
    });
    g.release_headers();
}

/// Returns the reader of the late input that these statements need, if they need one.
fn late_input<T: StateTarget>(g: &Gen<'_, T>, stmts: &[ir::Stmt]) -> Option<LateInput<T>> {
    let mut found = None;
    visit::walk_block(stmts, &mut |stmt| {
        visit::accesses(g.p, &stmt.kind, |access| {
            let Access::Eval(e) = access else { return };
            visit::walk_expr(g.p, e, &mut |data| {
                if let ExprKind::Var(var) = data.kind {
                    found = found.or_else(|| T::late_input(g, var));
                }
            });
        });
    });
    found
}
