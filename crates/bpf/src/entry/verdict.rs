//! Which verdicts a program may give.

use crate::emit::Gen;
use ir::{ExprKind, Place, Program, StmtKind, visit};

impl Gen<'_> {
    /// Whether an output of the program, an enum, may be this member of it.
    pub(super) fn may_give(&self, slot: &str, name: &str, member: u32) -> bool {
        let Some(output) = self.p.slot_var(slot, name) else {
            return false;
        };
        let mut may = false;
        for body in visit::bodies(self.p) {
            visit::walk_block(body, &mut |s| {
                visit::accesses(self.p, &s.kind, |access| {
                    if access != visit::Access::Write(Place::Var(output)) {
                        return;
                    }
                    may |= match &s.kind {
                        StmtKind::Assign { value, .. } => may_be(self.p, *value, member),
                        _ => true,
                    };
                });
            });
        }
        may
    }
}

/// Whether an expression may have an enum member as its value.
fn may_be(p: &Program, e: ir::Expr, member: u32) -> bool {
    match p.exprs[e].kind {
        ExprKind::Member(index) => index == member,
        ExprKind::Mux(_, a, b) => may_be(p, a, member) || may_be(p, b, member),
        ExprKind::Const(ref bits) => bits.to_u64() == Some(member.into()),
        _ => true,
    }
}
