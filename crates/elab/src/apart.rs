//! Arrays whose elements lie apart, each in storage of its own. These are arrays that are fields of a header, that
//! have values without a fixed number of bits, or that are in a field list. A run-time index selects an element: by
//! conditions where the element is read, by a switch where it is written. A switch also selects a varbit, which no
//! expression can have. All other arrays are in `array.rs`.

use crate::assign::{LValue, place_in};
use crate::effects::has_effects;
use crate::storage::{Leaf, Storage};
use crate::types::TypeShape;
use crate::value::Value;
use crate::{Elab, Result, errors};
use diag::Span;
use hir::Ty;
use ir::{BinaryOp, Bits, Expr, ExprKind, StmtKind, Type};

impl Elab<'_> {
    /// Allocates an array whose elements must lie apart; returns `None` if they need not.
    pub(crate) fn allocate_apart(
        &mut self,
        name: &str,
        elem: &Ty,
        size: u32,
        span: Span,
    ) -> Result<Option<Storage>> {
        if !self.apart && !self.lacks_bits(elem, span)? {
            return Ok(None);
        }
        if self.holds_headers(elem, span)? {
            return self.fail(errors::array_of_what(span, name));
        }
        let count = self.count_elements(elem, size.into(), span)?;
        if count > u64::from(hir::MAX_STACK_SIZE) {
            return self.fail(errors::array_size(span, count, hir::MAX_STACK_SIZE));
        }
        let mut elements = Vec::new();
        for i in 0..size {
            elements.push(self.allocate(&format!("{name}[{i}]"), elem, span)?);
        }
        Ok(Some(Storage::Struct(elements.into())))
    }

    /// Returns true if a scalar of a type has no fixed number of bits.
    fn lacks_bits(&mut self, ty: &Ty, span: Span) -> Result<bool> {
        self.holds(ty, span, &|shape| {
            matches!(
                shape,
                TypeShape::Scalar(Type::Varbit(_) | Type::Error | Type::Enum(_))
            )
        })
    }

    fn holds_headers(&mut self, ty: &Ty, span: Span) -> Result<bool> {
        self.holds(ty, span, &|shape| {
            matches!(
                shape,
                TypeShape::Header(_) | TypeShape::Union(_) | TypeShape::Stack(..)
            )
        })
    }

    /// Returns true if `wanted` accepts a type, or one in it through structs and arrays.
    fn holds(&mut self, ty: &Ty, span: Span, wanted: &dyn Fn(&TypeShape) -> bool) -> Result<bool> {
        match &*self.shape(ty, span)? {
            TypeShape::Struct(fields) => {
                for (_, ty) in fields {
                    if self.holds(ty, span, wanted)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            TypeShape::Array(elem, _) => self.holds(elem, span, wanted),
            shape => Ok(wanted(shape)),
        }
    }

    /// Returns the total number of elements of an array, with those of nested arrays counted one by one.
    fn count_elements(&mut self, elem: &Ty, size: u64, span: Span) -> Result<u64> {
        match &*self.shape(elem, span)? {
            TypeShape::Array(inner, each) => {
                self.count_elements(inner, size.saturating_mul(u64::from(*each)), span)
            }
            TypeShape::Struct(fields) => {
                let mut most = size;
                for (_, ty) in fields {
                    most = most.max(self.count_elements(ty, size, span)?);
                }
                Ok(most)
            }
            _ => Ok(size),
        }
    }

    /// Selects the value with the number `on`, a `bit<32>`, among several values of a type; the type's default if
    /// there is none.
    pub(crate) fn choice(
        &mut self,
        on: Expr,
        values: &[Value],
        ty: &Ty,
        span: Span,
    ) -> Result<Value> {
        if values.is_empty() {
            return self.default_value(ty, span);
        }
        let parts: Vec<Ty> = match &*self.shape(ty, span)? {
            TypeShape::Scalar(Type::Varbit(_)) => {
                return self.choice_of_varbits(on, values, ty, span);
            }
            TypeShape::Scalar(scalar) => {
                let mut exprs = Vec::new();
                for value in values {
                    exprs.push(self.as_scalar(value, span)?);
                }
                let zero = self.zero(*scalar, span);
                let end = self.bits(32, exprs.len() as u64, span);
                let inside = self.binary(BinaryOp::Lt, on, end, Type::Bool, span);
                let chosen = self.choose(on, 0, &exprs, *scalar, span);
                let kind = ExprKind::Mux(inside, chosen, zero);
                return Ok(Value::Scalar(self.expr(kind, *scalar, span)));
            }
            TypeShape::Struct(fields) => fields.iter().map(|(_, ty)| ty.clone()).collect(),
            TypeShape::Array(elem, size) => vec![elem.clone(); *size as usize],
            _ => return self.fail(errors::not_storable(span)),
        };
        let all: Vec<Vec<Value>> = values
            .iter()
            .map(|value| self.elements_of(value, span))
            .collect();
        let mut chosen = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            let column: Vec<Value> = all.iter().filter_map(|v| v.get(i).cloned()).collect();
            chosen.push(self.choice(on, &column, part, span)?);
        }
        Ok(match &*self.shape(ty, span)? {
            TypeShape::Array(..) => Value::Stack(chosen),
            _ => Value::Struct(chosen),
        })
    }

    /// Selects a varbit. Varbit values are only copied and never part of an expression, so the selected one goes to
    /// a variable.
    fn choice_of_varbits(
        &mut self,
        on: Expr,
        values: &[Value],
        ty: &Ty,
        span: Span,
    ) -> Result<Value> {
        let chosen = self.allocate("chosen", ty, span)?;
        let nothing = self.default_value(ty, span)?;
        let mut cases = Vec::new();
        for (i, value) in values.iter().enumerate() {
            let value = value.clone();
            let block = self.block(|elab| elab.assign(&chosen, value, span))?;
            cases.push((vec![Bits::new(32, i as u32)], block));
        }
        let default = self.block(|elab| elab.assign(&chosen, nothing, span))?;
        self.emit(StmtKind::Switch { on, cases, default }, span)?;
        Ok(Value::Stored(chosen))
    }

    /// Makes a tree of conditions, as flat as possible, over expressions that are numbered from `first` on.
    fn choose(&mut self, on: Expr, first: u32, exprs: &[Expr], ty: Type, span: Span) -> Expr {
        let [one] = exprs else {
            let (low, high) = exprs.split_at(exprs.len() / 2);
            let middle = first + low.len() as u32;
            let bound = self.bits(32, middle.into(), span);
            let below = self.binary(BinaryOp::Lt, on, bound, Type::Bool, span);
            let low = self.choose(on, first, low, ty, span);
            let high = self.choose(on, middle, high, ty, span);
            return self.expr(ExprKind::Mux(below, low, high), ty, span);
        };
        *one
    }

    /// Returns an element of an array whose elements lie apart.
    pub(crate) fn element_value(
        &mut self,
        elements: &[Value],
        index: Expr,
        ty: &Ty,
        span: Span,
    ) -> Result<Value> {
        if let Some(known) = self.known_index(index) {
            return match elements.get(known) {
                Some(element) => Ok(element.clone()),
                None => self.default_value(ty, span),
            };
        }
        let on = self.save_scalar(index, span)?;
        self.choice(on, elements, ty, span)
    }

    /// Returns the value of a constant index.
    pub(crate) fn known_index(&self, index: Expr) -> Option<usize> {
        match &self.program.exprs[index].kind {
            ExprKind::Const(bits) => bits.to_u64().and_then(|i| usize::try_from(i).ok()),
            _ => None,
        }
    }

    /// Returns the l-value that a path of fields and indices leads to.
    pub(crate) fn place_of(&mut self, expr: &hir::Expr) -> Result<LValue> {
        self.deeper(expr.span, |elab| elab.place_at(expr))
    }

    fn place_at(&mut self, expr: &hir::Expr) -> Result<LValue> {
        let span = expr.span;
        match &expr.kind {
            hir::ExprKind::Field(base, index) | hir::ExprKind::TupleField(base, index) => {
                self.grow(1, span)?;
                let whole = self.place_of(base)?;
                self.field_of(whole, &base.ty, *index, span)
            }
            hir::ExprKind::StackIndex(base, index) => {
                self.grow(1, span)?;
                let mut whole = self.place_of(base)?;
                if has_effects(index) {
                    whole = self.frozen_place(whole, span)?;
                }
                let index = self.index_operand(index)?;
                let index = self.as_index(index, span);
                let elem = self.element_type(&base.ty, span)?;
                self.element_of(whole, index, &elem, span)
            }
            _ => match self.eval(expr)? {
                Value::Stored(storage) => Ok(LValue::Whole(storage)),
                _ => self.fail(errors::not_storable(span)),
            },
        }
    }

    /// Returns the type of an array's elements.
    pub(crate) fn element_type(&mut self, ty: &Ty, span: Span) -> Result<Ty> {
        match self.resolve(ty) {
            Ty::Stack(elem, _) => Ok((*elem).clone()),
            _ => self.fail(errors::not_storable(span)),
        }
    }

    fn field_of(&mut self, whole: LValue, ty: &Ty, index: u32, span: Span) -> Result<LValue> {
        match whole {
            LValue::Whole(storage) => {
                match self.project(&Value::Stored(storage), ty, index, span)? {
                    Value::Stored(field) => Ok(LValue::Whole(field)),
                    _ => self.fail(errors::not_storable(span)),
                }
            }
            LValue::Chosen {
                on, alternatives, ..
            } => {
                let mut fields = Vec::new();
                for alternative in alternatives {
                    fields.push(self.field_of(alternative, ty, index, span)?);
                }
                let ty = self.field_type(ty, index, span)?;
                Ok(LValue::Chosen {
                    on,
                    alternatives: fields,
                    ty,
                })
            }
            _ => self.fail(errors::not_storable(span)),
        }
    }

    fn field_type(&mut self, ty: &Ty, index: u32, span: Span) -> Result<Ty> {
        match &*self.shape(ty, span)? {
            TypeShape::Struct(fields) => Ok(fields[index as usize].1.clone()),
            _ => self.fail(errors::not_storable(span)),
        }
    }

    fn element_of(&mut self, whole: LValue, index: Expr, elem: &Ty, span: Span) -> Result<LValue> {
        match whole {
            LValue::Whole(Storage::Struct(elements)) => {
                let known = self.known_index(index).and_then(|i| elements.get(i));
                if let Some(element) = known {
                    return Ok(LValue::Whole(element.clone()));
                }
                Ok(LValue::Chosen {
                    on: self.save_scalar(index, span)?,
                    alternatives: elements.iter().cloned().map(LValue::Whole).collect(),
                    ty: elem.clone(),
                })
            }
            LValue::Whole(Storage::Array(array)) => {
                Ok(LValue::Whole(self.array_element(&array, index, span)))
            }
            LValue::Whole(Storage::Stack(stack)) => Ok(LValue::Whole(self.element(&stack, index))),
            LValue::Chosen {
                on, alternatives, ..
            } => {
                let index = self.save_scalar(index, span)?;
                let mut elements = Vec::new();
                for alternative in alternatives {
                    elements.push(self.element_of(alternative, index, elem, span)?);
                }
                Ok(LValue::Chosen {
                    on,
                    alternatives: elements,
                    ty: elem.clone(),
                })
            }
            _ => self.fail(errors::not_storable(span)),
        }
    }

    /// Saves the indices by which an l-value is found, so that they no longer change.
    pub(crate) fn frozen_place(&mut self, place: LValue, span: Span) -> Result<LValue> {
        match place {
            LValue::Whole(storage) => Ok(LValue::Whole(self.freeze(storage, span)?)),
            LValue::Chosen {
                on,
                alternatives,
                ty,
            } => {
                let mut frozen = Vec::new();
                for alternative in alternatives {
                    frozen.push(self.frozen_place(alternative, span)?);
                }
                Ok(LValue::Chosen {
                    on,
                    alternatives: frozen,
                    ty,
                })
            }
            other => Ok(other),
        }
    }

    /// Assigns to the l-value with the number `on` among several; to none if there is no such l-value.
    pub(crate) fn store_chosen(
        &mut self,
        on: Expr,
        alternatives: &[LValue],
        value: Value,
        span: Span,
    ) -> Result<()> {
        let value = match value {
            Value::Scalar(expr) => Value::Scalar(self.save_scalar(expr, span)?),
            other => other,
        };
        let mut cases = Vec::new();
        for (i, alternative) in alternatives.iter().enumerate() {
            let value = value.clone();
            let block = self.block(|elab| elab.store(alternative, value, span))?;
            cases.push((vec![Bits::new(32, i as u32)], block));
        }
        let default = Vec::new();
        self.emit(StmtKind::Switch { on, cases, default }, span)
    }

    /// Assigns the parts of a value one after the other, after all of them have been read.
    pub(crate) fn store_parts(
        &mut self,
        targets: &[LValue],
        value: &Value,
        span: Span,
    ) -> Result<()> {
        let mut parts = Vec::new();
        for part in self.elements_of(value, span) {
            parts.push(self.copy_of(part, span)?);
        }
        for (target, part) in targets.iter().zip(parts) {
            self.store(target, part, span)?;
        }
        Ok(())
    }

    /// Returns a copy of a value that nothing else changes.
    pub(crate) fn copy_of(&mut self, value: Value, span: Span) -> Result<Value> {
        let copies = |elab: &mut Self, parts: Vec<Value>| -> Result<Vec<Value>> {
            parts
                .into_iter()
                .map(|part| elab.copy_of(part, span))
                .collect()
        };
        Ok(match value {
            Value::Scalar(expr) => Value::Scalar(self.save_scalar(expr, span)?),
            Value::Stored(storage) => {
                let copy = self.storage_like(&storage, span)?;
                self.assign(&copy, Value::Stored(storage), span)?;
                Value::Stored(copy)
            }
            Value::Struct(parts) => Value::Struct(copies(self, parts)?),
            Value::Union(parts) => Value::Union(copies(self, parts)?),
            Value::Stack(parts) => Value::Stack(copies(self, parts)?),
            Value::Header(ty, fields) => {
                let mut saved = Vec::new();
                for field in fields {
                    saved.push(self.save_scalar(field, span)?);
                }
                Value::Header(ty, saved)
            }
            Value::Invalid(_) | Value::Nothing => value,
        })
    }

    /// Returns the leaves that an assignment to an l-value may write.
    pub(crate) fn leaves_written(&self, place: &LValue) -> Vec<Leaf> {
        match place {
            LValue::Whole(storage) => self.leaves(storage),
            LValue::Slice { .. } | LValue::Bits { .. } => {
                place_in(place).map(Leaf::Scalar).into_iter().collect()
            }
            LValue::List(all)
            | LValue::Chosen {
                alternatives: all, ..
            } => all.iter().flat_map(|p| self.leaves_written(p)).collect(),
        }
    }
}

/// Returns true if an l-value is, or contains, one that is selected at run time.
pub(crate) fn chooses(place: &LValue) -> bool {
    match place {
        LValue::Chosen { .. } => true,
        LValue::List(all) => all.iter().any(chooses),
        LValue::Whole(_) | LValue::Slice { .. } | LValue::Bits { .. } => false,
    }
}

/// Returns true if two storages of a type store their arrays in the same way.
pub(crate) fn same_form(a: &Storage, b: &Storage) -> bool {
    match (a, b) {
        (Storage::Struct(a), Storage::Struct(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same_form(a, b))
        }
        (Storage::Struct(_), Storage::Array(_)) | (Storage::Array(_), Storage::Struct(_)) => false,
        _ => true,
    }
}
