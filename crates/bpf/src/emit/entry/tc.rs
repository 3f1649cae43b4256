//! Traffic control: a verdict passes the packet on, drops it or sends it elsewhere.

use super::storage::Spilled;
use crate::emit::Gen;
use crate::emit::locals::Local;
use crate::plan::Model;
use cgen::tree::{Block, Expr as C, Stmt};

impl Gen<'_> {
    /// What the program must know of the packet before it begins.
    pub(super) fn tc_inputs(&mut self, _locals: &[Local], _spilled: Option<&Spilled>) -> Block {
        Block::new()
    }

    /// What becomes of a packet whose control is done.
    pub(super) fn tc_verdict(&mut self) {
        match self.plan.model {
            Model::Filter => {
                let pass = self.slot(arch::ebpf::ACCEPT, "");
                let verdict = C::choose(pass, C::id("TC_NEXT"), C::id("TC_STOP"));
                self.push(Stmt::Return(Some(verdict)));
            }
            Model::Switch | Model::Tc => {
                let stop = C::id("TC_STOP");
                self.push(Stmt::Return(Some(stop)));
            }
        }
    }
}
