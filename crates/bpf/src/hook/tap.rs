//! Inputs of `tap_model`, at any hook.

use super::verdict::is_read;
use crate::emitter::Gen;
use crate::placed::Placed;
use arch::tap::{INPUT, PARSER_ERROR};
use cgen::tree::{Block, Expr as C, Stmt};
use emit::packet_length;

/// Sets the inputs that the program reads.
pub(super) fn inputs(g: &mut Gen<'_>, placed: &Placed) -> Block {
    let mut out = Block::new();
    for (name, value) in [
        ("length", packet_length()),
        ("timestamp", C::call("now_ns", Vec::new())),
        // No error until the parser reports one; passes count on that.
        (PARSER_ERROR, C::int(0)),
    ] {
        let var = g.p.slot_var(INPUT, name).filter(|&var| is_read(g.p, var));
        if let Some(place) = var.and_then(|var| placed.place_of(g, var)) {
            out.push(Stmt::Assign(place, value));
        }
    }
    out
}
