//! Fate of a packet at traffic control.

use super::resized::{deparse, ending};
use super::{ETHERNET, KEPT, Tc, copies};
use crate::context;
use crate::copies::differ;
use crate::emitter::{Copies, Gen, needs};
use crate::errors;
use crate::hook::ports::{egress_ports, groups};
use crate::hook::traffic::{count_drop, drops};
use crate::hook::v1model;
use crate::hook::verdict::{gives, may_give, writes};
use crate::uses::Construct;
use arch::tc::{Direction, OUTPUT, Verdict};
use arch::xdp::Verdict as XdpVerdict;
use cgen::tree::{BinOp, Block, Expr as C, Stmt};

impl Tc {
    /// Returns two offsets: where the device's checksum of the packet begins, and where the bytes end that the program
    /// may change. `None` if it changes nothing.
    pub(super) fn summed(&self, g: &Gen<'_>) -> Option<(C, C)> {
        let from = match self.direction {
            Direction::Ingress => C::int(ETHERNET.into()),
            Direction::Egress => C::int(0),
        };
        let wire = &g.target.wire;
        let to = wire.reads.map_or(u32::MAX, |to| to.next_multiple_of(2));
        wire.writes.then_some((from, C::int(to.into())))
    }

    /// Makes the packet one that the stack can handle.
    pub(super) fn end_of_packet(&self, g: &mut Gen<'_>) {
        if let Some((from, to)) = self.summed(g) {
            let args = vec![C::id("ctx"), C::id("device_sum"), from, to];
            g.push(Stmt::Expr(C::call("packet_sum_end", args)));
        }
        g.push(Stmt::goto_if(ending(g), "reject"));
    }

    /// Lets the packet pass. At ingress its receiver is decided by its destination address.
    fn pass(&self, g: &mut Gen<'_>) {
        if self.direction == Direction::Ingress && g.target.wire.changes_destination {
            needs(g, Construct::Addressed);
            let args = vec![C::id("ctx")];
            g.push(Stmt::Expr(C::call("packet_for_whom", args)));
        }
        g.push(Stmt::Return(Some(C::id("TC_NEXT"))));
    }

    /// Emits the end of an `xdp_model` program: XDP's verdicts as traffic control has them.
    pub(super) fn switch_verdict(&self, g: &mut Gen<'_>) {
        let may = |g: &Gen<'_>, verdict| {
            may_give(g.p, arch::xdp::OUTPUT, "output_action", verdict as u32)
        };
        let action = g.slot(arch::xdp::OUTPUT, "output_action");
        let is = |name: &str| C::bin(BinOp::Eq, action.clone(), C::id(name));
        g.goto_reject(C::bin(BinOp::Lt, action.clone(), C::id("XDP_PASS")));
        deparse(g);
        self.end_of_packet(g);
        let sent_back = XdpVerdict::Tx as u32;
        if let Some(at) = gives(g.p, arch::xdp::OUTPUT, "output_action", sent_back) {
            if self.direction == Direction::Egress {
                g.refuse(errors::no_send_back(at));
            }
            let back = C::call("send_back", vec![C::id("ctx")]);
            let back = vec![Stmt::Return(Some(back))];
            g.push(Stmt::If(is("XDP_TX"), back, Block::new()));
        }
        if may(g, XdpVerdict::Redirect) {
            let port = g.slot(arch::xdp::OUTPUT, "output_port");
            let redirect = redirect(g, port, C::int(0));
            g.push(Stmt::If(is("XDP_REDIRECT"), redirect, Block::new()));
        }
        self.pass(g);
    }

    pub(super) fn v1model_verdict(&self, g: &mut Gen<'_>) {
        if differ(g.p) {
            return copies::verdict(g);
        }
        if let Some(Copies { destinations, .. }) = g.target.copies.clone() {
            g.goto_reject(C::not(destinations.clone().arrow("count")));
            deparse(g);
            self.end_of_packet(g);
            let args = vec![C::id("ctx"), egress_ports(g), destinations, drops(g)];
            g.push(Stmt::Return(Some(C::call("send_to_all", args))));
            return;
        }
        let drop = vec![
            count_drop(g, "DROPPED_DROP_PORT"),
            Stmt::Return(Some(C::id("TC_STOP"))),
        ];
        let dropped = v1model::dropped(g);
        g.push(Stmt::If(dropped, drop, Block::new()));
        deparse(g);
        self.end_of_packet(g);
        let port = v1model::egress_port(g);
        let args = vec![egress_ports(g), port, drops(g)];
        g.push(Stmt::Return(Some(C::call("forward_to", args))));
    }

    pub(super) fn tc_model_verdict(&self, g: &mut Gen<'_>) {
        let verdict = g.slot(OUTPUT, "verdict");
        let clones = writes(g.p, OUTPUT, "clone");
        let multicasts = writes(g.p, OUTPUT, "multicast_group");
        let mut lives = C::bin(BinOp::Ne, verdict.clone(), C::id("TC_DROP"));
        let clone = g.slot(OUTPUT, "clone");
        let group = g.slot(OUTPUT, "multicast_group");
        if clones {
            lives = C::or(lives, clone.clone());
        }
        if multicasts {
            lives = C::or(lives, group.clone());
        }
        g.goto_reject(C::not(lives));
        deparse(g);
        self.end_of_packet(g);
        for name in KEPT {
            if writes(g.p, OUTPUT, name) {
                let value = g.slot(OUTPUT, name);
                g.push(context::set(name, value));
            }
        }
        if writes(g.p, OUTPUT, "queue") {
            let queue = g.slot(OUTPUT, "queue");
            let write = context::set("queue_mapping", queue.clone());
            g.push(Stmt::If(queue, vec![write], Block::new()));
        }
        if clones {
            let port = g.slot(OUTPUT, "clone_port");
            let args = vec![C::id("ctx"), egress_ports(g), port];
            let copy = Stmt::Expr(C::call("send_copy", args));
            g.push(Stmt::If(clone, vec![copy], Block::new()));
        }
        if multicasts {
            let args = vec![C::id("ctx"), groups(g), egress_ports(g), group.clone()];
            let copies = Stmt::Expr(C::call("send_copies", args));
            g.push(Stmt::If(group, vec![copies], Block::new()));
            g.target.extra_instructions += 40;
        }
        let is = |name: &str| C::bin(BinOp::Eq, verdict.clone(), C::id(name));
        for (member, flags) in [
            (Verdict::RedirectEgress, C::int(0)),
            (Verdict::RedirectIngress, C::id("BPF_F_INGRESS")),
        ] {
            if may_give(g.p, OUTPUT, "verdict", member as u32) {
                let port = g.slot(OUTPUT, "output_port");
                let redirect = redirect(g, port, flags);
                g.push(Stmt::If(is(member.name()), redirect, Block::new()));
            }
        }
        if clones || multicasts {
            let stop = vec![Stmt::Return(Some(C::id("TC_STOP")))];
            g.push(Stmt::If(is("TC_DROP"), stop, Block::new()));
        }
        self.pass(g);
    }
}

fn redirect(g: &mut Gen<'_>, port: C, flags: C) -> Block {
    let ports = egress_ports(g);
    let redirect = C::call("redirect_to", vec![ports, port, flags]);
    vec![Stmt::Return(Some(redirect))]
}
