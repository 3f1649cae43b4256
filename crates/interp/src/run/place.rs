//! L-values (places) that statements write. The element of a header stack is resolved before the statement has any
//! effect.

use super::Run;
use crate::trace::TraceKind;
use control::values::show_scalar;
use diag::Span;
use ir::{Bits, Header, Place, Type, Value, Var};

/// L-value whose header is resolved.
#[derive(Clone, Copy, Debug)]
pub(super) enum ResolvedPlace {
    Var(Var),
    Field(Header, usize),
    /// Element outside of its stack: reads return zero, writes have no effect.
    Nowhere(Type),
}

impl Run<'_> {
    /// Resolves an l-value.
    pub(super) fn target(&self, place: Place) -> ResolvedPlace {
        match place {
            Place::Var(var) => ResolvedPlace::Var(var),
            Place::Field(header, field) => match self.header_of(header) {
                Some(header) => ResolvedPlace::Field(header, field as usize),
                None => ResolvedPlace::Nowhere(self.p.place_type(place).unwrap_or(Type::Bool)),
            },
        }
    }

    pub(super) fn target_type(&self, target: ResolvedPlace) -> Type {
        match target {
            ResolvedPlace::Var(var) => self.p.vars[var].ty,
            ResolvedPlace::Field(header, field) => {
                self.p.header_types[self.p.headers[header].ty].fields[field].ty
            }
            ResolvedPlace::Nowhere(ty) => ty,
        }
    }

    pub(super) fn load(&self, target: ResolvedPlace) -> Value {
        match target {
            ResolvedPlace::Var(var) => self.storage().var(var).clone(),
            ResolvedPlace::Field(header, field) => {
                self.storage().header(header).fields[field].clone()
            }
            ResolvedPlace::Nowhere(ty) => Value::zero(ty),
        }
    }

    /// Stores a value and traces it.
    pub(super) fn store(&mut self, target: ResolvedPlace, value: Value, span: Span) {
        self.trace_store(target, &value, span);
        self.store_quietly(target, value);
    }

    /// Stores the result of a call. A temporary has the name of the called function, and is not traced, since that
    /// would add nothing.
    pub(super) fn store_result(
        &mut self,
        target: ResolvedPlace,
        value: Value,
        called: &str,
        span: Span,
    ) {
        match target {
            ResolvedPlace::Var(var) if self.p.vars[var].name == called => {
                self.store_quietly(target, value);
            }
            _ => self.store(target, value, span),
        }
    }

    fn store_quietly(&mut self, target: ResolvedPlace, value: Value) {
        match target {
            ResolvedPlace::Var(var) => self.it.storage.set_var(var, value),
            ResolvedPlace::Field(header, field) => {
                self.it.storage.header_mut(header).fields[field] = value;
            }
            ResolvedPlace::Nowhere(_) => {}
        }
    }

    /// Stores bits, truncated or extended to the l-value's width.
    pub(super) fn store_bits(&mut self, target: ResolvedPlace, bits: &Bits, span: Span) {
        let value = Value::from_bits(bits, self.target_type(target));
        self.store(target, value, span);
    }

    fn trace_store(&mut self, target: ResolvedPlace, value: &Value, span: Span) {
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

    fn target_name(&self, target: ResolvedPlace) -> String {
        match target {
            ResolvedPlace::Var(var) => self.p.vars[var].name.to_string(),
            ResolvedPlace::Field(header, field) => {
                let data = &self.p.headers[header];
                let layout = &self.p.header_types[data.ty];
                format!("{}.{}", data.name, layout.fields[field].name)
            }
            ResolvedPlace::Nowhere(_) => "(outside the stack)".to_string(),
        }
    }
}
