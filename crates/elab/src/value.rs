//! Values of expressions during elaboration. A value is in storage, or composed of scalar IR expressions.

use crate::array::{ArrayLoc, Flat};
use crate::storage::{HeaderLoc, Leaf, StackLoc, Storage};
use crate::types::TypeShape;
use crate::{Elab, Result};
use diag::Span;
use hir::{ConstValue, Ty};
use ir::{Bits, Expr, ExprKind, HeaderRef, HeaderType, Place, StmtKind, Type};
use num_traits::Zero;

/// A value of any type that can be stored.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// One scalar.
    Scalar(Expr),
    /// Contents of storage. They are read when the value is used.
    Stored(Storage),
    /// A struct's or tuple's elements.
    Struct(Vec<Value>),
    /// A valid header with all its fields' scalars.
    Header(HeaderType, Vec<Expr>),
    /// An invalid header.
    Invalid(HeaderType),
    /// A union's members.
    Union(Vec<Value>),
    /// A stack's elements; its next index is 0.
    Stack(Vec<Value>),
    /// The value of `void`.
    Nothing,
}

/// A header as a value.
pub(crate) enum HeaderValue {
    /// Header in storage.
    At(HeaderLoc),
    /// Valid header with these scalars.
    Valid(Vec<Expr>),
    /// Invalid header.
    Invalid,
}

impl Elab<'_> {
    /// Makes a compile-time value of a type.
    pub(crate) fn constant(&mut self, value: &ConstValue, ty: &Ty, span: Span) -> Result<Value> {
        let shape = self.shape(ty, span)?;
        Ok(match (&*shape, value) {
            (TypeShape::Scalar(ty @ Type::Varbit(_)), _) => Value::Scalar(self.zero(*ty, span)),
            (TypeShape::Scalar(ty), value) => {
                let scalar = self.constant_scalar(value, *ty);
                Value::Scalar(self.expr(scalar, *ty, span))
            }
            (TypeShape::Struct(fields), ConstValue::List(elems)) => {
                let mut values = Vec::new();
                for ((_, ty), elem) in fields.iter().zip(elems) {
                    values.push(self.constant(elem, ty, span)?);
                }
                Value::Struct(values)
            }
            (TypeShape::Header(header), ConstValue::List(elems)) => {
                let mut scalars = Vec::new();
                for ((_, ty), elem) in self.composite_fields(ty).iter().zip(elems) {
                    let value = self.constant(elem, ty, span)?;
                    self.scalars(&value, span, &mut scalars)?;
                }
                Value::Header(*header, scalars)
            }
            (TypeShape::Stack(elem, _) | TypeShape::Array(elem, _), ConstValue::List(elems)) => {
                let mut values = Vec::new();
                for value in elems {
                    values.push(self.constant(value, elem, span)?);
                }
                Value::Stack(values)
            }
            _ => self.default_value(ty, span)?,
        })
    }

    fn constant_scalar(&mut self, value: &ConstValue, ty: Type) -> ExprKind {
        match (value, ty) {
            (ConstValue::Bool(value), Type::Bits { width, .. }) => {
                ExprKind::Const(Bits::new(width, u32::from(*value)))
            }
            (ConstValue::Bool(value), _) => ExprKind::Bool(*value),
            (ConstValue::Int(value), Type::Bool) => ExprKind::Bool(!value.is_zero()),
            (ConstValue::Int(value), ty) => ExprKind::Const(Bits::from_int(ty.width(), value)),
            (ConstValue::Error(index), _) => ExprKind::Member(*index),
            (ConstValue::Enum(index), _) => ExprKind::Member(*index),
            (_, Type::Bool) => ExprKind::Bool(false),
            (_, Type::Bits { width, .. } | Type::Varbit(width)) => {
                ExprKind::Const(Bits::zero(width))
            }
            (_, Type::Error | Type::Enum(_)) => ExprKind::Member(0),
        }
    }

    /// Returns the default of a type: zero, false, first member, invalid.
    pub(crate) fn default_value(&mut self, ty: &Ty, span: Span) -> Result<Value> {
        Ok(match &*self.shape(ty, span)? {
            TypeShape::Scalar(ty) => Value::Scalar(self.zero(*ty, span)),
            TypeShape::Header(ty) => Value::Invalid(*ty),
            TypeShape::Struct(fields) => {
                let mut values = Vec::new();
                for (_, ty) in fields {
                    values.push(self.default_value(ty, span)?);
                }
                Value::Struct(values)
            }
            TypeShape::Union(members) => {
                Value::Union(members.iter().map(|(_, ty)| Value::Invalid(*ty)).collect())
            }
            TypeShape::Stack(elem, size) | TypeShape::Array(elem, size) => {
                let elem = self.default_value(elem, span)?;
                Value::Stack(vec![elem; *size as usize])
            }
        })
    }

    /// Returns the expression of a scalar value.
    pub(crate) fn as_scalar(&mut self, value: &Value, span: Span) -> Result<Expr> {
        match value {
            Value::Scalar(expr) => Ok(*expr),
            Value::Stored(Storage::Scalar(place)) => Ok(self.read(*place, span)),
            _ => self.fail(crate::errors::not_storable(span)),
        }
    }

    /// Returns a value as a header.
    pub(crate) fn as_header(&mut self, value: &Value, span: Span) -> Result<HeaderValue> {
        match value {
            Value::Stored(Storage::Header(header)) => Ok(HeaderValue::At(header.clone())),
            Value::Header(_, fields) => Ok(HeaderValue::Valid(fields.clone())),
            Value::Invalid(_) => Ok(HeaderValue::Invalid),
            _ => self.fail(crate::errors::not_storable(span)),
        }
    }

    /// Returns the elements of a struct, union or stack as values.
    pub(crate) fn parts(&self, value: &Value) -> Vec<Value> {
        match value {
            Value::Struct(parts) | Value::Union(parts) | Value::Stack(parts) => parts.clone(),
            Value::Stored(Storage::Struct(parts)) => {
                parts.iter().cloned().map(Value::Stored).collect()
            }
            Value::Stored(Storage::Union(members)) => members
                .iter()
                .cloned()
                .map(|m| Value::Stored(Storage::Header(m)))
                .collect(),
            Value::Stored(Storage::Stack(stack)) => self
                .elements(stack)
                .into_iter()
                .map(Value::Stored)
                .collect(),
            Value::Stored(Storage::Array(array)) => {
                let elements = self.fixed_elements(array);
                elements.into_iter().map(Value::Stored).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the [`Elab::parts`] of a value. Those of an array may be at an index that is known only at run time.
    pub(crate) fn elements_of(&mut self, value: &Value, span: Span) -> Vec<Value> {
        match value {
            Value::Stored(Storage::Array(array)) => {
                let elements = self.array_elements(array, span);
                elements.into_iter().map(Value::Stored).collect()
            }
            _ => self.parts(value),
        }
    }

    /// Returns one of the [`Elab::parts`] of a value.
    fn part(&self, value: &Value, index: usize) -> Option<Value> {
        match value {
            Value::Struct(parts) | Value::Union(parts) | Value::Stack(parts) => {
                parts.get(index).cloned()
            }
            Value::Stored(Storage::Struct(parts)) => parts.get(index).cloned().map(Value::Stored),
            Value::Stored(Storage::Union(members)) => {
                let member = members.get(index).cloned();
                member.map(|m| Value::Stored(Storage::Header(m)))
            }
            _ => self.parts(value).into_iter().nth(index),
        }
    }

    /// Adds all scalars of a value in order, including headers' fields.
    pub(crate) fn scalars(
        &mut self,
        value: &Value,
        span: Span,
        into: &mut Vec<Expr>,
    ) -> Result<()> {
        match value {
            Value::Scalar(expr) => into.push(*expr),
            Value::Stored(Storage::Array(_)) => {
                for elem in self.elements_of(value, span) {
                    self.scalars(&elem, span, into)?;
                }
            }
            Value::Stored(storage) => {
                for place in self.places(storage) {
                    let read = self.read(place, span);
                    into.push(read);
                }
            }
            Value::Struct(parts) | Value::Union(parts) | Value::Stack(parts) => {
                for part in parts {
                    self.scalars(part, span, into)?;
                }
            }
            Value::Header(_, fields) => into.extend(fields),
            Value::Invalid(ty) => {
                let types: Vec<Type> = self.program.header_types[*ty]
                    .fields
                    .iter()
                    .map(|f| f.ty)
                    .collect();
                for ty in types {
                    let zero = self.zero(ty, span);
                    into.push(zero);
                }
            }
            Value::Nothing => return self.fail(crate::errors::not_storable(span)),
        }
        Ok(())
    }

    /// Returns a declared field or tuple element of a value of type `ty`.
    pub(crate) fn project(
        &mut self,
        value: &Value,
        ty: &Ty,
        index: u32,
        span: Span,
    ) -> Result<Value> {
        match value {
            Value::Stored(Storage::Header(header)) => {
                let header = header.clone();
                Ok(Value::Stored(self.field_storage(&header, ty, index, span)?))
            }
            Value::Header(_, fields) => {
                let (start, field) = self.flat_index(ty, index, span)?;
                let mut scalars = fields[start as usize..].iter().copied();
                self.gather(&field, &mut scalars, span)
            }
            Value::Invalid(_) => {
                let (_, field) = self.flat_index(ty, index, span)?;
                self.default_value(&field, span)
            }
            _ => match self.part(value, index as usize) {
                Some(part) => Ok(part),
                None => self.fail(crate::errors::not_storable(span)),
            },
        }
    }

    /// Builds a value of a type without headers from its scalars.
    pub(crate) fn gather(
        &mut self,
        ty: &Ty,
        scalars: &mut impl Iterator<Item = Expr>,
        span: Span,
    ) -> Result<Value> {
        match &*self.shape(ty, span)? {
            TypeShape::Scalar(scalar) => Ok(Value::Scalar(match scalars.next() {
                Some(expr) => expr,
                None => self.zero(*scalar, span),
            })),
            TypeShape::Struct(fields) => {
                let mut values = Vec::new();
                for (_, ty) in fields {
                    values.push(self.gather(ty, scalars, span)?);
                }
                Ok(Value::Struct(values))
            }
            TypeShape::Array(elem, size) => {
                let mut values = Vec::new();
                for _ in 0..*size {
                    values.push(self.gather(elem, scalars, span)?);
                }
                Ok(Value::Stack(values))
            }
            TypeShape::Header(header) => {
                let count = self.program.header_types[*header].fields.len();
                Ok(Value::Header(*header, scalars.take(count).collect()))
            }
            _ => self.fail(crate::errors::not_storable(span)),
        }
    }

    /// Returns an element of a stack, by a value of any integer type.
    pub(crate) fn index(&mut self, stack: &StackLoc, index: Expr, span: Span) -> Storage {
        let index = self.as_index(index, span);
        self.element(stack, index)
    }

    /// Returns an index of type `bit<32>` that is out of bounds if the given one is.
    pub(crate) fn as_index(&mut self, index: Expr, span: Span) -> Expr {
        let ty = self.type_of(index);
        if ty.width() <= 32 {
            return self.cast(index, Type::bit(32), span);
        }
        let low = self.cast(index, Type::bit(32), span);
        if matches!(self.program.exprs[index].kind, ExprKind::Const(_)) {
            let ExprKind::Const(bits) = &self.program.exprs[index].kind else {
                return low;
            };
            let fits = bits.to_u64().is_some_and(|v| v < u64::from(u32::MAX));
            return if fits {
                low
            } else {
                self.bits(32, u64::from(u32::MAX), span)
            };
        }
        let high = self.slice(index, ty.width() - 1, 32, span);
        let zero = self.bits(ty.width() - 32, 0, span);
        let fits = self.binary(ir::BinaryOp::Eq, high, zero, Type::Bool, span);
        let beyond = self.bits(32, u64::from(u32::MAX), span);
        self.expr(ExprKind::Mux(fits, low, beyond), Type::bit(32), span)
    }

    /// Copies a value to storage of its own, which later effects do not change. Constants stay.
    pub(crate) fn save(&mut self, value: Value, ty: &Ty, span: Span) -> Result<Value> {
        if let Value::Scalar(expr) = value {
            return Ok(Value::Scalar(self.save_scalar(expr, span)?));
        }
        if matches!(value, Value::Nothing | Value::Invalid(_)) {
            return Ok(value);
        }
        let storage = self.allocate("tmp", ty, span)?;
        self.assign(&storage, value, span)?;
        Ok(Value::Stored(storage))
    }

    /// Copies a scalar to a variable unless nothing can change it.
    pub(crate) fn save_scalar(&mut self, expr: Expr, span: Span) -> Result<Expr> {
        if matches!(
            self.program.exprs[expr].kind,
            ExprKind::Const(_) | ExprKind::Bool(_) | ExprKind::Member(_)
        ) {
            return Ok(expr);
        }
        let ty = self.type_of(expr);
        let place = Place::Var(self.new_var("tmp", ty, span));
        self.set(place, expr, span)?;
        Ok(self.read(place, span))
    }

    /// Saves the indices by which storage is found, so that later effects do not move it.
    pub(crate) fn freeze(&mut self, storage: Storage, span: Span) -> Result<Storage> {
        if self.is_static(&storage) {
            return Ok(storage);
        }
        let mut saved: Vec<(Expr, Expr)> = Vec::new();
        self.frozen(storage, &mut saved, span)
    }

    fn frozen(
        &mut self,
        storage: Storage,
        saved: &mut Vec<(Expr, Expr)>,
        span: Span,
    ) -> Result<Storage> {
        Ok(match storage {
            Storage::Scalar(Place::Field(header, index)) => {
                Storage::Scalar(Place::Field(self.frozen_ref(header, saved, span)?, index))
            }
            Storage::Header(header) => Storage::Header(self.frozen_header(&header, saved, span)?),
            Storage::Struct(parts) => {
                let mut frozen = Vec::new();
                for part in parts.iter() {
                    frozen.push(self.frozen(part.clone(), saved, span)?);
                }
                Storage::Struct(frozen.into())
            }
            Storage::Union(members) => {
                let mut frozen = Vec::new();
                for member in members.iter() {
                    frozen.push(self.frozen_header(member, saved, span)?);
                }
                Storage::Union(frozen.into())
            }
            Storage::Array(array) => {
                let base = match array.base {
                    Flat::By(index) => Flat::By(self.frozen_index(index, saved, span)?),
                    known => known,
                };
                Storage::Array(ArrayLoc { base, ..array })
            }
            other => other,
        })
    }

    fn frozen_header(
        &mut self,
        header: &HeaderLoc,
        saved: &mut Vec<(Expr, Expr)>,
        span: Span,
    ) -> Result<HeaderLoc> {
        let union = match &header.union {
            None => None,
            Some(all) => {
                let mut frozen = Vec::new();
                for &at in all.iter() {
                    frozen.push(self.frozen_ref(at, saved, span)?);
                }
                Some(frozen.into())
            }
        };
        Ok(HeaderLoc {
            at: self.frozen_ref(header.at, saved, span)?,
            ty: header.ty,
            union,
        })
    }

    fn frozen_ref(
        &mut self,
        at: HeaderRef,
        saved: &mut Vec<(Expr, Expr)>,
        span: Span,
    ) -> Result<HeaderRef> {
        let HeaderRef::Element(stack, index) = at else {
            return Ok(at);
        };
        let fixed = self.frozen_index(index, saved, span)?;
        Ok(HeaderRef::Element(stack, fixed))
    }

    fn frozen_index(
        &mut self,
        index: Expr,
        saved: &mut Vec<(Expr, Expr)>,
        span: Span,
    ) -> Result<Expr> {
        if let Some(&(_, known)) = saved.iter().find(|(from, _)| *from == index) {
            return Ok(known);
        }
        let fixed = self.save_scalar(index, span)?;
        saved.push((index, fixed));
        Ok(fixed)
    }

    /// Sets storage to the values that stand for undefined ones: zero and invalid.
    pub(crate) fn reset(&mut self, storage: &Storage, span: Span) -> Result<()> {
        match storage {
            Storage::Struct(parts) => {
                return parts.iter().try_for_each(|part| self.reset(part, span));
            }
            // Its headers are only containers of values.
            Storage::Array(array) => {
                let elements = self.array_elements(array, span);
                return elements.iter().try_for_each(|elem| self.reset(elem, span));
            }
            _ => {}
        }
        for leaf in self.leaves(storage) {
            match leaf {
                Leaf::Scalar(place) => {
                    let ty = self.place_type(place);
                    let zero = self.zero(ty, span);
                    self.set(place, zero, span)?;
                }
                Leaf::Header(header) => self.emit(StmtKind::SetInvalid(header), span)?,
            }
        }
        Ok(())
    }
}
