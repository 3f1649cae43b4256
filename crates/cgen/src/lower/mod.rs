//! IR expressions as C.
//!
//! Values of up to 64 bits are `u32` or `u64`, whichever fits, and all bits above the width are zero. Signed values
//! are kept as bit patterns and sign-extended where an operator needs the sign. Wider values are arrays of 64-bit
//! limbs, the least significant first. All values are in the machine's byte order: a leaf converts bytes of the
//! packet to a number. The C compiler removes the pairs of byte swaps between a load and a comparison or a store.
//!
//! The generated C calls the helpers of `onpath/arith.h` and `onpath/wide.h`.

mod bits;
mod scalar;
mod wide;

pub use bits::{bits, padded_bits, part_of_limbs, part_of_register};
pub use scalar::{cond, cond_or_equal, scalar};
pub use wide::{limb_count, limbs, wide};

use crate::tree::{BinOp, Expr as C, Stmt, Type};
use ir::{Expr, HeaderRef, Program, Var};
use std::collections::HashMap;

/// Access to the leaves of an expression (variables, fields, validity), and to the statements before it.
pub trait Leaves {
    /// The program.
    fn program(&self) -> &Program;

    /// The value of a variable of up to 64 bits.
    fn var(&mut self, var: Var) -> C;

    /// The array of a variable of more than 64 bits.
    fn var_limbs(&mut self, var: Var) -> C;

    /// Bits `hi` down to `lo` (at most 64) of a header's field as a number; 0 if the header was never extracted.
    fn field(&mut self, header: HeaderRef, field: u32, hi: u32, lo: u32) -> C;

    /// Validity of a header, as 0 or 1.
    fn is_valid(&mut self, header: HeaderRef) -> C;

    /// Declares a new array of limbs.
    fn temp(&mut self, limbs: u32) -> C;

    /// Adds a statement that runs before the expression.
    fn emit(&mut self, stmt: Stmt);

    /// Announces that the code requested next, until [`Leaves::end_assumption`], is evaluated only where `cond` is
    /// `truth`.
    fn assume(&mut self, cond: Expr, truth: bool);

    /// Ends the last [`Leaves::assume`].
    fn end_assumption(&mut self);

    /// 1 if two varbits differ, else 0.
    fn varbits_differ(&mut self, a: Expr, b: Expr) -> C;

    /// The arrays that hold values computed for the current statement.
    fn computed(&mut self) -> &mut HashMap<Expr, C>;
}

/// Calls `f` for an operand that is evaluated only where `cond` is `truth`. Operands that contain wide values are
/// lowered without this assumption, because wide values are computed before the statement.
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
