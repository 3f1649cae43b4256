//! The machine: variables in scope, and values by their types.

use super::value::Value;
use hir::{CompositeKind, ConstValue, LocalId, Module, Ty, TypeParamId};
use std::collections::HashMap;

/// A program that runs.
pub(super) struct Machine<'m> {
    pub(super) module: &'m Module,
    /// Calls in progress, the innermost last.
    pub(super) frames: Vec<Frame>,
    /// Value of the target of the enclosing compound assignment.
    pub(super) target: Option<Value>,
}

/// The variables of one call.
#[derive(Default)]
pub(super) struct Frame {
    pub(super) locals: HashMap<LocalId, Value>,
    /// A generic function's type arguments.
    pub(super) types: HashMap<TypeParamId, Ty>,
    /// The frame of the control that an action belongs to.
    pub(super) control: Option<usize>,
}

/// Reason for not continuing with the next statement.
pub(super) enum Leave {
    Exit,
    Return(Option<Value>),
    Break,
    Continue,
}

pub(super) type Result<T> = std::result::Result<T, Leave>;

impl Machine<'_> {
    /// Returns the number of the innermost frame.
    pub(super) fn here(&self) -> usize {
        self.frames.len() - 1
    }

    /// Returns the number of the frame of the enclosing control.
    pub(super) fn control(&self) -> usize {
        self.frames[self.here()].control.unwrap_or(self.here())
    }

    /// Returns the number of the frame that has a variable: this one, or that of the enclosing control.
    pub(super) fn home(&self, local: LocalId) -> usize {
        let frames = [self.here(), self.control()];
        let has = |frame: &usize| self.frames[*frame].locals.contains_key(&local);
        let home = frames.into_iter().find(has);
        home.unwrap_or_else(|| panic!("`{}` is not in scope", self.module.locals[local].name))
    }

    /// Declares a variable, possibly again.
    pub(super) fn declare(&mut self, local: LocalId, value: Option<Value>) {
        let value = value.unwrap_or_else(|| self.nothing(&self.module.locals[local].ty));
        let here = self.here();
        self.frames[here].locals.insert(local, value);
    }

    /// Resolves a type: replaces type parameters, `type`s, and enums with a representation.
    pub(super) fn resolve(&self, ty: &Ty) -> Ty {
        match ty {
            Ty::Param(id) => self.resolve(&self.frames[self.here()].types[id]),
            Ty::NewType(id) => self.resolve(&self.module.new_types[*id].ty),
            Ty::Enum(id) => match &self.module.enums[*id].underlying {
                Some(ty) => self.resolve(ty),
                None => ty.clone(),
            },
            // Known when compiled, and wide enough for every index and every distance.
            Ty::Int => Ty::int(1024),
            _ => ty.clone(),
        }
    }

    /// Returns the types of the elements of a type that has `count` of them.
    fn elements(&self, ty: &Ty, count: usize) -> Vec<Ty> {
        match ty {
            Ty::Composite(id, _) => {
                let fields = &self.module.composites[*id].fields;
                fields.iter().map(|field| field.ty.clone()).collect()
            }
            Ty::Tuple(all) => all.to_vec(),
            Ty::Stack(elem, _) | Ty::List(elem) => vec![(**elem).clone(); count],
            other => panic!("{other:?} has no elements"),
        }
    }

    /// Makes a value of a type with elements; a header is valid.
    fn of_parts(&self, ty: &Ty, parts: Vec<Value>) -> Value {
        match ty {
            Ty::Stack(..) | Ty::List(_) => Value::Array(parts),
            Ty::Composite(id, _) => match self.module.composites[*id].kind {
                CompositeKind::Struct => Value::Tuple(parts),
                CompositeKind::Header => Value::Header(true, parts),
                CompositeKind::Union => Value::Union(parts),
            },
            _ => Value::Tuple(parts),
        }
    }

    /// Makes a value of a type from the elements of a list.
    pub(super) fn list(&self, ty: &Ty, parts: Vec<Value>) -> Value {
        self.of_parts(&self.resolve(ty), parts)
    }

    /// Returns an unset value, which the specification leaves undefined: here it is zero, false, or an invalid
    /// header.
    pub(super) fn nothing(&self, ty: &Ty) -> Value {
        match self.resolve(ty) {
            Ty::Bool => Value::Bool(false),
            Ty::Bits { width, signed } => Value::number(0, width, signed),
            Ty::Error | Ty::Enum(_) => Value::Member(0),
            ty => {
                let count = match &ty {
                    Ty::Stack(_, count) => *count as usize,
                    _ => 0,
                };
                let parts = self.elements(&ty, count);
                let parts = parts.iter().map(|part| self.nothing(part)).collect();
                match self.of_parts(&ty, parts) {
                    Value::Header(_, fields) => Value::Header(false, fields),
                    other => other,
                }
            }
        }
    }

    /// Returns a compile-time value.
    pub(super) fn constant(&self, value: &ConstValue, ty: &Ty) -> Value {
        match (self.resolve(ty), value) {
            (_, ConstValue::Bool(value)) => Value::Bool(*value),
            (Ty::Bits { width, signed }, ConstValue::Int(value)) => {
                Value::number(value.clone(), width, signed)
            }
            (_, ConstValue::Error(index) | ConstValue::Enum(index)) => Value::Member(*index),
            (_, ConstValue::InvalidHeader) => self.nothing(ty),
            (ty, ConstValue::List(parts)) => {
                let types = self.elements(&ty, parts.len());
                let parts = parts.iter().zip(&types);
                let parts = parts.map(|(part, ty)| self.constant(part, ty)).collect();
                self.of_parts(&ty, parts)
            }
            (ty, value) => panic!("{value:?} of {ty:?}"),
        }
    }

    /// Converts a value to a type (section 8.11).
    pub(super) fn cast(&self, value: Value, ty: &Ty) -> Value {
        let ty = self.resolve(ty);
        match (&ty, value) {
            (Ty::Bool, Value::Bits(bits)) => Value::Bool(bits.value != 0.into()),
            (Ty::Bits { width, signed }, Value::Bool(value)) => {
                Value::number(u8::from(value), *width, *signed)
            }
            (Ty::Bits { width, signed }, Value::Bits(bits)) => {
                Value::number(bits.value, *width, *signed)
            }
            (
                Ty::Composite(..) | Ty::Tuple(_) | Ty::Stack(..) | Ty::List(_),
                Value::Tuple(parts),
            ) => {
                let types = self.elements(&ty, parts.len());
                let parts = parts.into_iter().zip(&types);
                let parts = parts.map(|(part, ty)| self.cast(part, ty)).collect();
                self.of_parts(&ty, parts)
            }
            (_, value) => value,
        }
    }
}
