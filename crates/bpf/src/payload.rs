//! Reading of the payload by BPF programs.

use crate::abi::Hook;
use crate::copies;
use crate::emitter::{Bpf, Gen, Shared, needs};
use crate::errors;
use crate::externs;
use crate::features::Feature;
use crate::maps::MAP_NAME;
use crate::uses::Construct;
use cgen::tree::{Expr as C, Type};
use diag::Span;
use emit::Target;
use emit::memory::declare;
use layout::{Map, MapKind};
use messages::calls::PayloadSum;
use messages::{Payload, Reads, of_copies};
use smol_str::SmolStr;

/// Bytes of `struct payload_piece`.
const PIECE: u32 = 512;

impl Payload for Bpf {
    fn shared(file: &mut Shared) -> &mut messages::calls::Shared {
        &mut file.payload
    }

    fn packet(&self) -> &'static str {
        self.hook.text().context
    }

    fn sum(g: &mut Gen<'_>) -> PayloadSum<Bpf> {
        needs(g, Construct::Payload);
        if g.target.options.hook == Hook::Xdp {
            needs(g, Construct::PayloadAtXdp);
        }
        |g, parsed, length, odd| {
            let pieces = pieces(g);
            let moved = match copies::differ(g.p) {
                true => C::call("packet_moved", vec![C::id("ctx")]),
                false => C::int(0),
            };
            let args = vec![C::id("ctx"), pieces, parsed, length, moved, odd];
            C::call("payload_sum", args)
        }
    }

    fn refuse_extern(g: &mut Gen<'_>, name: &str, span: Span) {
        externs::unknown(g, name, span);
    }

    fn reads(g: &mut Gen<'_>, how: Reads, span: Span) -> bool {
        // For a copy, the program does not know how far its parser got.
        if copies::differ(g.p) {
            let target = g.target.name();
            g.refuse(of_copies(target, span));
            return false;
        }
        if g.target.options.hook == Hook::Xdp {
            needs(g, Construct::PayloadAtXdp);
        }
        if how == Reads::Changed && g.target.options.hook != Hook::Xdp {
            g.refuse(errors::payload_unchanged(g.target.options.hook, span));
            return false;
        }
        if matches!(how, Reads::Bytes | Reads::Changed) {
            return true;
        }
        needs(g, Construct::Messages);
        let can = g.target.options.features.has(Feature::MayGoto);
        if !can {
            g.refuse(errors::needs_newer(span));
        }
        can
    }
}

/// Returns the address of memory for pieces of the payload.
fn pieces(g: &mut Gen<'_>) -> C {
    let name = match &g.file.own.maps.payload {
        Some(name) => name.clone(),
        None => {
            let name: SmolStr = g.file.names.fresh_short("payload", "_piece", MAP_NAME);
            let map = Map::new(name.as_str(), MapKind::PerCoreArray, 4, PIECE, 1);
            declare(
                g,
                map,
                Some((Type::U32, Type::Struct("payload_piece".into()))),
            );
            g.file.own.maps.payload = Some(name.clone());
            name
        }
    };
    C::Ident(name).addr()
}
