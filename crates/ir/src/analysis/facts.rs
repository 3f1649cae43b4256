//! Facts about storage at one point: values of variables, validity of headers.
//!
//! Guarantee: they hold on every path to the point. A variable has its known value or equals the variable of which it
//! is a known copy; a header has its known validity. Storage that is not mentioned is unknown.

use super::dataflow::Domain;
use super::known::{Knowledge, Known, Members};
use super::known_vars::KnownVars;
use crate::eval::{self, Value};
use crate::types::is_signed;
use crate::*;

/// Fact about a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KnownVar {
    /// A constant value.
    Value(Value),
    /// The same value as this variable, whose value is unknown.
    Copy(Var),
}

/// Facts at a reachable point. Points share equal parts of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Facts {
    vars: KnownVars,
    valid: Knowledge,
}

impl Facts {
    /// Returns facts in which nothing is known.
    pub fn unknown(program: &Program) -> Facts {
        Facts {
            vars: KnownVars::unknown(program.vars.len()),
            valid: Knowledge::new(program.headers.len(), Known::Maybe),
        }
    }

    /// Returns the facts about headers alone.
    pub fn of_headers(&self) -> Facts {
        Facts {
            vars: self.vars.unknown_alike(),
            valid: self.valid.clone(),
        }
    }

    /// Kills the facts about all variables and headers except these.
    pub fn keep(&mut self, vars: &[Var], headers: &Members) {
        let mut kept = self.vars.unknown_alike();
        for &var in vars {
            kept.set(var, self.vars.get(var).cloned());
        }
        self.vars = kept;
        self.valid.keep(headers);
    }

    /// Returns the fact about a variable.
    pub fn var(&self, var: Var) -> Option<&KnownVar> {
        self.vars.get(var)
    }

    /// Returns the validity of a header, if known.
    pub fn valid(&self, header: Header) -> Option<bool> {
        match self.valid.get(index(header)) {
            Known::Yes => Some(true),
            Known::No => Some(false),
            Known::Maybe => None,
        }
    }

    /// Returns the header that a reference names, if its index is known and in bounds.
    pub fn resolve(&self, program: &Program, header: HeaderRef) -> Option<Header> {
        match header {
            HeaderRef::Header(header) => Some(header),
            HeaderRef::Element(stack, index) => {
                let index = self.index(program, index)?;
                program.stacks[stack].elems.get(index).copied()
            }
        }
    }

    /// Returns true if a reference's index is certainly out of bounds, so that it names no header.
    pub fn is_out_of_bounds(&self, program: &Program, header: HeaderRef) -> bool {
        match header {
            HeaderRef::Header(_) => false,
            HeaderRef::Element(stack, index) => match self.eval(program, index) {
                Some(Value::Bits(bits)) => {
                    let size = program.stacks[stack].elems.len() as u64;
                    bits.to_u64().is_none_or(|index| index >= size)
                }
                _ => false,
            },
        }
    }

    fn index(&self, program: &Program, index: Expr) -> Option<usize> {
        let value = self.eval(program, index)?;
        usize::try_from(value.bits().to_u64()?).ok()
    }

    /// Returns the validity of the header that a reference names, if known.
    pub fn is_valid(&self, program: &Program, header: HeaderRef) -> Option<bool> {
        match header {
            HeaderRef::Header(header) => self.valid(header),
            HeaderRef::Element(stack, index) => {
                let elems = &program.stacks[stack].elems;
                if let Some(index) = self.index(program, index) {
                    // Out of bounds is invalid.
                    return elems.get(index).map_or(Some(false), |&h| self.valid(h));
                }
                // Out of bounds would not be valid, so only a stack without a valid element gives a fact.
                let all_invalid = elems.iter().all(|&h| self.valid(h) == Some(false));
                all_invalid.then_some(false)
            }
        }
    }

    /// Returns an expression's value, if known.
    pub fn eval(&self, program: &Program, expr: Expr) -> Option<Value> {
        let data = &program.exprs[expr];
        Some(match data.kind {
            ExprKind::Const(_) | ExprKind::Bool(_) | ExprKind::Member(_) => {
                return eval::constant(program, expr);
            }
            ExprKind::Var(var) => match self.vars.get(var)? {
                KnownVar::Value(value) => value.clone(),
                KnownVar::Copy(_) => return None,
            },
            ExprKind::Field(..) => return None,
            ExprKind::IsValid(header) => Value::Bool(self.is_valid(program, header)?),
            ExprKind::Unary(op, a) => eval::unary(op, &self.eval(program, a)?),
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.eval(program, a), self.eval(program, b));
                let settles = match op {
                    BinaryOp::And => Some(Value::Bool(false)),
                    BinaryOp::Or => Some(Value::Bool(true)),
                    _ => None,
                };
                if settles.is_some() && (x == settles || y == settles) {
                    return settles;
                }
                eval::binary(op, &x?, &y?, is_signed(program.ty(a)))
            }
            ExprKind::Cast(a) => eval::cast(&self.eval(program, a)?, program.ty(a), data.ty),
            ExprKind::Slice { base, hi, lo } => eval::slice(&self.eval(program, base)?, hi, lo),
            ExprKind::Mux(cond, a, b) => match self.eval(program, cond)? {
                Value::Bool(true) => self.eval(program, a)?,
                _ => self.eval(program, b)?,
            },
        })
    }

    /// Kills the facts about a variable and about its copies.
    pub fn kill(&mut self, var: Var) {
        self.vars.set(var, None);
        self.vars.kill_copies(var);
    }

    /// Kills a header's validity.
    pub fn kill_valid(&mut self, header: Header) {
        self.know_valid(header, None);
    }

    /// Stores a value in a variable.
    pub fn set(&mut self, var: Var, value: Value) {
        self.kill(var);
        if value.to_const().is_some() {
            self.vars.set(var, Some(KnownVar::Value(value)));
        }
    }

    /// Stores an expression's value in a variable.
    pub fn assign(&mut self, program: &Program, var: Var, value: Expr) {
        if let Some(value) = self.eval(program, value) {
            return self.set(var, value);
        }
        let source = match program.exprs[value].kind {
            ExprKind::Var(source) => match self.vars.get(source) {
                Some(&KnownVar::Copy(origin)) => Some(origin),
                _ => Some(source),
            },
            _ => None,
        };
        if source == Some(var) {
            // The variable keeps its value.
            return;
        }
        self.kill(var);
        if let Some(source) = source {
            self.vars.set(var, Some(KnownVar::Copy(source)));
        }
    }

    /// Sets the validity of the header that the reference names. If the index is unknown, any element of the stack may
    /// be that header.
    pub fn set_valid(&mut self, program: &Program, header: HeaderRef, valid: Option<bool>) {
        if let Some(header) = self.resolve(program, header) {
            self.know_valid(header, valid);
            return;
        }
        if let HeaderRef::Element(stack, index) = header {
            if self.index(program, index).is_some() {
                // Out of bounds: nothing is written.
                return;
            }
            for &elem in &program.stacks[stack].elems {
                if self.valid(elem) != valid {
                    self.kill_valid(elem);
                }
            }
        }
    }

    /// Refines the facts on the edge where a condition has the value `truth`.
    pub fn assume(&mut self, program: &Program, cond: Expr, truth: bool) {
        match program.exprs[cond].kind {
            ExprKind::IsValid(header) => {
                if let Some(header) = self.resolve(program, header) {
                    self.know_valid(header, Some(truth));
                }
            }
            ExprKind::Var(var) => self.refine(var, Value::Bool(truth)),
            ExprKind::Unary(UnaryOp::Not, inner) => self.assume(program, inner, !truth),
            ExprKind::Binary(BinaryOp::And, a, b) if truth && program.ty(a) == Type::Bool => {
                self.assume(program, a, true);
                self.assume(program, b, true);
            }
            ExprKind::Binary(BinaryOp::Or, a, b) if !truth && program.ty(a) == Type::Bool => {
                self.assume(program, a, false);
                self.assume(program, b, false);
            }
            ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b)
                if truth == (op == BinaryOp::Eq) =>
            {
                match (&program.exprs[a].kind, &program.exprs[b].kind) {
                    (ExprKind::Var(var), _) => {
                        if let Some(value) = self.eval(program, b) {
                            self.refine(*var, value);
                        }
                    }
                    (_, ExprKind::Var(var)) => {
                        if let Some(value) = self.eval(program, a) {
                            self.refine(*var, value);
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Refines the fact about a variable that was not written.
    pub fn refine(&mut self, var: Var, value: Value) {
        if value.to_const().is_none() {
            return;
        }
        if let Some(&KnownVar::Copy(origin)) = self.vars.get(var) {
            self.vars.set(origin, Some(KnownVar::Value(value.clone())));
        }
        self.vars.set(var, Some(KnownVar::Value(value)));
    }

    /// Sets a header's known validity, whatever was known before.
    pub(super) fn insert_valid(&mut self, header: Header, valid: bool) {
        self.know_valid(header, Some(valid));
    }

    fn know_valid(&mut self, header: Header, valid: Option<bool>) {
        let known = match valid {
            Some(true) => Known::Yes,
            Some(false) => Known::No,
            None => Known::Maybe,
        };
        self.valid.set(index(header), known);
    }
}

fn index(header: Header) -> usize {
    header.as_u32() as usize
}

/// A join retains the facts that both operands have.
impl Domain for Facts {
    fn join(&mut self, other: &Facts) -> bool {
        let fewer = self.vars.join(&other.vars);
        self.valid.join(&other.valid) || fewer
    }
}
