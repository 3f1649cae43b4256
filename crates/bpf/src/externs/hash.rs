//! Hashes, and checksums of fields.

use super::{places, values};
use crate::errors;
use crate::target::Gen;
use cgen::lower;
use cgen::tree::{BinOp, Expr as C, Type as CType};
use diag::Span;
use emit::values::Value;
use externs::hash::Algorithm;
use ir::{ExternArg, ExternCall, Place};

/// `hash`: base + hash % max, or base where max is 0.
pub(super) fn hash(g: &mut Gen<'_>, call: &ExternCall, span: Span) {
    let Some(&place) = places(call, 0).first() else {
        return;
    };
    let numbers = [2, 4].map(|at| values(call, at).first().copied());
    let narrow = |g: &Gen<'_>, width: u32| {
        let widths = numbers.iter().flatten().map(|&e| g.p.ty(e).width());
        widths.chain([width]).all(|width| width <= 64)
    };
    let width = g.p.place_type(place).map_or(0, |ty| ty.width());
    if !narrow(g, width) {
        let hook = g.target.options.hook;
        g.refuse(errors::wide_number(hook, "hash", span));
        return;
    }
    let Some(hashed) = value(g, call, 1, 3, span) else {
        return;
    };
    let [base, max] = numbers.map(|e| e.map_or(C::int(0), |e| lower::scalar(g, e)));
    let hashed = hashed.cast(CType::U64);
    let offset = match max.as_int() {
        Some(0) => C::int(0),
        Some(_) => C::bin(BinOp::Mod, hashed, max),
        None => C::choose(max.clone(), C::bin(BinOp::Mod, hashed, max), C::int(0)),
    };
    let sum = C::bin(BinOp::Add, base.cast(CType::U64), offset);
    store(g, place, width, sum);
}

/// `update_checksum`: stores the checksum where the condition holds.
pub(super) fn update_checksum(g: &mut Gen<'_>, call: &ExternCall, span: Span) {
    let Some(&place) = places(call, 2).first() else {
        return;
    };
    let width = g.p.place_type(place).map_or(0, |ty| ty.width());
    if width > 64 {
        let hook = g.target.options.hook;
        g.refuse(errors::wide_number(hook, "update_checksum", span));
        return;
    }
    where_asked(g, call, |g| {
        if let Some(right) = value(g, call, 3, 1, span) {
            store(g, place, width, right);
        }
    });
}

/// `verify_checksum`: whether it is wrong, where the condition holds.
pub(super) fn verify_checksum(g: &mut Gen<'_>, call: &ExternCall, span: Span) {
    let (Some(&wrong), Some(&given)) = (call.result.first(), values(call, 2).first()) else {
        return;
    };
    let width = g.p.ty(given).width();
    if width > 64 {
        let hook = g.target.options.hook;
        g.refuse(errors::wide_number(hook, "verify_checksum", span));
        return;
    }
    g.store(wrong, Value::Scalar(C::int(0)));
    where_asked(g, call, |g| {
        let Some(right) = value(g, call, 3, 1, span) else {
            return;
        };
        let given = lower::scalar(g, given);
        let right = C::bin(BinOp::And, right, C::int(lower::mask(width)));
        g.store(wrong, Value::Scalar(C::bin(BinOp::Ne, given, right)));
    });
}

/// Does what is to be done where a call's condition holds, which is mostly that a header is valid.
fn where_asked(g: &mut Gen<'_>, call: &ExternCall, then: impl FnOnce(&mut Gen<'_>)) {
    let Some(&condition) = values(call, 0).first() else {
        return;
    };
    g.where_holds(condition, then);
}

/// The hash of an argument's values by the algorithm that another names.
fn value(
    g: &mut Gen<'_>,
    call: &ExternCall,
    algorithm: usize,
    data: usize,
    span: Span,
) -> Option<C> {
    let Some(&ExternArg::Member(of, member)) = call.args.get(algorithm) else {
        return None;
    };
    let name = g.p.enums[of].members.get(member as usize)?.clone();
    let algorithm = Algorithm::of_member(&name)?;
    match algorithm {
        Algorithm::Random if call.name == "hash" => Some(super::random::draw()),
        Algorithm::Random => {
            let hook = g.target.options.hook;
            g.refuse(errors::unknown_extern(hook, "HashAlgorithm.random", span));
            None
        }
        _ => {
            let data = values(call, data).to_vec();
            g.hash(algorithm, &data, span)
        }
    }
}

fn store(g: &mut Gen<'_>, place: Place, width: u32, value: C) {
    let value = C::bin(BinOp::And, value, C::int(lower::mask(width)));
    g.store(place, Value::Scalar(value));
}
