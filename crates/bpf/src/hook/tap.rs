//! `tap_model` at any hook: what its control is given.

use super::verdict::is_read;
use crate::emitter::Gen;
use crate::placed::Placed;
use arch::tap::{INPUT, PARSER_ERROR};
use cgen::tree::{Block, Expr as C, Stmt};
use emit::packet_length;

/// The inputs that the program reads.
pub(super) fn inputs(g: &mut Gen<'_>, placed: &Placed) -> Block {
    let mut out = Block::new();
    for (name, value) in [
        ("length", packet_length()),
        ("timestamp", C::call("now_ns", Vec::new())),
        // None until the parser says otherwise, which passes are to count with.
        (PARSER_ERROR, C::int(0)),
    ] {
        let var = g.p.slot_var(INPUT, name).filter(|&var| is_read(g.p, var));
        if let Some(place) = var.and_then(|var| placed.place_of(g, var)) {
            out.push(Stmt::Assign(place, value));
        }
    }
    out
}
