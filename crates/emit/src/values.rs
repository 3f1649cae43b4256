//! Values: how the emitter reads and stores them.

use super::access::Bytes;
use super::locals::LocalKind;
use crate::emitter::Gen;
use crate::errors;
use crate::headers::Resolved;
use crate::record;
use crate::target::Target;
use cgen::lower::{self, Leaves, limb_count};
use cgen::tree::{BinOp, Block, Expr as C, Stmt};
use ir::{BinaryOp, Expr, ExprKind, HeaderRef, Place, Program, Type, Var, visit};
use std::collections::HashMap;

/// A value to be stored.
pub enum Value {
    /// Up to 64 bits.
    Scalar(C),
    /// More than 64 bits: each limb, the least significant first.
    Limbs(Vec<C>),
    /// Varbit: its offset in the packet as it came in, and its length in bytes.
    Slice(C, C),
}

impl Value {
    /// Returns zero, with this width.
    pub fn zero(width: u32) -> Value {
        match width {
            0..=64 => Value::Scalar(C::int(0)),
            _ => Value::Limbs(vec![C::int(0); limb_count(width) as usize]),
        }
    }

    /// Returns the value of a struct's member.
    pub fn member(member: C, form: record::MemberLayout) -> Value {
        if form.width <= 64 {
            return Value::Scalar(record::load(member, form));
        }
        limbs_of(&member, form.width)
    }
}

impl<T: Target> Leaves for Gen<'_, T> {
    fn program(&self) -> &Program {
        self.p
    }

    fn var(&mut self, var: Var) -> C {
        if let Some((member, form)) = T::home(self, var) {
            return record::load(member, form);
        }
        self.local(LocalKind::Var(var))
    }

    fn var_limbs(&mut self, var: Var) -> C {
        if let Some((member, _)) = T::home(self, var) {
            return member;
        }
        self.local(LocalKind::Var(var))
    }

    fn field(&mut self, header: HeaderRef, field: u32, hi: u32, lo: u32) -> C {
        if let Some(element) = self.rolled(header) {
            return self.read_element(&element, field, hi, lo);
        }
        match self.resolve(header) {
            Resolved::One(h) => self.read_field(h, field, hi, lo),
            Resolved::Outside => C::int(0),
            Resolved::Any(elems, index) => {
                if let Some(value) = self.read_chosen(&elems, index, field, (hi, lo)) {
                    return value;
                }
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
        if let HeaderRef::Element(..) = header
            && let Some(element) = self.rolled(header)
        {
            return self.element_validity(&element);
        }
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
        self.moment.assumed.push(self.header_facts.clone());
        let (p, plan) = (self.p, self.plan);
        plan.refine(&mut self.header_facts, p, cond, truth);
    }

    fn end_assumption(&mut self) {
        if let Some(facts) = self.moment.assumed.pop() {
            self.header_facts = facts;
        }
    }

    fn varbits_differ(&mut self, a: Expr, b: Expr) -> C {
        self.differ(a, b)
    }

    fn computed(&mut self) -> &mut HashMap<Expr, C> {
        &mut self.moment.computed
    }
}

/// Returns the value in an array of limbs.
fn limbs_of(array: &C, width: u32) -> Value {
    let limbs = 0..limb_count(width);
    Value::Limbs(
        limbs
            .map(|i| array.clone().index(C::int(i.into())))
            .collect(),
    )
}

/// Number of values from which one is selected by a binary tree of comparisons. Fewer values are compared with the
/// index in sequence. With more, a selection in a loop would execute too many jumps.
const FEWEST_IN_A_TREE: u64 = 8;

/// Returns the value at an index; 0 past the end.
pub(crate) fn choose(index: &C, values: Vec<C>) -> C {
    let count = values.len() as u64;
    if count >= FEWEST_IN_A_TREE {
        let inside = C::bin(BinOp::Lt, index.clone(), C::int(count));
        let tree = choose_by_halves(index, 0, values);
        return C::Cond(Box::new(inside), Box::new(tree), Box::new(C::int(0)));
    }
    let mut result = C::int(0);
    for (i, value) in values.into_iter().enumerate().rev() {
        let here = C::bin(BinOp::Eq, index.clone(), C::int(i as u64));
        result = C::Cond(Box::new(here), Box::new(value), Box::new(result));
    }
    result
}

/// Returns the value at an index in bounds. `from` is the index of the first value.
fn choose_by_halves(index: &C, from: u64, mut values: Vec<C>) -> C {
    let behind = values.split_off(values.len().div_ceil(2));
    if behind.is_empty() {
        return values.pop().unwrap_or(C::int(0));
    }
    let middle = from + values.len() as u64;
    let is_lower = C::bin(BinOp::Lt, index.clone(), C::int(middle));
    let lower = choose_by_halves(index, from, values);
    let upper = choose_by_halves(index, middle, behind);
    C::Cond(Box::new(is_lower), Box::new(lower), Box::new(upper))
}

impl<T: Target> Gen<'_, T> {
    /// Returns a value of any type, ready to be stored anywhere. Statements that compute it are emitted first.
    pub fn value(&mut self, e: Expr) -> Value {
        let data = &self.p.exprs[e];
        let width = data.ty.width();
        match (data.ty, &data.kind) {
            (Type::Varbit(_), ExprKind::Var(v)) => {
                let v = *v;
                Value::Slice(
                    self.local(LocalKind::VarAt(v)),
                    self.local(LocalKind::VarLen(v)),
                )
            }
            (Type::Varbit(_), ExprKind::Field(h, _)) => match self.resolve(*h) {
                Resolved::One(h) => Value::Slice(
                    self.local(LocalKind::VarbitAt(h)),
                    self.local(LocalKind::VarbitLen(h)),
                ),
                Resolved::Outside => Value::Slice(C::int(0), C::int(0)),
                Resolved::Any(..) => {
                    self.refuse(errors::dynamic_varbit(self.target.name(), data.span));
                    Value::Slice(C::int(0), C::int(0))
                }
            },
            (Type::Varbit(_), _) => {
                self.not_lowered("a varbit value that is computed", data.span);
                Value::Slice(C::int(0), C::int(0))
            }
            _ if width <= 64 => Value::Scalar(lower::scalar(self, e)),
            // A store of the first limb may change the element that the next limb is read from.
            (_, ExprKind::Field(HeaderRef::Element(_, index), _))
                if !matches!(self.p.exprs[*index].kind, ExprKind::Const(_)) =>
            {
                let limbs = lower::limbs(self, e);
                let array = self.temp(limbs.len() as u32);
                for (i, limb) in limbs.into_iter().enumerate() {
                    self.set(array.clone().index(C::int(i as u64)), limb);
                }
                limbs_of(&array, width)
            }
            (_, ExprKind::Const(_) | ExprKind::Var(_) | ExprKind::Field(..)) => {
                Value::Limbs(lower::limbs(self, e))
            }
            (_, ExprKind::Binary(BinaryOp::Concat, ..)) if self.reads_no_limbs(e) => {
                Value::Limbs(lower::limbs(self, e))
            }
            _ => {
                let array = lower::wide(self, e);
                limbs_of(&array, width)
            }
        }
    }

    /// Returns true if all variables and fields that an expression reads have at most 64 bits. No store of a limb then
    /// changes another limb of the expression's value.
    fn reads_no_limbs(&self, e: Expr) -> bool {
        let mut narrow = true;
        visit::walk_expr(self.p, e, &mut |data| {
            if matches!(data.kind, ExprKind::Var(_) | ExprKind::Field(..)) {
                narrow &= data.ty.width() <= 64;
            }
        });
        narrow
    }

    /// Stores a value.
    pub fn store(&mut self, place: Place, value: Value) {
        match place {
            Place::Var(v) => {
                if let Value::Slice(at, len) = value {
                    let (dst_at, dst_len) = (
                        self.local(LocalKind::VarAt(v)),
                        self.local(LocalKind::VarLen(v)),
                    );
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
                let var = self.local(LocalKind::Var(v));
                self.store_local(var, value);
            }
            Place::Field(header, field) => {
                if let Some(element) = self.rolled(header) {
                    return self.write_element(&element, field, value);
                }
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
}

/// Loads the value at a bit offset.
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

/// Stores a value at a bit offset.
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
