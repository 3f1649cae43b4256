//! L-values (places) that statements write. The element of a header stack is resolved before the statement has any
//! effect.

use super::Run;
use crate::trace::TraceKind;
use control::values::show_scalar;
use diag::Span;
use ir::{Bits, Header, Place, Type, Value, Var};

/// L-value whose header is resolved.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Var(Var),
    Field(Header, usize),
    /// Element outside of its stack: reads return zero, writes have no effect.
    Nowhere(Type),
}

impl Run<'_> {
    /// Resolves an l-value.
    pub(super) fn target(&self, place: Place) -> Target {
        match place {
            Place::Var(var) => Target::Var(var),
            Place::Field(header, field) => match self.header_of(header) {
                Some(header) => Target::Field(header, field as usize),
                None => Target::Nowhere(self.p.place_type(place).unwrap_or(Type::Bool)),
            },
        }
    }

    pub(super) fn target_type(&self, target: Target) -> Type {
        match target {
            Target::Var(var) => self.p.vars[var].ty,
            Target::Field(header, field) => {
                self.p.header_types[self.p.headers[header].ty].fields[field].ty
            }
            Target::Nowhere(ty) => ty,
        }
    }

    pub(super) fn load(&self, target: Target) -> Value {
        match target {
            Target::Var(var) => self.storage().var(var).clone(),
            Target::Field(header, field) => self.storage().header(header).fields[field].clone(),
            Target::Nowhere(ty) => Value::zero(ty),
        }
    }

    /// Stores a value and traces it.
    pub(super) fn store(&mut self, target: Target, value: Value, span: Span) {
        self.trace_store(target, &value, span);
        self.store_quietly(target, value);
    }

    /// Stores the result of a call. A temporary has the name of the called function, and is not traced, since that
    /// would add nothing.
    pub(super) fn store_result(&mut self, target: Target, value: Value, called: &str, span: Span) {
        match target {
            Target::Var(var) if self.p.vars[var].name == called => {
                self.store_quietly(target, value);
            }
            _ => self.store(target, value, span),
        }
    }

    fn store_quietly(&mut self, target: Target, value: Value) {
        match target {
            Target::Var(var) => self.it.storage.set_var(var, value),
            Target::Field(header, field) => {
                self.it.storage.header_mut(header).fields[field] = value;
            }
            Target::Nowhere(_) => {}
        }
    }

    /// Stores bits, truncated or extended to the l-value's width.
    pub(super) fn store_bits(&mut self, target: Target, bits: &Bits, span: Span) {
        let value = Value::from_bits(bits, self.target_type(target));
        self.store(target, value, span);
    }

    fn trace_store(&mut self, target: Target, value: &Value, span: Span) {
        if self.it.sink.is_none() {
            return;
        }
        let old = self.load(target).to_bits();
        let new = value.to_bits();
        self.trace(span, |run| {
            let name = run.target_name(target);
            let ty = run.target_type(target);
            TraceKind::Assign {
                old: show_scalar(&run.it.schema, ty, &name, &old),
                new: show_scalar(&run.it.schema, ty, &name, &new),
                changed: old != new,
                place: name,
            }
        });
    }

    fn target_name(&self, target: Target) -> String {
        match target {
            Target::Var(var) => self.p.vars[var].name.to_string(),
            Target::Field(header, field) => {
                let data = &self.p.headers[header];
                let layout = &self.p.header_types[data.ty];
                format!("{}.{}", data.name, layout.fields[field].name)
            }
            Target::Nowhere(_) => "(outside the stack)".to_string(),
        }
    }
}
