//! XDP: its verdicts are the program's own.

use super::code::{Buffers, HookCode, HookText};
use super::ports::{input_port, redirect_ports};
use super::tap;
use super::traffic::{count_drop, drops};
use super::v1model;
use super::verdict::may_give;
use crate::abi::FRAGMENTS_SECTION;
use crate::emitter::Gen;
use crate::placed::Placed;
use crate::uses::Construct;
use arch::Model;
use arch::xdp::{INPUT, OUTPUT, Verdict};
use cgen::tree::{BinOp, Block, Expr as C, Stmt};

/// Largest number of first bytes that the parser of a program may read if it takes packets in several buffers. Drivers
/// have some hundred bytes and more in the first buffer.
const MOST_FRONT: u32 = 1024;

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

    fn front_stays(&self) -> bool {
        false
    }

    fn inputs(&self, g: &mut Gen<'_>, placed: &Placed) -> Block {
        if g.target.model == Model::Pipeline {
            let mut out = vec![Stmt::Expr(C::call("observe_start", Vec::new()))];
            out.extend(v1model::inputs(g, placed, "ingress_ifindex"));
            return out;
        }
        if g.target.model == Model::Tap {
            return tap::inputs(g, placed);
        }
        let var = g.p.slot_var(INPUT, "input_port");
        match var.and_then(|var| placed.place_of(g, var)) {
            Some(place) => input_port(g, place, "ingress_ifindex"),
            None => Block::new(),
        }
    }

    fn put_together(&self, g: &mut Gen<'_>) {
        g.deparse();
    }

    fn dropped(&self) -> C {
        C::id("XDP_DROP")
    }

    fn verdict(&self, g: &mut Gen<'_>) {
        match g.target.model {
            Model::Filter => {
                let pass = g.slot(arch::ebpf::ACCEPT, "");
                let verdict = C::choose(pass, C::id("XDP_PASS"), C::id("XDP_DROP"));
                g.push(Stmt::Return(Some(verdict)));
            }
            Model::Tap => g.push(Stmt::Return(Some(C::id("XDP_PASS")))),
            Model::Pipeline => v1model_verdict(g),
            Model::Switch | Model::Tc => switch_verdict(g),
        }
    }

    fn buffers(&self, front: u32, model: Model) -> Option<Buffers> {
        let cut = C::call(
            "packet_front_is_cut",
            vec![C::id("ctx"), C::int(front.into())],
        );
        let refused = vec![Stmt::Return(Some(self.refused(model)))];
        (front <= MOST_FRONT).then(|| Buffers {
            include: "onpath/fragments.h",
            section: FRAGMENTS_SECTION,
            start: vec![Stmt::If(cut, refused, Block::new())],
        })
    }

    fn copied_bytes(&self) -> Option<Construct> {
        Some(Construct::MovedHeaders)
    }

    fn refused(&self, model: Model) -> C {
        C::id(match model {
            Model::Filter => "XDP_DROP",
            Model::Tap => "XDP_PASS",
            Model::Switch | Model::Tc | Model::Pipeline => "XDP_ABORTED",
        })
    }
}

fn v1model_verdict(g: &mut Gen<'_>) {
    v1model::refuse_copies(g);
    let drop = vec![
        count_drop(g, "DROPPED_DROP_PORT"),
        Stmt::Return(Some(C::id("XDP_DROP"))),
    ];
    let dropped = v1model::dropped(g);
    g.push(Stmt::If(dropped, drop, Block::new()));
    g.deparse();
    let ports = redirect_ports(g);
    let port = v1model::egress_port(g);
    let sent = C::call("forward_to", vec![ports, port, drops(g)]);
    g.push(Stmt::Return(Some(sent)));
}

fn switch_verdict(g: &mut Gen<'_>) {
    let action = g.slot(OUTPUT, "output_action");
    let passes = C::bin(BinOp::Ge, action.clone(), C::id("XDP_PASS"));
    let rebuild = g.block(messages::deparse);
    g.push(Stmt::If(passes, rebuild, Block::new()));
    if may_give(g.p, OUTPUT, "output_action", Verdict::Redirect as u32) {
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
