//! Calls of `hash` and of externs about checksums.

use crate::calls::{places, values};
use crate::emitter::Gen;
use crate::errors;
use crate::target::Target;
use crate::values::Value;
use cgen::lower;
use cgen::tree::{BinOp, Expr as C, Type as CType};
use diag::Span;
use externs::hash::Algorithm;
use ir::{ExternArg, ExternCall, Place};
use smol_str::SmolStr;

impl<T: Target> Gen<'_, T> {
    /// `hash`: base + hash % max, or base where max is 0. `random` gives 64 random bits.
    pub fn hash_call(&mut self, call: &ExternCall, span: Span, random: fn() -> C) {
        let Some(&place) = places(call, 0).first() else {
            return;
        };
        let numbers = [2, 4].map(|at| values(call, at).first().copied());
        let width = self.width_of(place);
        let widths = numbers.iter().flatten().map(|&e| self.p.ty(e).width());
        if widths.chain([width]).any(|width| width > 64) {
            return self.refuse_wide("hash", span);
        }
        let name = self.algorithm_name(call, 1);
        let hashed = match name.and_then(|name| Algorithm::of_member(&name)) {
            None => None,
            Some(Algorithm::Random) => {
                // It is drawn whatever becomes of it, as the interpreter does.
                let drawn = self.own_local("drawn", CType::U64, None);
                self.set(drawn.clone(), random());
                Some(drawn)
            }
            Some(algorithm) => self.hash(algorithm, values(call, 3), span),
        };
        let Some(hashed) = hashed else {
            return;
        };
        let [base, max] = numbers.map(|e| e.map_or(C::int(0), |e| lower::scalar(self, e)));
        let hashed = hashed.cast(CType::U64);
        let offset = match max.as_int() {
            Some(0) => C::int(0),
            Some(_) => C::bin(BinOp::Mod, hashed, max),
            None => C::choose(max.clone(), C::bin(BinOp::Mod, hashed, max), C::int(0)),
        };
        let sum = C::bin(BinOp::Add, base.cast(CType::U64), offset);
        self.store_low_bits(place, width, sum);
    }

    /// `update_checksum`, also with the payload: stores the checksum, which `checksum` gives, where the condition holds.
    pub fn update_checksum(
        &mut self,
        call: &ExternCall,
        span: Span,
        checksum: impl FnOnce(&mut Self) -> Option<C>,
    ) {
        let Some(&place) = places(call, 2).first() else {
            return;
        };
        let width = self.width_of(place);
        if width > 64 {
            return self.refuse_wide("update_checksum", span);
        }
        self.where_asked(call, |g| {
            if let Some(right) = checksum(g) {
                g.store_low_bits(place, width, right);
            }
        });
    }

    /// `verify_checksum`, also with the payload: whether it is wrong, where the condition holds.
    pub fn verify_checksum(
        &mut self,
        call: &ExternCall,
        span: Span,
        checksum: impl FnOnce(&mut Self) -> Option<C>,
    ) {
        let (Some(&wrong), Some(&given)) = (call.result.first(), values(call, 2).first()) else {
            return;
        };
        let width = self.p.ty(given).width();
        if width > 64 {
            return self.refuse_wide("verify_checksum", span);
        }
        self.store(wrong, Value::Scalar(C::int(0)));
        self.where_asked(call, |g| {
            let Some(right) = checksum(g) else {
                return;
            };
            let given = lower::scalar(g, given);
            let right = C::bin(BinOp::And, right, C::int(lower::mask(width)));
            g.store(wrong, Value::Scalar(C::bin(BinOp::Ne, given, right)));
        });
    }

    /// `Checksum16.get`: the Internet checksum of what is given.
    pub fn checksum16(&mut self, call: &ExternCall, span: Span) {
        if let Some(sum) = self.hash(Algorithm::Csum16, values(call, 0), span) {
            self.result(call, sum.cast(CType::U16));
        }
    }

    /// The member of an enum that an argument names.
    pub fn algorithm_name(&self, call: &ExternCall, at: usize) -> Option<SmolStr> {
        let Some(&ExternArg::Member(of, member)) = call.args.get(at) else {
            return None;
        };
        self.p.enums[of].members.get(member as usize).cloned()
    }

    /// Does what is to be done where a call's condition holds, which is mostly that a header is valid.
    fn where_asked(&mut self, call: &ExternCall, then: impl FnOnce(&mut Self)) {
        if let Some(&condition) = values(call, 0).first() {
            self.where_holds(condition, then);
        }
    }

    fn width_of(&self, place: Place) -> u32 {
        self.p.place_type(place).map_or(0, |ty| ty.width())
    }

    fn refuse_wide(&mut self, name: &str, span: Span) {
        self.refuse(errors::wide_number(self.target.name(), name, span));
    }

    fn store_low_bits(&mut self, place: Place, width: u32, value: C) {
        let value = C::bin(BinOp::And, value, C::int(lower::mask(width)));
        self.store(place, Value::Scalar(value));
    }
}
