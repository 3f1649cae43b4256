//! `v1model` at any hook: inputs of its pipeline, and the fate of a packet.

use super::ports::input_port;
use super::verdict::is_read;
use crate::emitter::Gen;
use crate::errors;
use crate::placed::Placed;
use arch::v1model::DROP_PORT;
use arch::v1model::unicast::{DESTINATION, INPUT, NOW, OUTPUT, REPLICA};
use cgen::lower;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type};
use diag::Span;
use emit::packet_length;

/// Sets the inputs that the program reads. The port is that of the interface given by a member of the context.
pub(super) fn inputs(g: &mut Gen<'_>, placed: &Placed, interface: &str) -> Block {
    inputs_of(g, placed, INPUT, interface)
}

/// Does the same as [`inputs`] for inputs in a given slot.
pub(super) fn inputs_of(g: &mut Gen<'_>, placed: &Placed, slot: &str, interface: &str) -> Block {
    g.file.own.maps.ports.below = Some(DROP_PORT);
    let mut out = Block::new();
    let place = |g: &mut Gen<'_>, name: &str| {
        let var = g.p.slot_var(slot, name).filter(|&var| is_read(g.p, var))?;
        let place = placed.place_of(g, var)?;
        Some((place, g.p.vars[var].ty.width()))
    };
    if let Some((port, width)) = place(g, "ingress_port") {
        out.extend(input_port(g, port.clone(), interface));
        out.push(low_bits(port.clone(), port, width));
    }
    if let Some((length, _)) = place(g, "packet_length") {
        out.push(Stmt::Assign(length, packet_length()));
    }
    // Zero until the parser reports an error; passes count on that.
    if let Some((error, _)) = place(g, "parser_error") {
        out.push(Stmt::Assign(error, C::int(0)));
    }
    let names = ["ingress_global_timestamp", NOW].iter();
    let clocks: Vec<_> = names.filter_map(|name| place(g, name)).collect();
    if !clocks.is_empty() {
        let now = C::bin(BinOp::Div, C::call("now_ns", Vec::new()), C::int(1000));
        let time = g.file.names.fresh("microseconds");
        let mut block = vec![Stmt::decl(Type::U64, time.clone(), now)];
        block.extend(
            clocks
                .into_iter()
                .map(|(place, width)| low_bits(place, C::Ident(time.clone()), width)),
        );
        out.push(Stmt::Block(block));
    }
    out
}

fn low_bits(place: C, value: C, width: u32) -> Stmt {
    Stmt::Assign(place, masked(value, width))
}

/// Returns the low bits of a number.
pub(super) fn masked(value: C, width: u32) -> C {
    C::bin(BinOp::And, value, C::int(lower::mask(width)))
}

/// Refuses programs whose packets may be copied, at a hook that cannot.
pub(super) fn refuse_copies(g: &mut Gen<'_>) {
    let hook = g.target.options.hook;
    let asked = arch::v1model::copies(g.p);
    // The request for copies may be found unreachable after egress was already made for them.
    if asked.is_empty() && replicates(g) {
        g.refuse(errors::no_copies(hook, "multicast groups", Span::NONE));
    }
    for (what, span) in asked {
        g.refuse(errors::no_copies(hook, what, span));
    }
}

/// Returns true if egress may run for copies.
pub(super) fn replicates(g: &Gen<'_>) -> bool {
    let port = g.p.slot_var(INPUT, REPLICA[0]);
    port.is_some_and(|port| is_read(g.p, port))
}

/// Returns the condition that the packet is dropped.
pub(super) fn dropped(g: &mut Gen<'_>) -> C {
    let spec = g.slot(OUTPUT, "egress_spec");
    C::bin(BinOp::Eq, spec, C::int(DROP_PORT.into()))
}

/// Returns the port that the packet goes to.
pub(super) fn egress_port(g: &mut Gen<'_>) -> C {
    g.slot(OUTPUT, DESTINATION)
}
