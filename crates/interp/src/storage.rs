//! Variables and headers while a packet is processed.

use cranelift_entity::{EntityRef, PrimaryMap};
use ir::{Header, Program, Type, Value, Var};

/// Value of a header instance.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HeaderValue {
    /// True if the header is valid.
    pub valid: bool,
    /// Fields, which keep their values when the header becomes invalid.
    pub fields: Vec<Value>,
}

/// Values of all variables and headers of a program.
#[derive(Clone, Debug)]
pub(crate) struct Storage {
    vars: Vec<Value>,
    headers: Vec<HeaderValue>,
}

impl Storage {
    /// Creates the initial storage of a packet: all zero and invalid.
    pub(crate) fn new(program: &Program) -> Storage {
        Storage {
            vars: program.vars.values().map(|v| Value::zero(v.ty)).collect(),
            headers: program
                .headers
                .values()
                .map(|header| HeaderValue {
                    valid: false,
                    fields: program.header_types[header.ty]
                        .fields
                        .iter()
                        .map(|f| Value::zero(f.ty))
                        .collect(),
                })
                .collect(),
        }
    }

    /// Makes this storage equal to another of the same program, keeping its memory.
    pub(crate) fn reset(&mut self, zero: &Storage) {
        self.vars.clone_from(&zero.vars);
        for (header, zero) in self.headers.iter_mut().zip(&zero.headers) {
            header.valid = zero.valid;
            header.fields.clone_from(&zero.fields);
        }
    }

    pub(crate) fn var(&self, var: Var) -> &Value {
        &self.vars[var.index()]
    }

    pub(crate) fn set_var(&mut self, var: Var, value: Value) {
        self.vars[var.index()] = value;
    }

    pub(crate) fn header(&self, header: Header) -> &HeaderValue {
        &self.headers[header.index()]
    }

    pub(crate) fn header_mut(&mut self, header: Header) -> &mut HeaderValue {
        &mut self.headers[header.index()]
    }

    /// Copies fields and validity between headers of one type.
    pub(crate) fn copy_header(&mut self, dst: Header, src: Header) {
        let (dst, src) = (dst.index(), src.index());
        if dst == src {
            return;
        }
        let (low, high) = self.headers.split_at_mut(dst.max(src));
        let (to, from) = if dst < src {
            (&mut low[dst], &high[0])
        } else {
            (&mut high[0], &low[src])
        };
        to.clone_from(from);
    }

    /// Makes a header invalid and its fields zero.
    pub(crate) fn clear_header(&mut self, program: &Program, header: Header) {
        let types = field_types(program, header);
        let value = self.header_mut(header);
        value.valid = false;
        for (field, ty) in value.fields.iter_mut().zip(types) {
            *field = Value::zero(ty);
        }
    }
}

/// Returns the types of a header's fields.
pub(crate) fn field_types(program: &Program, header: Header) -> impl Iterator<Item = Type> + '_ {
    program.header_types[program.headers[header].ty]
        .fields
        .iter()
        .map(|f| f.ty)
}

/// Makes a value for each element of an arena.
pub(crate) fn for_each<K: EntityRef, V, T>(
    map: &PrimaryMap<K, V>,
    make: impl FnMut(&V) -> T,
) -> Vec<T> {
    map.values().map(make).collect()
}
