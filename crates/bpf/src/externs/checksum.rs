//! Checksums of fields, and of the payload behind them.

use crate::abi::{Hook, MapAbi, MapKind};
use crate::copies;
use crate::emitter::{Gen, needs};
use crate::errors;
use crate::maps::MAP_NAME;
use crate::uses::Construct;
use arch::payload::WITH_PAYLOAD;
use cgen::lower;
use cgen::tree::{Expr as C, Type as CType};
use diag::Span;
use emit::calls::values;
use externs::hash::Algorithm;
use ir::ExternCall;

/// The checksum that a call asks for.
pub(super) fn of(g: &mut Gen<'_>, call: &ExternCall, span: Span) -> Option<C> {
    let has_payload = WITH_PAYLOAD.contains(&call.name.as_str());
    let name = g.algorithm_name(call, 3)?;
    let algorithm = Algorithm::of_member(&name);
    let hook = g.target.options.hook;
    match (algorithm, has_payload) {
        (Some(Algorithm::Random), false) => {
            g.refuse(errors::unknown_extern(hook, "HashAlgorithm.random", span));
            return None;
        }
        (algorithm, false) => return g.hash(algorithm?, values(call, 1), span),
        (Some(Algorithm::Csum16), true) => {}
        (_, true) => {
            g.refuse(emit::errors::algorithm(
                hook.target(),
                &name,
                "a payload",
                "use `HashAlgorithm.csum16`, or leave the payload out",
                span,
            ));
            return None;
        }
    }
    let Some(&parsed) = values(call, 4).first() else {
        g.not_lowered("a payload without its beginning", span);
        return None;
    };
    needs(g, Construct::Payload);
    if hook == Hook::Xdp {
        needs(g, Construct::PayloadAtXdp);
    }
    let pieces = pieces(g);
    let parsed = lower::scalar(g, parsed);
    let moved = match copies::differ(g.p) {
        true => C::call("packet_moved", vec![C::id("ctx")]),
        false => C::int(0),
    };
    let rest = |g: &mut Gen<'_>, odd: C| {
        let args = vec![C::id("ctx"), pieces, parsed, g.packet_length(), moved, odd];
        C::call("payload_sum", args)
    };
    g.checksum_with(values(call, 1), rest, span)
}

/// The address of memory for pieces of the payload.
fn pieces(g: &mut Gen<'_>) -> C {
    if g.file.own.maps.payload.is_none() {
        let name = g.file.names.fresh_short("payload", "_piece", MAP_NAME);
        let abi = MapAbi::new(name.as_str(), MapKind::PercpuArray, 4, PIECE, 1);
        let types = (CType::U32, CType::Struct("payload_piece".into()));
        let maps = &mut g.file.own.maps;
        maps.declare(abi, Some(types));
        maps.payload = Some(name);
    }
    let name = g.file.own.maps.payload.clone().unwrap_or_default();
    C::Ident(name).addr()
}

/// Bytes of `struct payload_piece`.
const PIECE: u32 = 512;
