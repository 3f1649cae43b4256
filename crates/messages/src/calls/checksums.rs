//! Hashes, and checksums of fields, with or without the payload.

use super::Payload;
use arch::payload::WITH_PAYLOAD;
use cgen::lower;
use cgen::tree::{BinOp, Expr as C, Type as CType};
use diag::Span;
use emit::Gen;
use emit::calls::{places, values};
use emit::values::Value;
use externs::hash::Algorithm;
use ir::{ExternArg, ExternCall, Place};
use smol_str::SmolStr;

/// `hash`: base + hash % max, or base if max is 0.
pub(super) fn hash<T: Payload>(g: &mut Gen<'_, T>, call: &ExternCall, span: Span) {
    let Some(&place) = places(call, 0).first() else {
        return;
    };
    let numbers = [2, 4].map(|at| values(call, at).first().copied());
    let narrow = |g: &Gen<'_, T>, width: u32| {
        let widths = numbers.iter().flatten().map(|&e| g.p.ty(e).width());
        widths.chain([width]).all(|width| width <= 64)
    };
    let width = g.p.place_type(place).map_or(0, |ty| ty.width());
    if !narrow(g, width) {
        let target = g.target.name();
        g.refuse(emit::errors::wide_number(target, "hash", span));
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

/// `update_checksum`, with or without the payload: stores the checksum if the condition holds.
pub(super) fn update_checksum<T: Payload>(g: &mut Gen<'_, T>, call: &ExternCall, span: Span) {
    let Some(&place) = places(call, 2).first() else {
        return;
    };
    let width = g.p.place_type(place).map_or(0, |ty| ty.width());
    if width > 64 {
        let target = g.target.name();
        g.refuse(emit::errors::wide_number(target, "update_checksum", span));
        return;
    }
    where_asked(g, call, |g| {
        if let Some(right) = checksum(g, call, span) {
            store(g, place, width, right);
        }
    });
}

/// `verify_checksum`, with or without the payload: the result is 1 if the condition holds and the checksum is wrong.
pub(super) fn verify_checksum<T: Payload>(g: &mut Gen<'_, T>, call: &ExternCall, span: Span) {
    let (Some(&wrong), Some(&given)) = (call.result.first(), values(call, 2).first()) else {
        return;
    };
    let width = g.p.ty(given).width();
    if width > 64 {
        let target = g.target.name();
        g.refuse(emit::errors::wide_number(target, "verify_checksum", span));
        return;
    }
    g.store(wrong, Value::Scalar(C::int(0)));
    where_asked(g, call, |g| {
        let Some(right) = checksum(g, call, span) else {
            return;
        };
        let given = lower::scalar(g, given);
        let right = C::bin(BinOp::And, right, C::int(lower::mask(width)));
        g.store(wrong, Value::Scalar(C::bin(BinOp::Ne, given, right)));
    });
}

/// `Checksum16.get`: the Internet checksum of the argument.
pub(super) fn checksum16<T: Payload>(g: &mut Gen<'_, T>, call: &ExternCall, span: Span) {
    let data = values(call, 0).to_vec();
    if let Some(sum) = g.hash(Algorithm::Csum16, &data, span) {
        g.result(call, sum.cast(CType::U16));
    }
}

/// Emits code under a call's condition. Mostly that is the validity of a header.
fn where_asked<T: Payload>(
    g: &mut Gen<'_, T>,
    call: &ExternCall,
    then: impl FnOnce(&mut Gen<'_, T>),
) {
    let Some(&condition) = values(call, 0).first() else {
        return;
    };
    g.where_holds(condition, then);
}

/// Computes the checksum that a call asks for.
fn checksum<T: Payload>(g: &mut Gen<'_, T>, call: &ExternCall, span: Span) -> Option<C> {
    if !WITH_PAYLOAD.contains(&call.name.as_str()) {
        return value(g, call, 3, 1, span);
    }
    let name = algorithm_name(g, call, 3)?;
    if Algorithm::of_member(&name) != Some(Algorithm::Csum16) {
        let target = g.target.name();
        g.refuse(emit::errors::algorithm(
            target,
            &name,
            "a payload",
            "use `HashAlgorithm.csum16`, or leave the payload out",
            span,
        ));
        return None;
    }
    let Some(&parsed) = values(call, 4).first() else {
        g.not_lowered("a payload without its beginning", span);
        return None;
    };
    let data = values(call, 1).to_vec();
    let parsed = lower::scalar(g, parsed);
    let sum = T::sum(g);
    let rest = |g: &mut Gen<'_, T>, odd: C| {
        let length = g.packet_length();
        sum(g, parsed, length, odd)
    };
    g.checksum_with(&data, rest, span)
}

/// Returns the member of an enum that an argument names.
fn algorithm_name<T: Payload>(g: &Gen<'_, T>, call: &ExternCall, at: usize) -> Option<SmolStr> {
    let Some(&ExternArg::Member(of, member)) = call.args.get(at) else {
        return None;
    };
    g.p.enums[of].members.get(member as usize).cloned()
}

/// Computes the hash of an argument's values by the algorithm that another argument names.
fn value<T: Payload>(
    g: &mut Gen<'_, T>,
    call: &ExternCall,
    algorithm: usize,
    data: usize,
    span: Span,
) -> Option<C> {
    let name = algorithm_name(g, call, algorithm)?;
    let algorithm = Algorithm::of_member(&name)?;
    match algorithm {
        Algorithm::Random if call.name == "hash" => {
            // The number is drawn even if nobody uses it, as in the interpreter.
            let drawn = g.own_local("drawn", CType::U64, None);
            g.set(drawn.clone(), state::random::draw());
            Some(drawn)
        }
        Algorithm::Random => {
            T::refuse_extern(g, "HashAlgorithm.random", span);
            None
        }
        _ => {
            let data = values(call, data).to_vec();
            g.hash(algorithm, &data, span)
        }
    }
}

fn store<T: Payload>(g: &mut Gen<'_, T>, place: Place, width: u32, value: C) {
    let value = C::bin(BinOp::And, value, C::int(lower::mask(width)));
    g.store(place, Value::Scalar(value));
}
