//! IR expressions as C.
//!
//! Values up to 64 bits are `u32` or `u64`, whichever fits, with all bits above the width zero; signed
//! values are kept as their bit patterns and widened where an operator asks for the sign. Wider values
//! are arrays of 64-bit limbs, the least significant first. All are numbers in the machine's order:
//! what turns bytes of the packet into a number is the leaf's affair, and the C compiler drops the
//! pairs of byte swaps between a load and a comparison or a store.
//!
//! The C these functions make calls the helpers of `onpath/arith.h` and `onpath/wide.h`.

mod bits;
mod scalar;
mod wide;

pub use bits::{bits, padded_bits, part_of_limbs, part_of_register};
pub use scalar::{cond, cond_or_equal, scalar};
pub use wide::{limb_count, limbs, wide};

use crate::tree::{BinOp, Expr as C, Stmt, Type};
use ir::{Expr, HeaderRef, Program, Var};
use std::collections::HashMap;

/// Where an expression's leaves lie, and where statements that it needs go.
pub trait Leaves {
    /// The program.
    fn program(&self) -> &Program;

    /// The value of a variable of up to 64 bits.
    fn var(&mut self, var: Var) -> C;

    /// The array of a variable of more than 64 bits.
    fn var_limbs(&mut self, var: Var) -> C;

    /// Bits `hi` down to `lo` (at most 64) of a header's field as a number; 0 if the header was never
    /// there.
    fn field(&mut self, header: HeaderRef, field: u32, hi: u32, lo: u32) -> C;

    /// Whether a header is valid, as 0 or 1.
    fn is_valid(&mut self, header: HeaderRef) -> C;

    /// A new array of limbs.
    fn temp(&mut self, limbs: u32) -> C;

    /// Adds a statement that runs before the expression.
    fn emit(&mut self, stmt: Stmt);

    /// What is asked for next, until [`Leaves::end_assumption`], is used only where `cond` is `truth`.
    fn assume(&mut self, cond: Expr, truth: bool);

    /// Ends the last [`Leaves::assume`].
    fn end_assumption(&mut self);

    /// 1 if two varbits differ, else 0.
    fn varbits_differ(&mut self, a: Expr, b: Expr) -> C;

    /// The arrays that hold values computed for the current statement.
    fn computed(&mut self) -> &mut HashMap<Expr, C>;
}

/// What `f` gives for an operand that is used only where `cond` is `truth`. Wide values are computed
/// ahead of the statement, so that nothing may be assumed for them.
fn under<L: Leaves, T>(
    l: &mut L,
    cond: Expr,
    truth: bool,
    operand: Expr,
    f: impl FnOnce(&mut L) -> T,
) -> T {
    let mut narrow = true;
    ir::visit::walk_expr(l.program(), operand, &mut |data| {
        narrow &= data.ty.width() <= 64;
    });
    if !narrow {
        return f(l);
    }
    l.assume(cond, truth);
    let result = f(l);
    l.end_assumption();
    result
}

/// The low `width` (at most 64) bits set.
pub fn mask(width: u32) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

/// A literal that has the type of a register of `width` bits by itself.
fn typed(value: u64, width: u32) -> C {
    C::Int {
        value,
        typed: true,
        wide: width > 32,
    }
}

/// Gives a bare literal the type of its register, for operators whose result depends on it.
fn with_type(e: C, width: u32) -> C {
    match e {
        C::Int { value, .. } => typed(value, width),
        other => other,
    }
}

/// Drops the bits above `width` of a value in a register for `width`.
fn masked(e: C, width: u32) -> C {
    match e.as_int() {
        Some(value) => C::int(value & mask(width)),
        None if width == 32 || width == 64 => e,
        None => C::bin(BinOp::And, e, C::int(mask(width))),
    }
}

/// `e`, a value of `from` bits, in the register for `to` bits.
fn in_register(e: C, from: u32, to: u32) -> C {
    match e {
        C::Int { .. } => e,
        _ if from <= 32 && to > 32 => e.cast(Type::U64),
        _ if from > 32 && to <= 32 => e.cast(Type::U32),
        _ => e,
    }
}

/// The sign-extended value of the `width` bits of `e`, as `s64`.
fn signed(e: C, width: u32) -> C {
    C::pure("sign_extend", vec![e, C::int(width.into())])
}
