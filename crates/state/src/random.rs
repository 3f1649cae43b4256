//! Random numbers between two bounds.

use crate::target::StateTarget;
use cgen::lower;
use cgen::tree::{BinOp, Expr as C, Stmt, Type as CType};
use diag::Span;
use emit::Gen;
use emit::calls::{places, values};
use emit::errors;
use emit::values::Value;
use ir::ExternCall;

/// Returns 64 random bits. The number drawn first is the upper half.
pub fn draw() -> C {
    C::call("random_u64", Vec::new())
}

/// Emits `random`: a number between two bounds, both included, or the first bound if it is above the second.
pub(crate) fn random<T: StateTarget>(g: &mut Gen<'_, T>, call: &ExternCall, span: Span) {
    let Some(&place) = places(call, 0).first() else {
        return;
    };
    let width = g.p.place_type(place).map_or(0, |ty| ty.width());
    if width > 64 {
        g.refuse(errors::wide_number(g.target.name(), "random", span));
        return;
    }
    let bounds = [1, 2].map(|at| values(call, at).first().copied());
    let [lo, hi] = bounds.map(|e| e.map_or(C::int(0), |e| lower::scalar(g, e)));
    let [from, span] = ["from", "span"].map(|wish| g.file.names.fresh(wish));
    let id = |name: &smol_str::SmolStr| C::Ident(name.clone());
    // A range of all 64-bit numbers has a span of 0.
    let many = C::bin(BinOp::Sub, hi.clone().cast(CType::U64), id(&from)).plus(1);
    let drawn = C::call("random_below", vec![id(&span)]);
    let value = C::bin(BinOp::Add, id(&from), drawn);
    let above = C::bin(BinOp::Gt, id(&from), hi);
    let block = g.block(|g| {
        g.push(Stmt::decl(CType::U64, from.clone(), lo));
        g.push(Stmt::decl(CType::U64, span.clone(), many));
        g.store(place, Value::Scalar(C::choose(above, id(&from), value)));
    });
    g.push(Stmt::Block(block));
}
