//! Atomic blocks of one flow or of cells of registers.

use crate::errors;
use crate::target::StateTarget;
use crate::{flow_state, register};
use emit::Gen;

/// Emits an atomic block, or refuses it.
pub fn atomic<T: StateTarget>(g: &mut Gen<'_, T>, block: &ir::Block) {
    match ir::atomic::region(g.p, block) {
        Err(refusal) => g.refuse(errors::atomic(g.target.name(), &refusal)),
        Ok(None) => g.run(block),
        Ok(Some(region)) if g.p.externs[region.cells[0].object].ty == ir::atomic::REGISTER => {
            register::atomic(g, &region, block);
        }
        Ok(Some(region)) => flow_state::atomic(g, &region, block),
    }
}
