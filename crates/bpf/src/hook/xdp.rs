//! XDP: its verdicts are the program's own.

use super::ports::{input_port, redirect_ports};
use super::verdict::may_give;
use super::{HookCode, HookText};
use crate::model::Model;
use crate::storage::Placed;
use crate::target::Gen;
use crate::uses::Construct;
use arch::xdp::{INPUT, OUTPUT, Verdict};
use cgen::tree::{BinOp, Block, Expr as C, Stmt};

/// The hook of a network driver.
pub(super) struct Xdp;

impl HookCode for Xdp {
    fn text(&self) -> HookText {
        HookText {
            include: "onpath/xdp.h",
            section: "xdp",
            function: "onpath_xdp",
            context: "xdp_md",
        }
    }

    fn runs(&self, model: Model) -> bool {
        model != Model::Tc
    }

    fn front_stays(&self) -> bool {
        false
    }

    fn inputs(&self, g: &mut Gen<'_>, placed: &Placed) -> Block {
        let var = g.p.slot_var(INPUT, "input_port");
        match var.and_then(|var| placed.place_of(g, var)) {
            Some(place) => input_port(g, place, "ingress_ifindex"),
            None => Block::new(),
        }
    }

    fn verdict(&self, g: &mut Gen<'_>) {
        match g.target.model {
            Model::Filter => {
                let pass = g.slot(arch::ebpf::ACCEPT, "");
                let verdict = C::choose(pass, C::id("XDP_PASS"), C::id("XDP_DROP"));
                g.push(Stmt::Return(Some(verdict)));
            }
            Model::Switch | Model::Tc => switch_verdict(g),
        }
    }

    fn copied_bytes(&self) -> Option<Construct> {
        Some(Construct::MovedHeaders)
    }

    fn refused(&self, model: Model) -> C {
        C::id(match model {
            Model::Filter => "XDP_DROP",
            Model::Switch | Model::Tc => "XDP_ABORTED",
        })
    }
}

fn switch_verdict(g: &mut Gen<'_>) {
    let action = g.slot(OUTPUT, "output_action");
    let passes = C::bin(BinOp::Ge, action.clone(), C::id("XDP_PASS"));
    let rebuild = g.block(Gen::deparse);
    g.push(Stmt::If(passes, rebuild, Block::new()));
    if may_give(g, OUTPUT, "output_action", Verdict::Redirect as u32) {
        let ports = redirect_ports(g);
        let port = g.slot(OUTPUT, "output_port");
        let redirect = C::call("redirect_to", vec![ports, port]);
        g.push(Stmt::If(
            C::bin(BinOp::Eq, action.clone(), C::id("XDP_REDIRECT")),
            vec![Stmt::Return(Some(redirect))],
            Block::new(),
        ));
    }
    g.push(Stmt::Return(Some(action)));
}
