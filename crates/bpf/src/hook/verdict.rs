//! Outputs that a program may give, and inputs that it reads.

use diag::Span;
use ir::visit::{self, Access};
use ir::{ExprKind, Place, Program, StmtKind, Var};

/// Returns true if an output of the program, an enum, may be this member of it.
pub(crate) fn may_give(p: &Program, slot: &str, name: &str, member: u32) -> bool {
    gives(p, slot, name, member).is_some()
}

/// Returns the location of the first statement that may set an output of the program to this member of its enum.
pub(super) fn gives(p: &Program, slot: &str, name: &str, member: u32) -> Option<Span> {
    let output = p.slot_var(slot, name)?;
    let mut first = None;
    for body in visit::bodies(p) {
        visit::walk_block(body, &mut |s| {
            visit::accesses(p, &s.kind, |access| {
                if access != Access::Write(Place::Var(output)) {
                    return;
                }
                let may = match &s.kind {
                    StmtKind::Assign { value, .. } => may_be(p, *value, member),
                    _ => true,
                };
                if may {
                    first.get_or_insert(s.span);
                }
            });
        });
    }
    first
}

/// Returns true if an expression may have an enum member as its value.
fn may_be(p: &Program, e: ir::Expr, member: u32) -> bool {
    match p.exprs[e].kind {
        ExprKind::Member(index) => index == member,
        ExprKind::Mux(_, a, b) => may_be(p, a, member) || may_be(p, b, member),
        ExprKind::Const(ref bits) => bits.to_u64() == Some(member.into()),
        _ => true,
    }
}

/// Returns true if the program writes an output.
pub(super) fn writes(p: &Program, slot: &str, name: &str) -> bool {
    let Some(output) = p.slot_var(slot, name) else {
        return false;
    };
    any_access(p, |access| access == Access::Write(Place::Var(output)))
}

/// Returns true if the program reads a variable: in its statements, to choose a parser's next state, or in the key of
/// a table.
pub(super) fn is_read(p: &Program, var: Var) -> bool {
    let kind = ExprKind::Var(var);
    let reads = |e| {
        let mut read = false;
        visit::walk_expr(p, e, &mut |data| read |= data.kind == kind);
        read
    };
    let in_statements = any_access(p, |access| match access {
        Access::Eval(e) => reads(e),
        Access::Read(place) => place == Place::Var(var),
        _ => false,
    });
    in_statements || visit::selected(p).any(reads) || visit::matched(p).any(reads)
}

fn any_access(p: &Program, mut wanted: impl FnMut(Access) -> bool) -> bool {
    let mut any = false;
    for body in visit::bodies(p) {
        visit::walk_block(body, &mut |s| {
            visit::accesses(p, &s.kind, |access| any |= wanted(access));
        });
    }
    any
}
