//! Traffic control: a verdict passes the packet on, drops it or sends it elsewhere, and copies may be sent.

use super::storage::Spilled;
use super::{Pull, pull_call};
use crate::abi::{Hook, MapAbi, MapKind};
use crate::emit::locals::{Local, Role};
use crate::emit::{Gen, Ways};
use crate::errors;
use crate::plan::Model;
use arch::tc::{Direction, Verdict};
use arch::xdp::Verdict as XdpVerdict;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type};
use ir::{Place, Var, visit, visit::Access};

/// Outputs that begin as the packet has them, by their names in P4 and in the packet's context.
const KEPT: [&str; 2] = ["mark", "priority"];

/// The size of `struct packet_work` in `onpath/skb.h`.
const WORK_BYTES: u32 = 192;

/// The map of what `onpath/rewrite.h` needs memory for.
pub(super) const WORK: &str = "packet_work";

/// The variable for what the stack took the packet for.
pub(super) const CAME_AS: &str = "came_as";

/// What is done once for a packet, before anything looks at it.
pub(super) fn enter(came_as: bool) -> Block {
    let mut out = Block::new();
    if came_as {
        let protocol = C::id("ctx").arrow("protocol");
        out.push(Stmt::decl(Type::U32, CAME_AS, protocol));
    }
    let stop = vec![Stmt::Return(Some(C::id("TC_STOP")))];
    let start = C::call("packet_start", vec![C::id("ctx")]);
    out.push(Stmt::If(start, stop, Block::new()));
    out
}

impl Gen<'_> {
    /// What comes before the program's variables.
    pub(super) fn tc_start(&mut self) -> Block {
        let mut out = Block::new();
        if self.plan.wire.writes {
            self.declare_work();
        }
        if let Some((from, to)) = self.summed() {
            let mut args = vec![C::id("ctx")];
            args.extend([from, to]);
            let sum = C::call("packet_sum_start", args);
            out.push(Stmt::decl(Type::U64, "device_sum", sum));
        }
        match self.pull() {
            Pull::Never | Pull::Elsewhere => {}
            Pull::Early(bytes) => out.push(Stmt::Expr(pull_call(bytes))),
            Pull::Late(_) => {
                out.push(Stmt::decl(Type::U64, "pulled", C::int(0)));
                out.push(Stmt::Label("start_over".into()));
            }
        }
        out
    }

    /// What the program must know of the packet before its parser runs.
    pub(super) fn tc_inputs(&mut self, locals: &[Local], spilled: Option<&Spilled>) -> Block {
        let mut out = Block::new();
        let slot = match self.plan.model {
            Model::Filter => return out,
            Model::Switch => arch::xdp::INPUT,
            Model::Tc => arch::tc::INPUT,
        };
        for (name, var) in self.slot_vars(slot) {
            let Some(place) = self.place_of_local(var, locals, spilled) else {
                continue;
            };
            let ctx = |member: &str| C::id("ctx").arrow(member);
            let value = match name.as_str() {
                "input_port" => {
                    out.extend(self.input_port(place, "ifindex"));
                    continue;
                }
                "direction" => C::int(self.direction() as u64),
                "length" => ctx("len"),
                "gso_segments" => ctx("gso_segs"),
                "timestamp" => C::call("now_ns", Vec::new()),
                "mtu" => C::call("packet_mtu", vec![C::id("ctx")]),
                member => ctx(member),
            };
            out.push(Stmt::Assign(place, value));
        }
        for name in KEPT {
            let place = (self.plan.model == Model::Tc)
                .then(|| self.p.slot_var(arch::tc::OUTPUT, name))
                .flatten()
                .and_then(|var| self.place_of_local(var, locals, spilled));
            if let Some(place) = place {
                out.push(Stmt::Assign(place, C::id("ctx").arrow(name)));
            }
        }
        out
    }

    /// Memory for what the headers do rarely.
    fn declare_work(&mut self) {
        let name = WORK;
        if self.maps.list.iter().any(|map| map.name == name) {
            return;
        }
        self.maps.declare(
            MapAbi {
                name: name.into(),
                kind: MapKind::PercpuArray,
                key_size: 4,
                value_size: WORK_BYTES,
                max_entries: 1,
                no_prealloc: false,
            },
            Some((Type::U32, Type::Struct(name.into()))),
        );
    }

    fn slot_vars(&self, name: &str) -> Vec<(String, Var)> {
        self.p
            .slots
            .iter()
            .filter(|slot| slot.name == name)
            .flat_map(|slot| &slot.vars)
            .map(|(name, var)| (name.to_string(), *var))
            .collect()
    }

    /// Whether a variable is the input of this name.
    pub(in crate::emit) fn is_tc_input(&self, var: Var, name: &str) -> bool {
        self.p.slot_var(arch::tc::INPUT, name) == Some(var)
    }

    /// The time, if the program asks for it anyway and has room to keep it.
    pub(in crate::emit) fn timestamp(&mut self) -> Option<C> {
        if self.ways != Ways::Usual {
            return None;
        }
        let p = self.p;
        let var = p.slot_var(arch::tc::INPUT, "timestamp")?;
        let mut asked = false;
        for body in visit::bodies(p) {
            visit::walk_block(body, &mut |s| {
                visit::accesses(p, &s.kind, |access| {
                    if let Access::Eval(e) = access {
                        visit::walk_expr(p, e, &mut |data| {
                            asked |= data.kind == ir::ExprKind::Var(var);
                        });
                    }
                });
            });
        }
        asked.then(|| self.local(Role::Var(var)))
    }

    fn direction(&self) -> Direction {
        match self.options.hook {
            Hook::TcEgress => Direction::Egress,
            Hook::TcIngress | Hook::Xdp => Direction::Ingress,
        }
    }

    /// What becomes of a packet whose control is done.
    pub(super) fn tc_verdict(&mut self) {
        match self.plan.model {
            Model::Filter => {
                let pass = self.slot(arch::ebpf::ACCEPT, "");
                self.goto_reject(C::not(pass));
                self.end_of_packet();
                self.push(Stmt::Return(Some(C::id("TC_NEXT"))));
            }
            Model::Switch => self.tc_switch_verdict(),
            Model::Tc => self.tc_model_verdict(),
        }
    }

    /// Makes the packet one that the stack can handle.
    fn end_of_packet(&mut self) {
        if let Some((from, to)) = self.summed() {
            let args = vec![C::id("ctx"), C::id("device_sum"), from, to];
            self.push(Stmt::Expr(C::call("packet_sum_end", args)));
        }
        let end = if self.plan.wire.changes_type {
            C::call("packet_end_as", vec![C::id("ctx"), C::id(CAME_AS)])
        } else {
            C::call("packet_end", vec![C::id("ctx")])
        };
        self.push(Stmt::goto_if(end, "reject"));
    }

    /// Where the part of the packet begins that a device has summed up, and where what the program may change
    /// of it ends; none if it changes nothing.
    fn summed(&self) -> Option<(C, C)> {
        let from = match self.options.hook {
            Hook::TcIngress => C::int(super::ETHERNET.into()),
            Hook::TcEgress | Hook::Xdp => C::int(0),
        };
        let to = self
            .plan
            .wire
            .reads
            .map_or(u32::MAX, |to| to.next_multiple_of(2));
        self.plan.wire.writes.then_some((from, C::int(to.into())))
    }

    /// `xdp_model`: XDP's verdicts as traffic control has them.
    fn tc_switch_verdict(&mut self) {
        let may =
            |g: &Self, verdict| g.may_give(arch::xdp::OUTPUT, "output_action", verdict as u32);
        let action = self.slot(arch::xdp::OUTPUT, "output_action");
        let is = |name: &str| C::bin(BinOp::Eq, action.clone(), C::id(name));
        self.goto_reject(C::bin(BinOp::Lt, action.clone(), C::id("XDP_PASS")));
        self.deparse();
        self.end_of_packet();
        if may(self, XdpVerdict::Tx) {
            if self.options.hook == Hook::TcEgress {
                self.refuse(errors::no_way_back());
            }
            let back = C::call("send_back", vec![C::id("ctx")]);
            let back = vec![Stmt::Return(Some(back))];
            self.push(Stmt::If(is("XDP_TX"), back, Block::new()));
        }
        if may(self, XdpVerdict::Redirect) {
            let port = self.slot(arch::xdp::OUTPUT, "output_port");
            let redirect = self.redirect(port, C::int(0));
            self.push(Stmt::If(is("XDP_REDIRECT"), redirect, Block::new()));
        }
        self.push(Stmt::Return(Some(C::id("TC_NEXT"))));
    }

    fn tc_model_verdict(&mut self) {
        let verdict = self.slot(arch::tc::OUTPUT, "verdict");
        let clones = self.writes("clone");
        let multicasts = self.writes("multicast_group");
        let mut lives = C::bin(BinOp::Ne, verdict.clone(), C::id("TC_DROP"));
        let clone = self.slot(arch::tc::OUTPUT, "clone");
        let group = self.slot(arch::tc::OUTPUT, "multicast_group");
        if clones {
            lives = C::or(lives, clone.clone());
        }
        if multicasts {
            lives = C::or(lives, group.clone());
        }
        self.goto_reject(C::not(lives));
        self.deparse();
        self.end_of_packet();
        for name in KEPT {
            if self.writes(name) {
                let value = self.slot(arch::tc::OUTPUT, name);
                self.set(C::id("ctx").arrow(name), value);
            }
        }
        if self.writes("queue") {
            let queue = self.slot(arch::tc::OUTPUT, "queue");
            let write = Stmt::Assign(C::id("ctx").arrow("queue_mapping"), queue.clone());
            self.push(Stmt::If(queue, vec![write], Block::new()));
        }
        if clones {
            let port = self.slot(arch::tc::OUTPUT, "clone_port");
            let args = vec![C::id("ctx"), self.egress_ports(), port];
            let copy = Stmt::Expr(C::call("send_copy", args));
            self.push(Stmt::If(clone, vec![copy], Block::new()));
        }
        if multicasts {
            let args = vec![
                C::id("ctx"),
                self.groups(),
                self.egress_ports(),
                group.clone(),
            ];
            let copies = Stmt::Expr(C::call("send_copies", args));
            self.push(Stmt::If(group, vec![copies], Block::new()));
            self.extra_instructions += 40;
        }
        let is = |name: &str| C::bin(BinOp::Eq, verdict.clone(), C::id(name));
        for (member, flags) in [
            (Verdict::RedirectEgress, C::int(0)),
            (Verdict::RedirectIngress, C::id("BPF_F_INGRESS")),
        ] {
            if self.may_give(arch::tc::OUTPUT, "verdict", member as u32) {
                let port = self.slot(arch::tc::OUTPUT, "output_port");
                let redirect = self.redirect(port, flags);
                self.push(Stmt::If(is(member.name()), redirect, Block::new()));
            }
        }
        if clones || multicasts {
            let stop = vec![Stmt::Return(Some(C::id("TC_STOP")))];
            self.push(Stmt::If(is("TC_DROP"), stop, Block::new()));
        }
        self.push(Stmt::Return(Some(C::id("TC_NEXT"))));
    }

    fn redirect(&mut self, port: C, flags: C) -> Block {
        let ports = self.egress_ports();
        let redirect = C::call("redirect_to", vec![ports, port, flags]);
        vec![Stmt::Return(Some(redirect))]
    }

    /// Whether the program writes an output.
    fn writes(&self, name: &str) -> bool {
        let Some(output) = self.p.slot_var(arch::tc::OUTPUT, name) else {
            return false;
        };
        let mut any = false;
        for body in visit::bodies(self.p) {
            visit::walk_block(body, &mut |s| {
                visit::accesses(self.p, &s.kind, |access| {
                    any |= access == Access::Write(Place::Var(output));
                });
            });
        }
        any
    }
}
