//! L-values (section 6.7): storage, and the path to a part of it.

use super::machine::{Machine, Result};
use super::value::{Bits, Value};
use hir::{Expr, ExprKind, LocalId};
use num_bigint::BigInt;

/// An l-value whose indices have been evaluated.
#[derive(Clone)]
pub(super) struct StoragePath {
    frame: usize,
    local: LocalId,
    path: Vec<PathStep>,
}

/// A step from a value to a part of it.
#[derive(Clone)]
pub(super) enum PathStep {
    /// A field or an element.
    Part(usize),
    /// Bits of a number: the lowest one, and how many.
    Slice(u32, u32),
}

impl StoragePath {
    /// A whole variable.
    pub(super) fn of(frame: usize, local: LocalId) -> StoragePath {
        StoragePath {
            frame,
            local,
            path: Vec::new(),
        }
    }
}

impl PathStep {
    /// Returns the step to the element with a number. A number that is too large leads to an element that no array
    /// has.
    pub(super) fn element(index: &Value) -> PathStep {
        PathStep::Part(usize::try_from(&index.bits().value).unwrap_or(usize::MAX))
    }

    /// Returns the step to a slice that begins at a bit with a number. A number that is too large is beyond the
    /// value's end.
    pub(super) fn bits_from(lo: &Value, width: u32) -> PathStep {
        PathStep::Slice(u32::try_from(&lo.bits().value).unwrap_or(u32::MAX), width)
    }
}

impl Machine<'_> {
    /// Returns true if an expression is a reference to storage.
    pub(super) fn is_place(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Local(_) => true,
            ExprKind::Field(base, _)
            | ExprKind::TupleField(base, _)
            | ExprKind::StackIndex(base, _) => self.is_place(base),
            _ => false,
        }
    }

    /// Evaluates an expression to an l-value, with its operands from left to right.
    pub(super) fn place(&mut self, expr: &Expr) -> Result<StoragePath> {
        let (mut place, step) = match &expr.kind {
            ExprKind::Local(local) => return Ok(StoragePath::of(self.home(*local), *local)),
            ExprKind::Cast(inner) => return self.place(inner),
            ExprKind::Field(base, index) | ExprKind::TupleField(base, index) => {
                (self.place(base)?, PathStep::Part(*index as usize))
            }
            ExprKind::StackIndex(base, index) => {
                (self.place(base)?, PathStep::element(&self.eval(index)?))
            }
            ExprKind::Slice { base, hi, lo } => {
                (self.place(base)?, PathStep::Slice(*lo, hi - lo + 1))
            }
            ExprKind::PartSelect { base, lo, width } => {
                let base = self.place(base)?;
                (base, PathStep::bits_from(&self.eval(lo)?, *width))
            }
            other => panic!("{other:?} is no l-value"),
        };
        place.path.push(step);
        Ok(place)
    }

    /// Returns the value of an l-value.
    pub(super) fn read(&self, place: &StoragePath) -> Value {
        part(&self.frames[place.frame].locals[&place.local], &place.path)
    }

    /// Assigns to an l-value.
    pub(super) fn write(&mut self, place: &StoragePath, value: Value) {
        let locals = &mut self.frames[place.frame].locals;
        let whole = locals.get_mut(&place.local).expect("it is in scope");
        set_part(whole, &place.path, value);
    }
}

/// Returns a part of a value. Beyond an array's end, values are unset.
pub(super) fn part(value: &Value, path: &[PathStep]) -> Value {
    match path {
        [] => value.clone(),
        [PathStep::Part(index), rest @ ..] => match value.parts().get(*index) {
            Some(element) => part(element, rest),
            None => part(&value.parts()[0], rest).nothing(),
        },
        [PathStep::Slice(lo, width), rest @ ..] => part(&slice(value.bits(), *lo, *width), rest),
    }
}

fn slice(of: &Bits, lo: u32, width: u32) -> Value {
    Value::number(of.unsigned() >> lo.min(of.width), width, false)
}

/// Replaces a part of a value. Nothing is written beyond an array's end, or a number's.
fn set_part(value: &mut Value, path: &[PathStep], new: Value) {
    match path {
        [] => *value = new,
        [PathStep::Part(index), rest @ ..] => {
            if rest.is_empty()
                && let Value::Union(headers) = value
            {
                // At most one header of a union is valid (section 8.20).
                invalidate(headers);
            }
            if let Some(element) = value.parts_mut().get_mut(*index) {
                set_part(element, rest, new);
            }
        }
        [PathStep::Slice(lo, width), rest @ ..] => {
            let whole = value.bits();
            let mut some = slice(whole, *lo, *width);
            set_part(&mut some, rest, new);
            let lo = (*lo).min(whole.width);
            let ones: BigInt = (BigInt::from(1) << width) - 1;
            let kept: BigInt = -(ones << lo) - 1;
            let others = whole.unsigned() & kept;
            let all = others + (some.bits().unsigned() << lo);
            *value = Value::number(all, whole.width, whole.signed);
        }
    }
}

/// Makes headers invalid.
fn invalidate(headers: &mut [Value]) {
    for header in headers {
        if let Value::Header(valid, _) = header {
            *valid = false;
        }
    }
}
