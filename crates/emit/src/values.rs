//! Variables, fields and headers: where the emitter finds and puts their values.

use super::access::Bytes;
use super::locals::Role;
use crate::emitter::Gen;
use crate::errors;
use crate::plan::Rep;
use crate::plan::flow::Known;
use crate::record;
use crate::target::Target;
use cgen::lower::{self, Leaves, limb_count};
use cgen::tree::{BinOp, Block, Expr as C, Stmt};
use ir::{Expr, ExprKind, Header, HeaderRef, Place, Program, Type, Var};
use std::collections::HashMap;

/// A value on its way to a place.
pub enum Value {
    /// Up to 64 bits.
    Scalar(C),
    /// More: each limb, the least significant first.
    Limbs(Vec<C>),
    /// Varbit: where it lies in the packet as it came in, and how many bytes.
    Slice(C, C),
}

/// Which header a reference means.
pub(crate) enum Resolved {
    /// This one.
    One(Header),
    /// None: an index out of bounds.
    Outside,
    /// Depending on an index, one of these.
    Any(Vec<Header>, Expr),
}

impl<T: Target> Leaves for Gen<'_, T> {
    fn program(&self) -> &Program {
        self.p
    }

    fn var(&mut self, var: Var) -> C {
        if let Some((member, form)) = T::home(self, var) {
            return record::load(member, form);
        }
        self.local(Role::Var(var))
    }

    fn var_limbs(&mut self, var: Var) -> C {
        if let Some((member, _)) = T::home(self, var) {
            return member;
        }
        self.local(Role::Var(var))
    }

    fn field(&mut self, header: HeaderRef, field: u32, hi: u32, lo: u32) -> C {
        match self.resolve(header) {
            Resolved::One(h) => self.read_field(h, field, hi, lo),
            Resolved::Outside => C::int(0),
            Resolved::Any(elems, index) => {
                let index = lower::scalar(self, index);
                let values: Vec<C> = elems
                    .into_iter()
                    .map(|h| self.read_field(h, field, hi, lo))
                    .collect();
                choose(&index, values)
            }
        }
    }

    fn is_valid(&mut self, header: HeaderRef) -> C {
        match self.resolve(header) {
            Resolved::One(h) => self.validity(h),
            Resolved::Outside => C::int(0),
            Resolved::Any(elems, index) => {
                let index = lower::scalar(self, index);
                let values: Vec<C> = elems.into_iter().map(|h| self.validity(h)).collect();
                choose(&index, values)
            }
        }
    }

    fn temp(&mut self, limbs: u32) -> C {
        let ty = cgen::tree::Type::U64.array(limbs);
        self.own_local("wide", ty, None)
    }

    fn emit(&mut self, stmt: Stmt) {
        self.push(stmt);
    }

    fn assume(&mut self, cond: Expr, truth: bool) {
        self.moment.assumed.push(self.flow.clone());
        let (p, plan) = (self.p, self.plan);
        plan.refine(&mut self.flow, p, cond, truth);
    }

    fn forget(&mut self) {
        if let Some(flow) = self.moment.assumed.pop() {
            self.flow = flow;
        }
    }

    fn computed(&mut self) -> &mut HashMap<Expr, C> {
        &mut self.moment.computed
    }
}

/// The value at an index; 0 past the end.
fn choose(index: &C, values: Vec<C>) -> C {
    let mut result = C::int(0);
    for (i, value) in values.into_iter().enumerate().rev() {
        let here = C::bin(BinOp::Eq, index.clone(), C::int(i as u64));
        result = C::Cond(Box::new(here), Box::new(value), Box::new(result));
    }
    result
}

impl<T: Target> Gen<'_, T> {
    /// Which header a reference means.
    pub(crate) fn resolve(&self, header: HeaderRef) -> Resolved {
        match header {
            HeaderRef::Header(h) => Resolved::One(h),
            HeaderRef::Element(stack, index) => {
                let elems = &self.p.stacks[stack].elems;
                match &self.p.exprs[index].kind {
                    ExprKind::Const(bits) => bits
                        .to_u64()
                        .and_then(|i| elems.get(usize::try_from(i).ok()?))
                        .map_or(Resolved::Outside, |&h| Resolved::One(h)),
                    _ => Resolved::Any(elems.clone(), index),
                }
            }
        }
    }

    /// Does something to the header that a reference means, if to any.
    pub(crate) fn with_header(&mut self, header: HeaderRef, f: impl FnMut(&mut Self, Header)) {
        self.with_header_or(header, f, |_| {});
    }

    /// Does something to the header that a reference means, or something else if to none.
    fn with_header_or(
        &mut self,
        header: HeaderRef,
        mut f: impl FnMut(&mut Self, Header),
        outside: impl FnOnce(&mut Self),
    ) {
        match self.resolve(header) {
            Resolved::One(h) => f(self, h),
            Resolved::Outside => outside(self),
            Resolved::Any(elems, index) => {
                let on = lower::scalar(self, index);
                let before = self.flow.clone();
                let default = self.block(outside);
                let mut after = self.flow.clone();
                let mut cases = Vec::new();
                for (i, h) in elems.into_iter().enumerate() {
                    self.flow = before.clone();
                    let block = self.block(|g| f(g, h));
                    after.join(&self.flow);
                    cases.push((vec![C::int(i as u64)], block));
                }
                self.flow = after;
                self.push(Stmt::Switch { on, cases, default });
            }
        }
    }

    /// A header's validity as 0 or 1.
    pub(crate) fn validity(&mut self, h: Header) -> C {
        match self.flow.valid(h) {
            Known::No => C::int(0),
            Known::Yes => C::int(1),
            Known::Maybe => self.local(Role::Valid(h)),
        }
    }

    /// Whether a header's pointer leads to its bytes.
    fn presence(&mut self, h: Header) -> C {
        match self.flow.there(h) {
            Known::No => C::int(0),
            Known::Yes => C::int(1),
            Known::Maybe => self.local(self.presence_role(h)),
        }
    }

    /// Whether a header is known to be there only by the first operand of the expression at hand.
    fn only_assumed(&self, h: Header) -> bool {
        self.moment
            .assumed
            .first()
            .is_some_and(|flow| flow.there(h) != Known::Yes)
    }

    /// The variable that says so.
    pub(crate) fn presence_role(&self, h: Header) -> Role {
        if self.plan.invalidated[h.as_u32() as usize] {
            Role::There(h)
        } else {
            Role::Valid(h)
        }
    }

    /// The bytes that a field of a header in the packet lies in, and its first bit there.
    fn place_of(&mut self, h: Header, field: u32) -> (Bytes, u32) {
        let layout = &self.p.header_types[self.p.headers[h].ty];
        let width = |f: &ir::FieldData| match f.ty {
            Type::Varbit(_) => 0,
            _ => f.ty.width(),
        };
        let bit: u32 = layout.fields[..field as usize].iter().map(width).sum();
        match layout.varbit() {
            Some(v) => {
                let before: u32 = layout.fields[..v as usize].iter().map(width).sum();
                if field > v {
                    let bytes = Bytes {
                        base: self.local(Role::Rest(h)),
                        len: (layout.fixed_width() - before) / 8,
                    };
                    (bytes, bit - before)
                } else {
                    let bytes = Bytes {
                        base: self.local(Role::Pointer(h)),
                        len: before / 8,
                    };
                    (bytes, bit)
                }
            }
            None => {
                let bytes = Bytes {
                    base: self.local(Role::Pointer(h)),
                    len: layout.fixed_width() / 8,
                };
                (bytes, bit)
            }
        }
    }

    fn field_type(&self, h: Header, field: u32) -> Type {
        self.p.header_types[self.p.headers[h].ty].fields[field as usize].ty
    }

    fn read_field(&mut self, h: Header, field: u32, hi: u32, lo: u32) -> C {
        let ty = self.field_type(h, field);
        if ty.width() == 0 {
            return C::int(0);
        }
        match self.plan.rep(h) {
            Rep::Fields => {
                let var = self.local(Role::Field(h, field));
                part_of(var, ty.width(), hi, lo)
            }
            Rep::Packet => {
                let there = self.presence(h);
                if there.as_int() != Some(1) {
                    self.weak.reads.insert((h, field));
                }
                if there.as_int() == Some(0) {
                    return C::int(0);
                }
                let (mut bytes, bit) = self.place_of(h, field);
                if there.as_int().is_none() || self.only_assumed(h) {
                    bytes.base = self.target.behind_check(bytes.base);
                }
                let value = bytes.load(bit + ty.width() - 1 - hi, hi - lo + 1);
                match there.as_int() {
                    Some(_) => value,
                    None => C::Cond(Box::new(there), Box::new(value), Box::new(C::int(0))),
                }
            }
        }
    }

    /// The bytes of a field in the packet and its first bit, for reading while it is extracted.
    pub(crate) fn extracted_field(&mut self, base: C, len: u32, bit: u32, ty: Type) -> Value {
        let bytes = Bytes { base, len };
        load_value(&bytes, bit, ty.width())
    }

    /// A value of any type, ready to be stored anywhere: computing it comes before.
    pub fn value(&mut self, e: Expr) -> Value {
        let data = &self.p.exprs[e];
        let width = data.ty.width();
        match (data.ty, &data.kind) {
            (Type::Varbit(_), ExprKind::Var(v)) => {
                let v = *v;
                Value::Slice(self.local(Role::VarAt(v)), self.local(Role::VarLen(v)))
            }
            (Type::Varbit(_), ExprKind::Field(h, _)) => match self.resolve(*h) {
                Resolved::One(h) => Value::Slice(
                    self.local(Role::VarbitAt(h)),
                    self.local(Role::VarbitLen(h)),
                ),
                Resolved::Outside => Value::Slice(C::int(0), C::int(0)),
                Resolved::Any(..) => {
                    self.refuse(errors::dynamic_varbit(self.target.name(), data.span));
                    Value::Slice(C::int(0), C::int(0))
                }
            },
            (Type::Varbit(_), _) => {
                self.refuse(errors::varbit_value(self.target.name(), data.span));
                Value::Slice(C::int(0), C::int(0))
            }
            _ if width <= 64 => Value::Scalar(lower::scalar(self, e)),
            (_, ExprKind::Const(_) | ExprKind::Var(_) | ExprKind::Field(..)) => {
                Value::Limbs(lower::limbs(self, e))
            }
            _ => {
                let array = lower::wide(self, e);
                let limbs = (0..limb_count(width)).map(|i| array.clone().index(C::int(i.into())));
                Value::Limbs(limbs.collect())
            }
        }
    }

    /// Stores a value.
    pub fn store(&mut self, place: Place, value: Value) {
        match place {
            Place::Var(v) => {
                if let Value::Slice(at, len) = value {
                    let (dst_at, dst_len) =
                        (self.local(Role::VarAt(v)), self.local(Role::VarLen(v)));
                    self.set(dst_at, at);
                    self.set(dst_len, len);
                    return;
                }
                if self.p.vars[v].ty.width() == 0 {
                    return;
                }
                if let Some((member, _)) = T::home(self, v) {
                    return self.store_local(member, value);
                }
                let var = self.local(Role::Var(v));
                self.store_local(var, value);
            }
            Place::Field(header, field) => {
                let mut value = Some(value);
                let single = matches!(self.resolve(header), Resolved::One(_));
                self.with_header(header, |g, h| {
                    let value = if single {
                        value.take().unwrap_or(Value::Scalar(C::int(0)))
                    } else {
                        match &value {
                            Some(Value::Scalar(c)) => Value::Scalar(c.clone()),
                            Some(Value::Limbs(l)) => Value::Limbs(l.clone()),
                            Some(Value::Slice(a, l)) => Value::Slice(a.clone(), l.clone()),
                            None => Value::Scalar(C::int(0)),
                        }
                    };
                    g.write_field(h, field, value);
                });
            }
        }
    }

    /// Stores to a C variable or a struct's member.
    pub fn store_local(&mut self, var: C, value: Value) {
        match value {
            Value::Scalar(value) => self.set(var, value),
            Value::Limbs(limbs) => {
                for (i, limb) in limbs.into_iter().enumerate() {
                    self.set(var.clone().index(C::int(i as u64)), limb);
                }
            }
            Value::Slice(..) => {}
        }
    }

    /// Stores to a field of a header that is what it is, valid or not.
    pub(crate) fn write_field(&mut self, h: Header, field: u32, value: Value) {
        let ty = self.field_type(h, field);
        if let Value::Slice(at, len) = value {
            let (dst_at, dst_len) = (
                self.local(Role::VarbitAt(h)),
                self.local(Role::VarbitLen(h)),
            );
            self.set(dst_at, at);
            self.set(dst_len, len);
            return;
        }
        if ty.width() == 0 {
            return;
        }
        match self.plan.rep(h) {
            Rep::Fields => {
                let var = self.local(Role::Field(h, field));
                self.store_local(var, value);
                self.touch(h);
            }
            Rep::Packet => {
                let there = self.presence(h);
                if there.as_int() != Some(1) {
                    self.weak.writes.insert((h, field));
                }
                if there.as_int() == Some(0) {
                    return;
                }
                let (mut bytes, bit) = self.place_of(h, field);
                if there.as_int().is_none() {
                    bytes.base = self.target.behind_check(bytes.base);
                }
                let mut stores = Block::new();
                store_value(&bytes, bit, ty.width(), value, &mut stores);
                match there.as_int() {
                    Some(_) => self.out.append(&mut stores),
                    None => self.push(Stmt::If(there, stores, Vec::new())),
                }
            }
        }
    }

    /// A header that the deparser may have to write was changed.
    pub(crate) fn touch(&mut self, h: Header) {
        if self.plan.layout.still_if_untouched && self.plan.layout.moves(h) {
            let touched = Stmt::Assign(C::id("touched"), C::int(1));
            // Once is enough in a run of statements.
            let run = self.out.iter().rev().take_while(|s| {
                matches!(
                    s,
                    Stmt::Assign(..) | Stmt::Line { .. } | Stmt::Expr(_) | Stmt::Hint { .. }
                )
            });
            if !run.into_iter().any(|s| *s == touched) {
                self.push(touched);
            }
        }
    }

    /// Sets a header's validity.
    pub(crate) fn set_validity(&mut self, h: Header, valid: bool) {
        let var = self.local(Role::Valid(h));
        self.set(var, C::int(valid.into()));
        self.flow
            .set_valid(h, if valid { Known::Yes } else { Known::No });
        self.touch(h);
    }

    /// Copies fields and validity; from outside a stack comes an invalid header.
    pub(crate) fn copy_from(&mut self, dst: Header, src: HeaderRef) {
        self.with_header_or(
            src,
            |g, src| g.copy_header(dst, src),
            |g| g.clear_header(dst),
        );
    }

    /// Makes a header invalid and its fields zero.
    fn clear_header(&mut self, h: Header) {
        let fields = self.p.header_types[self.p.headers[h].ty].fields.len();
        for f in 0..fields as u32 {
            let ty = self.field_type(h, f);
            let value = match ty {
                Type::Varbit(_) => Value::Slice(C::int(0), C::int(0)),
                _ if ty.width() <= 64 => Value::Scalar(C::int(0)),
                _ => Value::Limbs(vec![C::int(0); limb_count(ty.width()) as usize]),
            };
            self.write_field(h, f, value);
        }
        self.set_validity(h, false);
    }

    /// Copies fields and validity.
    pub(crate) fn copy_header(&mut self, dst: Header, src: Header) {
        if dst == src {
            return;
        }
        let fields = self.p.header_types[self.p.headers[dst].ty].fields.len();
        for f in 0..fields as u32 {
            let ty = self.field_type(src, f);
            let width = ty.width();
            let value = match ty {
                Type::Varbit(_) => Value::Slice(
                    self.local(Role::VarbitAt(src)),
                    self.local(Role::VarbitLen(src)),
                ),
                _ if width == 0 => continue,
                _ if width <= 64 => Value::Scalar(self.read_field(src, f, width - 1, 0)),
                _ => Value::Limbs(
                    (0..limb_count(width))
                        .map(|i| self.read_field(src, f, (i * 64 + 63).min(width - 1), i * 64))
                        .collect(),
                ),
            };
            self.write_field(dst, f, value);
        }
        let valid = self.validity(src);
        let known = self.flow.valid(src);
        let var = self.local(Role::Valid(dst));
        self.set(var, valid);
        self.flow.set_valid(dst, known);
        self.touch(dst);
    }

    /// The value of a field as the deparser writes it: bits `hi` down to `lo`.
    pub(crate) fn local_field(&mut self, h: Header, field: u32, hi: u32, lo: u32) -> C {
        let width = self.field_type(h, field).width();
        let var = self.local(Role::Field(h, field));
        part_of(var, width, hi, lo)
    }
}

/// Bits of a variable of any width.
fn part_of(var: C, width: u32, hi: u32, lo: u32) -> C {
    if width > 64 {
        return lower::part_of_limbs(&var, hi, lo);
    }
    if lo == 0 && hi + 1 == width {
        return var;
    }
    lower::part_of_register(var, width, hi, lo)
}

/// The value that lies at a bit.
pub(crate) fn load_value(bytes: &Bytes, bit: u32, width: u32) -> Value {
    if width <= 64 {
        return Value::Scalar(bytes.load(bit, width));
    }
    let limbs = (0..limb_count(width)).map(|i| {
        let (hi, lo) = ((i * 64 + 63).min(width - 1), i * 64);
        bytes.load(bit + width - 1 - hi, hi - lo + 1)
    });
    Value::Limbs(limbs.collect())
}

/// Stores a value at a bit.
pub fn store_value(bytes: &Bytes, bit: u32, width: u32, value: Value, out: &mut Block) {
    match value {
        Value::Scalar(value) => bytes.store(bit, width, value, out),
        Value::Limbs(limbs) => {
            for (i, limb) in limbs.into_iter().enumerate() {
                let i = i as u32;
                let (hi, lo) = ((i * 64 + 63).min(width - 1), i * 64);
                bytes.store(bit + width - 1 - hi, hi - lo + 1, limb, out);
            }
        }
        Value::Slice(..) => {}
    }
}
