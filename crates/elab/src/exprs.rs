//! Expressions: effects become statements in the order of evaluation; the remaining expression is pure.

use crate::assign::LValue;
use crate::effects::{has_effects, takes_statements};
use crate::instances::Binding;
use crate::storage::{StackLoc, Storage};
use crate::types::TypeShape;
use crate::value::{HeaderValue, Value};
use crate::{Elab, Result, errors};
use diag::Span;
use hir::{Expr, ExprKind, StackProperty, Ty};
use ir::{BinaryOp, Place, StmtKind, Type};

impl Elab<'_> {
    /// Evaluates an expression. Storage in it is read when the value is used: see [`Elab::operands`] for cases
    /// where that matters.
    pub(crate) fn eval(&mut self, expr: &Expr) -> Result<Value> {
        self.grow(1, expr.span)?;
        self.deeper(expr.span, |elab| elab.eval_kind(expr))
    }

    fn eval_kind(&mut self, expr: &Expr) -> Result<Value> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Const(value) => self.constant(value, &expr.ty, span),
            ExprKind::Local(id) => match self.env.locals.get(id) {
                Some(Binding::Storage(storage)) => Ok(Value::Stored(storage.clone())),
                Some(Binding::Const(value)) => {
                    let value = value.clone();
                    self.constant(&value, &expr.ty, span)
                }
                // A variable whose declaration failed was reported there.
                _ if self.diagnostics.has_errors() => Err(crate::Failed),
                _ => self.fail(errors::not_storable(span)),
            },
            ExprKind::Field(base, index) => {
                if let Some(value) = self.evaluate_field(expr) {
                    return self.constant(&value, &expr.ty, span);
                }
                let value = self.eval(base)?;
                self.project(&value, &base.ty, *index, span)
            }
            ExprKind::TupleField(base, index) => {
                let value = self.eval(base)?;
                self.project(&value, &base.ty, *index, span)
            }
            ExprKind::StackIndex(base, index) => self.eval_index(base, index, span),
            ExprKind::StackProperty(base, property) => {
                let stack = self.stack(base)?;
                self.stack_property(&stack, *property, span)
            }
            ExprKind::Slice { base, hi, lo } => {
                let base = self.scalar(base)?;
                Ok(Value::Scalar(self.slice(base, *hi, *lo, span)))
            }
            ExprKind::PartSelect { base, lo, width } => {
                if lo.ty == Ty::Int {
                    let first = self.first_bit(base, lo, *width)?;
                    let base = self.scalar(base)?;
                    return Ok(Value::Scalar(self.bits_from(base, first, *width, span)));
                }
                let values = self.operands(&[base, lo])?;
                let base = self.as_scalar(&values[0], base.span)?;
                let lo = self.as_scalar(&values[1], lo.span)?;
                Ok(Value::Scalar(self.bits_from(base, lo, *width, span)))
            }
            ExprKind::Target => match self.target.clone() {
                Some(value) => Ok(value),
                None => self.fail(errors::not_storable(span)),
            },
            ExprKind::IsValid(base) => {
                let value = self.eval(base)?;
                Ok(Value::Scalar(self.validity(&value, span)?))
            }
            ExprKind::List(elems) => self.eval_list(elems, &expr.ty, span),
            ExprKind::Default => self.default_value(&expr.ty, span),
            ExprKind::Unary(op, operand) => {
                let operand = self.scalar(operand)?;
                Ok(Value::Scalar(self.unary(*op, operand, span)))
            }
            ExprKind::Chain(first, steps) => self.eval_chain(first, steps),
            ExprKind::Mux(cond, a, b) => self.eval_mux(cond, a, b, expr),
            ExprKind::Cast(inner) => {
                if let Some(value) = self.evaluate(expr) {
                    return self.constant(&value, &expr.ty, span);
                }
                let value = self.eval(inner)?;
                self.convert(value, &expr.ty, span)
            }
            ExprKind::Call(call) => self.call(call, true),
            ExprKind::TableHit(table, wanted) => {
                let hit = self.apply_for_hit(*table, span)?;
                Ok(Value::Scalar(if *wanted {
                    hit
                } else {
                    self.not(hit, span)
                }))
            }
            ExprKind::Instance(_) | ExprKind::This => self.fail(errors::not_storable(span)),
        }
    }

    /// Evaluates a scalar expression.
    pub(crate) fn scalar(&mut self, expr: &Expr) -> Result<ir::Expr> {
        let value = self.eval(expr)?;
        self.as_scalar(&value, expr.span)
    }

    /// Evaluates several expressions, from left to right. A value is saved before a later expression can change
    /// what it reads.
    pub(crate) fn operands(&mut self, exprs: &[&Expr]) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        for (i, expr) in exprs.iter().enumerate() {
            let mut value = self.eval(expr)?;
            if exprs[i + 1..].iter().any(|e| has_effects(e)) {
                value = self.save(value, &expr.ty, expr.span)?;
            }
            values.push(value);
        }
        Ok(values)
    }

    /// Takes `width` bits from the position `lo` on, which is only known at run time.
    pub(crate) fn bits_from(
        &mut self,
        base: ir::Expr,
        lo: ir::Expr,
        width: u32,
        span: Span,
    ) -> ir::Expr {
        let whole = Type::bit(self.type_of(base).width());
        let base = self.cast(base, whole, span);
        let shifted = self.binary(BinaryOp::Shr, base, lo, whole, span);
        self.slice(shifted, width - 1, 0, span)
    }

    fn evaluate_field(&self, expr: &Expr) -> Option<hir::ConstValue> {
        // Only constants that depend on constructor parameters are left to evaluate here.
        let mut base = expr;
        while let ExprKind::Field(inner, _) | ExprKind::TupleField(inner, _) = &base.kind {
            base = inner;
        }
        match &base.kind {
            ExprKind::Local(_) | ExprKind::Const(_) => self.evaluate(expr),
            _ => None,
        }
    }

    fn eval_list(&mut self, elems: &[Expr], ty: &Ty, span: Span) -> Result<Value> {
        let values = self.operands(&elems.iter().collect::<Vec<_>>())?;
        match &*self.shape(ty, span)? {
            TypeShape::Header(header) => {
                let mut scalars = Vec::new();
                for value in &values {
                    self.scalars(value, span, &mut scalars)?;
                }
                Ok(Value::Header(*header, scalars))
            }
            TypeShape::Stack(..) | TypeShape::Array(..) => Ok(Value::Stack(values)),
            _ => Ok(Value::Struct(values)),
        }
    }

    fn eval_index(&mut self, base: &Expr, index: &Expr, span: Span) -> Result<Value> {
        let [stack, index_value] = &self.operands_of_index(base, index)?[..] else {
            return self.fail(errors::not_storable(span));
        };
        let index = self.as_scalar(index_value, index.span)?;
        match stack {
            Value::Stack(elements) if self.known_index(index).is_some() => {
                let elem = self.element_type(&base.ty, span)?;
                self.element_value(elements, index, &elem, span)
            }
            Value::Stored(Storage::Stack(stack)) => {
                Ok(Value::Stored(self.index(stack, index, span)))
            }
            Value::Stored(Storage::Array(array)) => {
                let index = self.as_index(index, span);
                Ok(Value::Stored(self.array_element(array, index, span)))
            }
            Value::Stored(Storage::Struct(elements)) => {
                let index = self.as_index(index, span);
                let elem = self.element_type(&base.ty, span)?;
                let elements: Vec<Value> = elements.iter().cloned().map(Value::Stored).collect();
                self.element_value(&elements, index, &elem, span)
            }
            _ => {
                let storage = self.allocate("tmp", &base.ty, span)?;
                self.assign(&storage, stack.clone(), span)?;
                match &storage {
                    Storage::Stack(stack) => Ok(Value::Stored(self.index(stack, index, span))),
                    Storage::Array(array) => {
                        let index = self.as_index(index, span);
                        Ok(Value::Stored(self.array_element(array, index, span)))
                    }
                    Storage::Struct(elements) => {
                        let index = self.as_index(index, span);
                        let elem = self.element_type(&base.ty, span)?;
                        let elements = elements.iter().cloned().map(Value::Stored);
                        let elements: Vec<Value> = elements.collect();
                        self.element_value(&elements, index, &elem, span)
                    }
                    _ => self.fail(errors::not_storable(span)),
                }
            }
        }
    }

    fn operands_of_index(&mut self, base: &Expr, index: &Expr) -> Result<Vec<Value>> {
        // The stack itself is a place, not read before the element is.
        let mut stack = self.eval(base)?;
        if let (Value::Stored(storage), true) = (&stack, has_effects(index)) {
            stack = Value::Stored(self.freeze(storage.clone(), base.span)?);
        }
        let index = self.index_operand(index)?;
        Ok(vec![stack, Value::Scalar(index)])
    }

    /// Evaluates an index, which may be a compile-time `int`.
    pub(crate) fn index_operand(&mut self, index: &Expr) -> Result<ir::Expr> {
        match self.evaluate(index) {
            Some(hir::ConstValue::Int(value)) => {
                let value = u64::try_from(&value).unwrap_or(u64::from(u32::MAX));
                Ok(self.bits(32, value.min(u64::from(u32::MAX)), index.span))
            }
            _ => self.scalar(index),
        }
    }

    /// Returns a header stack in storage.
    pub(crate) fn stack(&mut self, expr: &Expr) -> Result<StackLoc> {
        match self.eval(expr)? {
            Value::Stored(Storage::Stack(stack)) => Ok(stack),
            _ => self.fail(errors::not_storable(expr.span)),
        }
    }

    fn stack_property(
        &mut self,
        stack: &StackLoc,
        property: StackProperty,
        span: Span,
    ) -> Result<Value> {
        let next = self.read(Place::Var(stack.next), span);
        Ok(match property {
            StackProperty::Next => {
                self.check_room(stack, span)?;
                Value::Stored(self.element(stack, next))
            }
            StackProperty::Last => {
                if !self.just_extracted(stack) {
                    let zero = self.bits(32, 0, span);
                    let some = self.binary(BinaryOp::Ne, next, zero, Type::Bool, span);
                    self.verify_bounds(some, span)?;
                }
                let last = self.last_index(next, span);
                Value::Stored(self.element(stack, last))
            }
            StackProperty::LastIndex => Value::Scalar(self.last_index(next, span)),
            StackProperty::NextIndex => Value::Scalar(next),
        })
    }

    fn last_index(&mut self, next: ir::Expr, span: Span) -> ir::Expr {
        let one = self.bits(32, 1, span);
        self.binary(BinaryOp::Sub, next, one, Type::bit(32), span)
    }

    /// Rejects the packet if a stack is full.
    pub(crate) fn check_room(&mut self, stack: &StackLoc, span: Span) -> Result<()> {
        let next = self.read(Place::Var(stack.next), span);
        let size = self.bits(32, u64::from(stack.size), span);
        let room = self.binary(BinaryOp::Lt, next, size, Type::Bool, span);
        self.verify_bounds(room, span)
    }

    fn verify_bounds(&mut self, cond: ir::Expr, span: Span) -> Result<()> {
        let index = self.error_member("StackOutOfBounds");
        let error = self.expr(ir::ExprKind::Member(index), Type::Error, span);
        self.emit(StmtKind::Verify { cond, error }, span)
    }

    /// Returns true if the last change of a stack's next index in this block raised it, so that there is a last
    /// element.
    fn just_extracted(&self, stack: &StackLoc) -> bool {
        for stmt in self.body.out.iter().rev() {
            match &stmt.kind {
                StmtKind::Assign {
                    dst: Place::Var(var),
                    value,
                } if *var == stack.next => {
                    let raised = &self.program.exprs[*value].kind;
                    return matches!(raised, ir::ExprKind::Binary(BinaryOp::Add, ..));
                }
                StmtKind::PopFront(stacks, _)
                    if stack.members.iter().any(|(m, _)| stacks.contains(m)) =>
                {
                    return false;
                }
                StmtKind::Extract { .. }
                | StmtKind::Assign { .. }
                | StmtKind::SetInvalid(_)
                | StmtKind::SetValid(_)
                | StmtKind::Verify { .. }
                | StmtKind::Lookahead { .. }
                | StmtKind::Advance(_) => {}
                _ => return false,
            }
        }
        false
    }

    /// `isValid()` of a header or union.
    pub(crate) fn validity(&mut self, value: &Value, span: Span) -> Result<ir::Expr> {
        if let Value::Union(_) | Value::Stored(Storage::Union(_)) = value {
            let mut any = self.bool(false, span);
            for part in self.parts(value) {
                let valid = self.validity(&part, span)?;
                any = self.or(any, valid, span);
            }
            return Ok(any);
        }
        Ok(match self.as_header(value, span)? {
            HeaderValue::At(header) => self.is_valid(header.at, span),
            HeaderValue::Valid(..) => self.bool(true, span),
            HeaderValue::Invalid => self.bool(false, span),
        })
    }

    fn eval_mux(&mut self, cond: &Expr, a: &Expr, b: &Expr, expr: &Expr) -> Result<Value> {
        let span = expr.span;
        let cond = self.scalar(cond)?;
        if let ir::ExprKind::Bool(value) = self.program.exprs[cond].kind {
            return self.eval(if value { a } else { b });
        }
        let scalar = self.scalar_type(&expr.ty);
        // Varbit values are only copied.
        let in_statements = matches!(scalar, Some(Type::Varbit(_)));
        if let (Some(ty), false) = (
            scalar,
            in_statements || takes_statements(a) || takes_statements(b),
        ) {
            let then = self.scalar(a)?;
            let otherwise = self.scalar(b)?;
            let kind = ir::ExprKind::Mux(cond, then, otherwise);
            return Ok(Value::Scalar(self.expr(kind, ty, span)));
        }
        let result = self.allocate("tmp", &expr.ty, span)?;
        let branch = |elab: &mut Self, side: &Expr| {
            elab.block(|elab| {
                let value = elab.eval(side)?;
                elab.assign(&result, value, side.span)
            })
        };
        let then = branch(self, a)?;
        let otherwise = branch(self, b)?;
        self.emit_if(cond, then, otherwise, span)?;
        Ok(Value::Stored(result))
    }

    /// Converts a value to a type.
    pub(crate) fn convert(&mut self, value: Value, ty: &Ty, span: Span) -> Result<Value> {
        match &*self.shape(ty, span)? {
            TypeShape::Scalar(ty) => {
                let scalar = self.as_scalar(&value, span)?;
                Ok(Value::Scalar(self.cast(scalar, *ty, span)))
            }
            TypeShape::Header(header) => match &value {
                Value::Struct(_) | Value::Stored(Storage::Struct(_)) => {
                    let fields = self.composite_fields(ty);
                    let mut scalars = Vec::new();
                    for (part, (_, ty)) in self.parts(&value).into_iter().zip(fields) {
                        let part = self.convert(part, &ty, span)?;
                        self.scalars(&part, span, &mut scalars)?;
                    }
                    Ok(Value::Header(*header, scalars))
                }
                _ => Ok(value),
            },
            TypeShape::Struct(fields) => {
                let mut values = Vec::new();
                for (part, (_, ty)) in self.parts(&value).into_iter().zip(fields) {
                    values.push(self.convert(part, ty, span)?);
                }
                Ok(Value::Struct(values))
            }
            TypeShape::Stack(elem, _) | TypeShape::Array(elem, _) => match &value {
                Value::Struct(parts) => {
                    let mut values = Vec::new();
                    for part in parts {
                        values.push(self.convert(part.clone(), elem, span)?);
                    }
                    Ok(Value::Stack(values))
                }
                _ => Ok(value),
            },
            TypeShape::Union(_) => Ok(value),
        }
    }

    /// Evaluates the left-hand side of an assignment. `freeze` saves the indices in it.
    pub(crate) fn lvalue(&mut self, expr: &Expr, freeze: bool) -> Result<LValue> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::List(targets) => {
                let mut all = Vec::new();
                for target in targets {
                    all.push(self.lvalue(target, true)?);
                }
                Ok(LValue::List(all))
            }
            ExprKind::Slice { base, hi, lo } => {
                let whole = self.lvalue(base, freeze)?;
                self.slice_of(whole, *hi, *lo, span)
            }
            ExprKind::PartSelect { base, lo, width } => {
                let whole = self.lvalue(base, freeze || has_effects(lo))?;
                let mut lo = self.first_bit(base, lo, *width)?;
                if freeze {
                    lo = self.save_scalar(lo, span)?;
                }
                self.bits_of(whole, lo, *width, span)
            }
            ExprKind::Cast(inner) => self.lvalue(inner, freeze),
            _ => {
                let place = self.place_of(expr)?;
                if freeze {
                    self.frozen_place(place, span)
                } else {
                    Ok(place)
                }
            }
        }
    }

    /// Returns bits `hi` to `lo` of an l-value.
    fn slice_of(&mut self, whole: LValue, hi: u32, lo: u32, span: Span) -> Result<LValue> {
        match whole {
            LValue::Whole(Storage::Scalar(place)) => Ok(LValue::Slice { place, hi, lo }),
            LValue::Slice { place, lo: by, .. } => Ok(LValue::Slice {
                place,
                hi: hi + by,
                lo: lo + by,
            }),
            LValue::Chosen {
                on, alternatives, ..
            } => {
                let slice = |elab: &mut Self, whole| elab.slice_of(whole, hi, lo, span);
                self.of_each(on, alternatives, hi - lo + 1, slice)
            }
            bits @ LValue::Bits { .. } => Ok(LValue::Bits {
                of: Box::new(bits),
                lo: self.bits(32, lo.into(), span),
                width: hi - lo + 1,
            }),
            _ => self.fail(errors::not_storable(span)),
        }
    }

    /// Returns `width` bits of an l-value from the position `lo` on, which is only known at run time.
    fn bits_of(&mut self, whole: LValue, lo: ir::Expr, width: u32, span: Span) -> Result<LValue> {
        match whole {
            LValue::Whole(Storage::Scalar(_)) | LValue::Slice { .. } | LValue::Bits { .. } => {
                Ok(LValue::Bits {
                    of: Box::new(whole),
                    lo,
                    width,
                })
            }
            LValue::Chosen {
                on, alternatives, ..
            } => {
                let bits = |elab: &mut Self, whole| elab.bits_of(whole, lo, width, span);
                self.of_each(on, alternatives, width, bits)
            }
            _ => self.fail(errors::not_storable(span)),
        }
    }

    /// Returns the same bits of each of several l-values, one of which is selected at run time.
    fn of_each(
        &mut self,
        on: ir::Expr,
        alternatives: Vec<LValue>,
        width: u32,
        bits: impl Fn(&mut Self, LValue) -> Result<LValue>,
    ) -> Result<LValue> {
        let mut made = Vec::new();
        for whole in alternatives {
            made.push(bits(self, whole)?);
        }
        Ok(LValue::Chosen {
            on,
            alternatives: made,
            ty: Ty::bit(width),
        })
    }

    /// Returns the position of the first bit of a slice that is given by position and width. The position may be a
    /// compile-time `int`.
    fn first_bit(&mut self, base: &Expr, lo: &Expr, width: u32) -> Result<ir::Expr> {
        if lo.ty != Ty::Int {
            return self.scalar(lo);
        }
        let first = self.must_evaluate(lo)?;
        let sliced = self.scalar_type(&base.ty).map_or(0, Type::width);
        match first {
            hir::ConstValue::Int(first)
                if (0..=i64::from(sliced) - i64::from(width))
                    .contains(&i64::try_from(&first).unwrap_or(-1)) =>
            {
                let first = u64::try_from(&first).unwrap_or(0);
                Ok(self.bits(32, first, lo.span))
            }
            hir::ConstValue::Int(first) => {
                self.fail(errors::slice_outside(lo.span, &first, width, sliced))
            }
            _ => self.fail(errors::not_storable(lo.span)),
        }
    }
}
