//! BPF as a target of the emitter: hands each question to the file that knows the answer.

use crate::context;
use crate::costs::weights::kernel::MAX_OFFSET;
use crate::costs::weights::memory::KEPT_FRONT;
use crate::emitter::{Bpf, GLOBAL_FUNC, Gen, Shared, barrier};
use crate::externs;
use crate::function::Function;
use crate::hook::code::{Pull, pull_call};
use crate::maps::CHANGES;
use crate::names::RESERVED;
use crate::storage;
use crate::wire::Wire;
use arch::Model;
use arch::payload::UNCHANGED;
use arch::v1model::EGRESS;
use cgen::tree::{BinOp, Block, Expr as C, Stmt};
use diag::Diagnostics;
use emit::record::MemberLayout;
use emit::{Code, Limits, Reserved, Target};
use ir::{ExternCall, Program, Routine, Stage, Var};
use layout::ByteOrder;
use state::{InMemory, StateTarget};
use std::rc::Rc;

impl Target for Bpf {
    type File = Shared;
    type Lookups = InMemory;
    type Function = Function;

    fn name(&self) -> &'static str {
        self.options.hook.target()
    }

    fn limits(&self) -> Limits {
        Limits {
            offset: MAX_OFFSET,
            front_stays: self.hook.front_stays(),
            kept_front: KEPT_FRONT,
        }
    }

    fn reserved() -> &'static [Reserved] {
        RESERVED
    }

    fn afresh(&self) -> Bpf {
        Bpf::new(
            Rc::clone(&self.options),
            self.reads_messages,
            self.hook,
            self.model,
            self.coverage,
        )
    }

    fn linkage(&self) -> &'static str {
        GLOBAL_FUNC
    }

    fn bounds(&self) -> (C, C) {
        (context::pointer("data"), context::pointer("data_end"))
    }

    fn relocated(&self) -> C {
        C::id("scratch").arrow("relocated")
    }

    fn leave_loop(&self, label: &str) -> Option<Stmt> {
        let name = match self.reads_messages {
            true => "may_goto_afresh",
            false => "may_goto",
        };
        Some(Stmt::MayJump {
            name: name.into(),
            args: Vec::new(),
            label: label.into(),
        })
    }

    fn too_short(g: &Gen<'_>) -> &'static str {
        match g.target.hook.pull(g) {
            Pull::Late(_) => "too_short",
            Pull::Elsewhere => "rare",
            Pull::Never | Pull::Early(_) => "reject",
        }
    }

    fn reads_packet(call: &ExternCall) -> bool {
        call.name == externs::SEND_PACKET || call.name == UNCHANGED
    }

    fn repeats_from(&self, program: &Program, _stage: &Stage) -> Option<Routine> {
        self.hook.repeats_from(program)
    }

    fn enter(g: &mut Gen<'_>) {
        g.target.wire = Wire::new(g.p, g.plan);
    }

    fn before_resize(g: &mut Gen<'_>, front: u32, to: &C) {
        let hook = g.target.hook;
        hook.before_resize(g, front, to);
    }

    fn before_control(g: &mut Gen<'_>, control: Routine) {
        if g.plan.controls.first() == Some(&control) {
            g.target.hook.parsed(g);
        }
        if g.target.model == Model::Pipeline && g.p.control_block(EGRESS) == Some(control) {
            g.target.hook.before_egress(g);
        }
    }

    fn after_control(g: &mut Gen<'_>, control: Routine) {
        if g.target.model == Model::Pipeline && g.p.control_block(EGRESS) == Some(control) {
            g.target.hook.after_egress(g);
        }
    }

    fn dropped(g: &Gen<'_>) -> C {
        g.target.hook.dropped()
    }

    fn go_on(g: &mut Gen<'_>, next: C) {
        g.target.hook.put_together(g);
        g.push(Stmt::Return(Some(next)));
    }

    fn verdict(g: &mut Gen<'_>) {
        g.target.hook.verdict(g);
    }

    fn reject(g: &mut Gen<'_>) {
        let refused = g.target.hook.refused(g.target.model);
        g.target.hook.reject(g);
        g.push(Stmt::Return(Some(refused.clone())));
        if let Pull::Late(bytes) = g.target.hook.pull(g) {
            g.push(Stmt::Label("too_short".into()));
            // Eight bytes of stack of its own: beside others the verifier would lose track of it.
            g.push(barrier(&C::id("pulled")));
            g.push(Stmt::If(
                C::and(C::not(C::id("pulled")), pull_call(bytes)),
                vec![
                    Stmt::Assign(C::id("pulled"), C::int(1)),
                    Stmt::Goto("start_over".into()),
                ],
                Block::new(),
            ));
            g.push(Stmt::Return(Some(refused)));
        }
    }

    fn function(g: &mut Gen<'_>, code: Code) -> Result<Function, Diagnostics> {
        storage::function(g, code)
    }

    fn is_current(g: &mut Gen<'_>, table: ir::Table, generation: u64) -> C {
        g.file.own.counts_changes = true;
        let count = C::id(CHANGES).index(C::int(table.as_u32().into()));
        C::bin(BinOp::Eq, count, C::int(generation))
    }

    fn call(g: &mut Gen<'_>, call: &ExternCall, stmt: &ir::Stmt) {
        externs::call(g, call, stmt);
    }

    fn atomic(g: &mut Gen<'_>, block: &ir::Block) {
        state::atomic(g, block);
    }

    fn next_statement(&mut self) {
        self.asked_mtu = None;
    }

    fn home(g: &mut Gen<'_>, var: Var) -> Option<(C, MemberLayout)> {
        if let Some(ask) = Bpf::late_input(g, var) {
            return Some((ask(g), MemberLayout::new(32, ByteOrder::Host)));
        }
        state::home(g, var)
    }
}
