//! End of a packet whose payload the program may change.

use crate::calls::Payload;
use arch::payload::{ENDING, EXCESS, UNCHANGED};
use cgen::tree::{Block, Expr as C, Stmt};
use emit::Gen;

/// Puts a packet together and truncates its payload, unless it leaves as it came in. Packets that cannot be truncated
/// continue at the label `reject`. The target's headers define `packet_shorten(ctx, by)`, which removes bytes at a packet's end.
pub fn deparse<T: Payload>(g: &mut Gen<'_, T>) {
    let rebuilt = g.block(|g| {
        g.deparse();
        if let Some(excess) = requested(g, EXCESS) {
            let fails = C::call("packet_shorten", vec![C::id("ctx"), excess.clone()]);
            g.push(Stmt::goto_if(C::and(excess, fails), "reject"));
        }
    });
    match requested(g, UNCHANGED) {
        Some(unchanged) => g.push(Stmt::If(C::not(unchanged), rebuilt, Block::new())),
        None => g.out.extend(rebuilt),
    }
}

/// Returns a request for the packet that leaves, if the program makes it.
fn requested<T: Payload>(g: &mut Gen<'_, T>, name: &str) -> Option<C> {
    let is_made = g.p.slot_var(ENDING, name).is_some();
    is_made.then(|| g.slot(ENDING, name))
}
