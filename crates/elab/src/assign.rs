//! Assignment: whole values to storage, slices, lists of l-values.

use crate::apart::chooses;
use crate::storage::{HeaderLoc, Storage};
use crate::value::{HeaderValue, Value};
use crate::{Elab, Result, errors};
use diag::Span;
use ir::{BinaryOp, Expr, ExprKind, Header, HeaderRef, Place, Stack, StmtKind, Type, Var};

/// Left-hand side of an assignment.
#[derive(Clone, Debug)]
pub(crate) enum LValue {
    /// A whole variable, field or element.
    Whole(Storage),
    /// Some bits of a scalar.
    Slice {
        /// The scalar.
        place: Place,
        /// Highest bit.
        hi: u32,
        /// Lowest bit.
        lo: u32,
    },
    /// Some bits of a scalar, or of bits of one, at a position that is only known at run time.
    Bits {
        /// The scalar, slice or bits that they are part of.
        of: Box<LValue>,
        /// Lowest bit, a `bit<w>`.
        lo: Expr,
        /// Number of bits.
        width: u32,
    },
    /// Several l-values, assigned one by one from a tuple or struct.
    List(Vec<LValue>),
    /// The l-value with the number `on` among several; none if there is no such l-value.
    Chosen {
        /// A `bit<32>` that nothing changes.
        on: Expr,
        /// The l-values.
        alternatives: Vec<LValue>,
        /// The type of each.
        ty: hir::Ty,
    },
}

/// A step of an assignment.
enum AssignStep {
    Scalar(Place, Expr),
    Copy(HeaderLoc, HeaderRef),
    Valid(HeaderLoc),
    Invalid(HeaderLoc),
    /// Assigns to some bits of a place.
    Part(Place, LValue, Expr),
}

/// Location that a step reads or writes.
#[derive(Clone, Copy)]
enum Access {
    Var(Var),
    Field(HeaderRef, u32),
    Valid(HeaderRef),
    Whole(HeaderRef),
}

impl Elab<'_> {
    /// Assigns a value to storage of its type.
    pub(crate) fn assign(&mut self, dst: &Storage, value: Value, span: Span) -> Result<()> {
        self.store(&LValue::Whole(dst.clone()), value, span)
    }

    /// Assigns a value to an l-value. All of the value is read before any of it is written.
    pub(crate) fn store(&mut self, dst: &LValue, value: Value, span: Span) -> Result<()> {
        match dst {
            LValue::Chosen {
                on, alternatives, ..
            } => return self.store_chosen(*on, alternatives, value, span),
            LValue::List(targets) if chooses(dst) => {
                return self.store_parts(targets, &value, span);
            }
            _ => {}
        }
        let mut steps = Vec::new();
        self.plan(dst, value.clone(), span, &mut steps)?;
        if self.moves(&steps) {
            let fixed = self.frozen_place(dst.clone(), span)?;
            steps.clear();
            self.plan(&fixed, value, span, &mut steps)?;
        }
        self.separate_overlap(&mut steps, span)?;
        for step in steps {
            self.perform(step, span)?;
        }
        Ok(())
    }

    /// Makes a header valid or invalid, and the other members of its union invalid.
    pub(crate) fn set_validity(
        &mut self,
        header: HeaderLoc,
        valid: bool,
        span: Span,
    ) -> Result<()> {
        let step = |header| match valid {
            true => AssignStep::Valid(header),
            false => AssignStep::Invalid(header),
        };
        if !self.moves(&[step(header.clone())]) {
            return self.perform(step(header), span);
        }
        match self.freeze(Storage::Header(header), span)? {
            Storage::Header(fixed) => self.perform(step(fixed), span),
            _ => self.fail(errors::not_storable(span)),
        }
    }

    fn perform(&mut self, step: AssignStep, span: Span) -> Result<()> {
        match step {
            AssignStep::Scalar(dst, value) => {
                let ty = self.place_type(dst);
                let value = self.cast(value, ty, span);
                self.set(dst, value, span)
            }
            AssignStep::Copy(dst, src) if dst.at == src => self.only_valid(&dst, span),
            AssignStep::Copy(dst, src) => {
                self.emit(StmtKind::CopyHeader { dst: dst.at, src }, span)?;
                self.only_valid(&dst, span)
            }
            AssignStep::Valid(dst) => self.set_valid(&dst, span),
            AssignStep::Invalid(dst) => self.set_invalid(&dst, span),
            AssignStep::Part(_, part, value) => self.set_part(&part, value, span),
        }
    }

    /// `place[hi:lo] = value` as an assignment of all bits.
    fn set_slice(&mut self, place: Place, hi: u32, lo: u32, value: Expr, span: Span) -> Result<()> {
        let ty = self.place_type(place);
        let width = ty.width();
        let old = self.read(place, span);
        let mut whole = self.cast(value, Type::bit(hi - lo + 1), span);
        if hi + 1 < width {
            let above = self.slice(old, width - 1, hi + 1, span);
            whole = self.binary(BinaryOp::Concat, above, whole, Type::bit(width - lo), span);
        }
        if lo > 0 {
            let below = self.slice(old, lo - 1, 0, span);
            whole = self.binary(BinaryOp::Concat, whole, below, Type::bit(width), span);
        }
        let whole = self.cast(whole, ty, span);
        self.set(place, whole, span)
    }

    /// Assigns to some bits of a place, by an assignment of all bits.
    fn set_part(&mut self, part: &LValue, value: Expr, span: Span) -> Result<()> {
        match part {
            LValue::Whole(Storage::Scalar(place)) => self.set(*place, value, span),
            LValue::Slice { place, hi, lo } => self.set_slice(*place, *hi, *lo, value, span),
            LValue::Bits { of, lo, width } => {
                let old = self.load(of, span)?;
                let old = self.as_scalar(&old, span)?;
                let whole = self.with_bits(old, *lo, *width, value, span);
                self.set_part(of, whole, span)
            }
            _ => self.fail(errors::not_storable(span)),
        }
    }

    /// Returns a value with `width` bits from `lo` on replaced.
    fn with_bits(&mut self, old: Expr, lo: Expr, width: u32, bits: Expr, span: Span) -> Expr {
        let ty = self.type_of(old);
        let whole = Type::bit(ty.width());
        let old = self.cast(old, whole, span);
        let ones = ir::Bits::from_int(ty.width(), &((num_bigint::BigInt::from(1) << width) - 1));
        let ones = self.expr(ExprKind::Const(ones), whole, span);
        let mask = self.binary(BinaryOp::Shl, ones, lo, whole, span);
        let kept = self.expr(ExprKind::Unary(ir::UnaryOp::BitNot, mask), whole, span);
        let kept = self.binary(BinaryOp::And, old, kept, whole, span);
        let bits = self.cast(bits, Type::bit(width), span);
        let bits = self.cast(bits, whole, span);
        let bits = self.binary(BinaryOp::Shl, bits, lo, whole, span);
        let all = self.binary(BinaryOp::Or, kept, bits, whole, span);
        self.cast(all, ty, span)
    }

    fn plan(
        &mut self,
        dst: &LValue,
        value: Value,
        span: Span,
        steps: &mut Vec<AssignStep>,
    ) -> Result<()> {
        match dst {
            LValue::Whole(storage) => self.plan_whole(storage, value, span, steps),
            LValue::Slice { .. } | LValue::Bits { .. } => {
                let value = self.as_scalar(&value, span)?;
                match place_in(dst) {
                    Some(place) => steps.push(AssignStep::Part(place, dst.clone(), value)),
                    None => return self.fail(errors::not_storable(span)),
                }
                Ok(())
            }
            LValue::List(targets) => {
                let parts = self.elements_of(&value, span);
                for (target, part) in targets.iter().zip(parts) {
                    self.plan(target, part, span, steps)?;
                }
                Ok(())
            }
            // Written by a switch, never as one of several steps.
            LValue::Chosen { .. } => self.fail(errors::not_storable(span)),
        }
    }

    fn plan_whole(
        &mut self,
        dst: &Storage,
        value: Value,
        span: Span,
        steps: &mut Vec<AssignStep>,
    ) -> Result<()> {
        match dst {
            Storage::Scalar(place) => {
                let value = self.as_scalar(&value, span)?;
                steps.push(AssignStep::Scalar(*place, value));
            }
            Storage::Header(header) => match self.as_header(&value, span)? {
                HeaderValue::At(src) => steps.push(AssignStep::Copy(header.clone(), src.at)),
                HeaderValue::Invalid => steps.push(AssignStep::Invalid(header.clone())),
                HeaderValue::Valid(fields) => {
                    steps.push(AssignStep::Valid(header.clone()));
                    for (i, field) in fields.into_iter().enumerate() {
                        steps.push(AssignStep::Scalar(Place::Field(header.at, i as u32), field));
                    }
                }
            },
            Storage::Struct(parts) => {
                let values = self.elements_of(&value, span);
                for (part, value) in parts.iter().zip(values) {
                    self.plan_whole(part, value, span, steps)?;
                }
            }
            Storage::Union(members) => {
                // At most one member of the value is valid: plain copies keep that true.
                let values = self.parts(&value);
                for (member, value) in members.iter().zip(values) {
                    let alone = HeaderLoc {
                        union: None,
                        ..member.clone()
                    };
                    self.plan_whole(&Storage::Header(alone), value, span, steps)?;
                }
            }
            Storage::Stack(stack) => {
                let next = match &value {
                    Value::Stored(Storage::Stack(from)) => self.read(Place::Var(from.next), span),
                    _ => self.bits(32, 0, span),
                };
                let values = self.parts(&value);
                for (elem, value) in self.elements(stack).iter().zip(values) {
                    self.plan_whole(elem, value, span, steps)?;
                }
                steps.push(AssignStep::Scalar(Place::Var(stack.next), next));
            }
            Storage::Array(array) => {
                let values = self.elements_of(&value, span);
                for (elem, value) in self.array_elements(array, span).iter().zip(values) {
                    self.plan_whole(elem, value, span, steps)?;
                }
            }
        }
        Ok(())
    }

    /// Saves values that a step would otherwise read after an earlier step has overwritten them.
    fn separate_overlap(&mut self, steps: &mut [AssignStep], span: Span) -> Result<()> {
        let mut written: Vec<Access> = Vec::new();
        let mut late: Vec<usize> = Vec::new();
        for (i, step) in steps.iter().enumerate() {
            let mut reads = Vec::new();
            match step {
                AssignStep::Scalar(_, value) | AssignStep::Part(_, _, value) => {
                    self.reads(*value, &mut reads);
                }
                AssignStep::Copy(dst, src) if dst.at != *src => {
                    reads.push(Access::Whole(*src));
                    self.index_reads(*src, &mut reads);
                }
                _ => {}
            }
            if reads
                .iter()
                .any(|r| written.iter().any(|w| self.overlap(*r, *w)))
            {
                late.push(i);
            }
            self.writes(step, &mut written);
        }
        for i in late {
            match &mut steps[i] {
                AssignStep::Scalar(_, value) | AssignStep::Part(_, _, value) => {
                    *value = self.save_scalar(*value, span)?;
                }
                AssignStep::Copy(dst, src) => {
                    let copy = self.new_header("tmp", dst.ty, span);
                    let dst = HeaderRef::Header(copy);
                    let from = std::mem::replace(src, dst);
                    self.emit(StmtKind::CopyHeader { dst, src: from }, span)?;
                }
                AssignStep::Valid(_) | AssignStep::Invalid(_) => {}
            }
        }
        Ok(())
    }

    /// Returns true if some steps change the indices by which others find their places.
    fn moves(&self, steps: &[AssignStep]) -> bool {
        let (mut reads, mut written) = (Vec::new(), Vec::new());
        for step in steps {
            let before = written.len();
            self.writes(step, &mut written);
            for access in &written[before..] {
                if let Access::Field(at, _) | Access::Valid(at) | Access::Whole(at) = access {
                    self.index_reads(*at, &mut reads);
                }
            }
        }
        // A lone statement finds its place before it writes.
        written.len() > 1
            && (reads.iter()).any(|read| written.iter().any(|write| self.overlap(*read, *write)))
    }

    /// Adds the locations that a step writes.
    fn writes(&self, step: &AssignStep, into: &mut Vec<Access>) {
        match step {
            AssignStep::Scalar(place, _) | AssignStep::Part(place, ..) => into.push(match place {
                Place::Var(var) => Access::Var(*var),
                Place::Field(header, index) => Access::Field(*header, *index),
            }),
            AssignStep::Copy(dst, _) => {
                into.push(Access::Whole(dst.at));
                into.extend(dst.siblings().map(Access::Valid));
            }
            AssignStep::Valid(dst) | AssignStep::Invalid(dst) => {
                into.push(Access::Valid(dst.at));
                into.extend(dst.siblings().map(Access::Valid));
            }
        }
    }

    /// Adds the locations that are read to find a header.
    fn index_reads(&self, header: HeaderRef, into: &mut Vec<Access>) {
        if let HeaderRef::Element(_, index) = header {
            self.reads(index, into);
        }
    }

    fn reads(&self, expr: Expr, into: &mut Vec<Access>) {
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            let mut at = |header: HeaderRef| {
                if let HeaderRef::Element(_, index) = header {
                    pending.push(index);
                }
            };
            match &self.program.exprs[expr].kind {
                ExprKind::Const(_) | ExprKind::Bool(_) | ExprKind::Member(_) => {}
                ExprKind::Var(var) => into.push(Access::Var(*var)),
                ExprKind::Field(header, index) => {
                    at(*header);
                    into.push(Access::Field(*header, *index));
                }
                ExprKind::IsValid(header) => {
                    at(*header);
                    into.push(Access::Valid(*header));
                }
                ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::Slice { base: a, .. } => {
                    pending.push(*a);
                }
                ExprKind::Binary(_, a, b) => pending.extend([*a, *b]),
                ExprKind::Mux(a, b, c) => pending.extend([*a, *b, *c]),
            }
        }
    }

    fn overlap(&self, a: Access, b: Access) -> bool {
        match (a, b) {
            (Access::Var(a), Access::Var(b)) => a == b,
            (Access::Var(_), _) | (_, Access::Var(_)) => false,
            (Access::Field(a, i), Access::Field(b, j)) => i == j && self.same_header(a, b),
            (Access::Field(..), Access::Valid(_)) | (Access::Valid(_), Access::Field(..)) => false,
            (
                Access::Field(a, _) | Access::Valid(a) | Access::Whole(a),
                Access::Field(b, _) | Access::Valid(b) | Access::Whole(b),
            ) => self.same_header(a, b),
        }
    }

    /// Returns true if two references may mean the same header.
    pub(crate) fn same_header(&self, a: HeaderRef, b: HeaderRef) -> bool {
        let home = |h: HeaderRef| -> (Option<Header>, Option<Stack>) {
            match h {
                HeaderRef::Header(h) => (Some(h), self.stack_of.get(&h).copied()),
                HeaderRef::Element(stack, _) => (None, Some(stack)),
            }
        };
        match (home(a), home(b)) {
            ((Some(a), _), (Some(b), _)) => a == b,
            ((_, Some(a)), (_, Some(b))) => a == b,
            _ => false,
        }
    }
}

/// Returns the place of the scalar that an l-value is, or is bits of.
pub(crate) fn place_in(lvalue: &LValue) -> Option<Place> {
    match lvalue {
        LValue::Whole(Storage::Scalar(place)) | LValue::Slice { place, .. } => Some(*place),
        LValue::Bits { of, .. } => place_in(of),
        _ => None,
    }
}
