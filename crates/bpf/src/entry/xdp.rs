//! XDP: its verdicts are the program's own.

use super::storage::Spilled;
use crate::emit::Gen;
use crate::emit::locals::Local;
use crate::plan::Model;
use arch::xdp::{INPUT, OUTPUT, Verdict};
use cgen::tree::{BinOp, Block, Expr as C, Stmt};

impl Gen<'_> {
    /// What the program must know of the packet before it begins.
    pub(super) fn xdp_inputs(&mut self, locals: &[Local], spilled: Option<&Spilled>) -> Block {
        let place = self
            .p
            .slot_var(INPUT, "input_port")
            .and_then(|v| self.place_of_local(v, locals, spilled));
        match place {
            Some(place) => self.input_port(place, "ingress_ifindex"),
            None => Block::new(),
        }
    }

    pub(super) fn xdp_refused(&self) -> C {
        C::id(match self.plan.model {
            Model::Filter => "XDP_DROP",
            Model::Switch | Model::Tc => "XDP_ABORTED",
        })
    }

    /// What becomes of a packet whose control is done.
    pub(super) fn xdp_verdict(&mut self) {
        match self.plan.model {
            Model::Filter => {
                let pass = self.slot(arch::ebpf::ACCEPT, "");
                let verdict = C::choose(pass, C::id("XDP_PASS"), C::id("XDP_DROP"));
                self.push(Stmt::Return(Some(verdict)));
            }
            Model::Switch | Model::Tc => self.xdp_switch_verdict(),
        }
    }

    fn xdp_switch_verdict(&mut self) {
        let action = self.slot(OUTPUT, "output_action");
        let passes = C::bin(BinOp::Ge, action.clone(), C::id("XDP_PASS"));
        let rebuild = self.block(Gen::deparse);
        self.push(Stmt::If(passes, rebuild, Block::new()));
        if self.may_give(OUTPUT, "output_action", Verdict::Redirect as u32) {
            let ports = self.redirect_ports();
            let port = self.slot(OUTPUT, "output_port");
            let redirect = C::call("redirect_to", vec![ports, port]);
            self.push(Stmt::If(
                C::bin(BinOp::Eq, action.clone(), C::id("XDP_REDIRECT")),
                vec![Stmt::Return(Some(redirect))],
                Block::new(),
            ));
        }
        self.push(Stmt::Return(Some(action)));
    }
}
