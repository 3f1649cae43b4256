//! The payload as bytes: its length, and reads, comparisons, searches and changes at an offset.

use super::{Payload, Reads, pieces};
use crate::{errors, word};
use arch::payload::{
    CHUNKS, FIND, LENGTH, MATCHES, PATTERN, READ, SUM, TRUNCATE, UNCHANGED, WRITE,
};
use cgen::lower;
use cgen::tree::{BinOp, Expr as C, Stmt, Type as CType};
use diag::Span;
use emit::Gen;
use emit::calls::{declare, places, values};
use emit::values::Value;
use ir::{Expr, ExprKind, ExternArg, ExternCall};

/// Emits a call of one of the functions about the payload.
pub(super) fn call<T: Payload>(g: &mut Gen<'_, T>, call: &ExternCall, span: Span) {
    let wanted = match call.name.as_str() {
        LENGTH | UNCHANGED => 0,
        TRUNCATE | SUM => 1,
        PATTERN | CHUNKS => 3,
        _ => 2,
    };
    let parsed = match call.args.last() {
        Some(ExternArg::In(parsed)) if call.args.len() > wanted && parsed.len() == 1 => parsed[0],
        // In a copy, the program does not know how far its parser got.
        _ => {
            let target = g.target.name();
            return g.refuse(errors::of_copies(target, span));
        }
    };
    T::shared(&mut g.file.own).reads_bytes = true;
    let parsed = C::bin(BinOp::Shr, lower::scalar(g, parsed), C::int(3));
    match call.name.as_str() {
        PATTERN if T::reads(g, Reads::InLoops, span) => pattern(g, call, parsed),
        PATTERN => {}
        CHUNKS if T::reads(g, Reads::InLoops, span) => super::chunks::call(g, call, parsed),
        CHUNKS => {}
        LENGTH => {
            let args = vec![parsed, g.packet_length()];
            g.result(call, C::pure("payload_length", args));
        }
        FIND if T::reads(g, Reads::InLoops, span) => find(g, call, parsed),
        FIND => {}
        MATCHES if T::reads(g, Reads::Bytes, span) => matches(g, call, parsed),
        READ if T::reads(g, Reads::Bytes, span) => read(g, call, parsed),
        WRITE if T::reads(g, Reads::Changed, span) => write(g, call, parsed),
        TRUNCATE if T::reads(g, Reads::Changed, span) => {
            let args = vec![parsed, g.packet_length(), offset(g, call)];
            g.result(call, C::pure("payload_excess", args));
        }
        UNCHANGED if T::reads(g, Reads::Changed, span) => g.result(call, C::int(1)),
        SUM if T::reads(g, Reads::Bytes, span) => sum(g, call, parsed),
        _ => {}
    }
}

/// Returns the offset argument of a call.
pub(super) fn offset<T: Payload>(g: &mut Gen<'_, T>, call: &ExternCall) -> C {
    match values(call, 0) {
        [offset] => lower::scalar(g, *offset),
        _ => C::int(0),
    }
}

/// Loads `size` bytes into zeroed words, after the first `skipped` bytes. Returns the success flag and the words.
fn load<T: Payload>(g: &mut Gen<'_, T>, offset: C, parsed: C, size: u32, skipped: u32) -> (C, C) {
    let words = CType::U64.array((size + skipped).div_ceil(8));
    let words = declare(g, words, "bytes", C::Init(Vec::new()));
    let to = words.clone().cast(CType::U8.ptr());
    let to = C::bin(BinOp::Add, to, C::int(skipped.into()));
    let args = vec![
        C::id("ctx"),
        parsed,
        offset,
        g.packet_length(),
        to,
        C::int(size.into()),
    ];
    let there = declare(g, CType::U32, "there", C::call("payload_bytes", args));
    (there, words)
}

/// `payload_read`
fn read<T: Payload>(g: &mut Gen<'_, T>, call: &ExternCall, parsed: C) {
    let Some(&place) = places(call, 1).first() else {
        return;
    };
    let size = g.p.place_type(place).map_or(0, |ty| ty.width()) / 8;
    let offset = offset(g, call);
    let result = call.result.first().copied();
    let block = g.block(|g| {
        // The last byte is the last one of a word, so that each word is a limb of the number.
        let count = size.div_ceil(8);
        let (there, words) = load(g, offset, parsed, size, 8 * count - size);
        let part = |number: u32| {
            let word = words.clone().index(C::int((count - 1 - number).into()));
            C::pure("load_be64", vec![word.addr()])
        };
        let value = match count {
            1 => Value::Scalar(part(0)),
            _ => Value::Limbs((0..count).map(part).collect()),
        };
        g.store(place, value);
        if let Some(result) = result {
            g.store(result, Value::Scalar(there));
        }
    });
    g.push(Stmt::Block(block));
}

/// `payload_sum`
fn sum<T: Payload>(g: &mut Gen<'_, T>, call: &ExternCall, parsed: C) {
    let bits = C::bin(BinOp::Shl, parsed.clone(), C::int(3));
    let args = vec![parsed, g.packet_length(), offset(g, call)];
    let length = declare(g, CType::U32, "summed", C::pure("payload_part_end", args));
    let sum = T::sum(g);
    let sum = sum(g, bits, length, C::int(0));
    g.result(call, C::pure("BE16", vec![sum]));
}

/// `payload_write`
fn write<T: Payload>(g: &mut Gen<'_, T>, call: &ExternCall, parsed: C) {
    let &[value] = values(call, 1) else {
        return;
    };
    let size = g.p.exprs[value].ty.width() / 8;
    let offset = offset(g, call);
    let result = call.result.first().copied();
    let block = g.block(|g| {
        let count = size.div_ceil(8);
        let words = declare(g, CType::U64.array(count), "bytes", C::Init(Vec::new()));
        let parts = match g.value(value) {
            Value::Limbs(parts) => parts,
            Value::Scalar(part) => vec![part],
            _ => return,
        };
        for (number, part) in parts.into_iter().rev().enumerate() {
            let word = words.clone().index(C::int(number as u64));
            g.push(Stmt::Expr(C::call("store_be64", vec![word.addr(), part])));
        }
        let from = words.cast(CType::U8.ptr());
        let from = C::bin(BinOp::Add, from, C::int((8 * count - size).into()));
        let args = vec![
            C::id("ctx"),
            parsed,
            offset,
            g.packet_length(),
            from,
            C::int(size.into()),
        ];
        let there = declare(g, CType::U32, "there", C::call("payload_write", args));
        if let Some(result) = result {
            g.store(result, Value::Scalar(there));
        }
    });
    g.push(Stmt::Block(block));
}

/// `payload_matches_ignore_case`
fn matches<T: Payload>(g: &mut Gen<'_, T>, call: &ExternCall, parsed: C) {
    let (Some(&result), Some(wanted)) = (call.result.first(), constant(g, call)) else {
        return;
    };
    let offset = offset(g, call);
    let block = g.block(|g| {
        let (there, bytes) = load(g, offset, parsed, wanted.len() as u32, 0);
        let pieces = wanted.chunks(8).enumerate().map(|(number, piece)| {
            let small = piece.to_ascii_lowercase();
            let letter = |b: &u8| 0x20 * u8::from(b.is_ascii_lowercase());
            let letters: Vec<u8> = small.iter().map(letter).collect();
            let here = bytes.clone().index(C::int(number as u64)).addr();
            let args = vec![
                here.cast(CType::U8.ptr()),
                C::int(word(&letters)),
                C::int(word(&small)),
                C::int(piece.len() as u64),
            ];
            C::pure("message_resembles", args)
        });
        let same = pieces.fold(there, C::and);
        g.store(result, Value::Scalar(C::choose(same, C::int(1), C::int(0))));
    });
    g.push(Stmt::Block(block));
}

/// `payload_find`
fn find<T: Payload>(g: &mut Gen<'_, T>, call: &ExternCall, parsed: C) {
    let Some(wanted) = constant(g, call) else {
        return;
    };
    let offset = offset(g, call);
    let function = pieces::find(g, &wanted);
    let args = vec![C::id("ctx"), parsed, offset, g.packet_length()];
    g.result(call, C::call(function, args));
}

/// `payload_matches`
fn pattern<T: Payload>(g: &mut Gen<'_, T>, call: &ExternCall, parsed: C) {
    let (Some(ExternArg::String(text)), [length]) = (call.args.get(2), values(call, 1)) else {
        return;
    };
    let Some(function) = pieces::matches(g, text) else {
        return;
    };
    let length = lower::scalar(g, *length);
    let args = vec![
        C::id("ctx"),
        parsed,
        offset(g, call),
        length,
        g.packet_length(),
    ];
    g.result(call, C::call(function, args));
}

/// Returns the bytes of a call's constant argument.
fn constant<T: Payload>(g: &Gen<'_, T>, call: &ExternCall) -> Option<Vec<u8>> {
    let value: Expr = *values(call, 1).first()?;
    match &g.p.exprs[value].kind {
        ExprKind::Const(bits) => Some(bits.to_bytes()),
        _ => None,
    }
}
