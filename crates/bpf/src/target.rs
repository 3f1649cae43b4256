//! BPF as a target of the emitter: its options, and its state while a function is emitted.

use crate::compile::Function;
use crate::context;
use crate::externs;
use crate::features::Feature;
use crate::hook::{self, HookCode, Pull};
use crate::maps::{CHANGES, Maps};
use crate::names::RESERVED;
use crate::table::{self, Table};
use crate::uses::Construct;
use crate::wire::Wire;
use crate::{Options, ParseRecord, parts, storage};
use arch::Model;
use arch::v1model::EGRESS;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type};
use diag::Diagnostics;
use emit::record::Form;
use emit::table::TableShape;
use emit::{Code, Hints, Limits, Reserved, Target};
use ir::{Expr, ExternCall, Program, Routine, Stage, TableData, ValueSet, ValueSetData, Var};
use layout::ByteOrder;
use state::{Held, State, direct};
use std::collections::BTreeSet;
use std::rc::Rc;
use tables::value_set;

/// The emitter for BPF.
pub(crate) type Gen<'a> = emit::Gen<'a, Bpf>;

/// A file for BPF.
pub(crate) type File = emit::File<Bpf>;

/// The largest offset into a packet that the generated code follows, in bytes. The kernel's verifier
/// takes less than 64 KiB for an offset in all.
const MAX_OFFSET: u64 = 0x7fff;

/// The estimate ([`emit::plan::size`]) up to which a program keeps what its parser leaves in variables: it runs a little
/// faster, and the verifier takes a few milliseconds.
const MOST_IN_VARIABLES: u64 = 10_000;

/// How a function is linked that is part of the one that calls it.
pub(crate) const INLINE: &str = "static inline __attribute__((always_inline))";
/// The linkage of a function that the verifier checks separately from its callers.
pub(crate) const GLOBAL_FUNC: &str = "GLOBAL_FUNC";
/// The linkage of a function that the verifier checks at each call.
pub(crate) const STATIC_FUNC: &str = "STATIC_FUNC";

/// Which part of the program a function covers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// All of it.
    Full,
    /// The fast path; another function has the full program.
    FastPath,
    /// All of it, for packets that leave the fast path.
    FullBehindFastPath,
}

/// The loop that runs egress for each copy.
#[derive(Clone)]
pub(crate) struct Copies {
    /// Where the ports are kept that copies go to: a pointer to a `struct port_group`.
    pub destinations: C,
    /// The number of the copy that egress runs for.
    pub number: C,
}

/// BPF, and what is known of the current function.
pub(crate) struct Bpf {
    /// The compilation's options.
    pub options: Rc<Options>,
    /// The program reads messages: many paths lead through what it has around that.
    pub reads_messages: bool,
    /// Where the program is to run.
    pub hook: &'static dyn HookCode,
    /// Which model's meaning it has.
    pub model: Model,
    /// Which part of the program the function covers.
    pub coverage: Coverage,
    /// What of the packet's bytes matters.
    pub wire: Wire,
    /// The locks that are held, and what calls under them work on.
    pub held: Held,
    /// The interface's size, if it was read.
    pub asked_mtu: Option<C>,
    /// The loop over the copies of the packet, if it may go to several ports.
    pub copies: Option<Copies>,
    /// Where the code goes on that runs for each copy of a packet, if this one goes no further.
    pub next_copy: Option<&'static str>,
    /// By how many bytes the packet has grown in front of its IP header, if it may.
    pub grown: Option<C>,
    /// Instructions that runtime helpers take beyond what statements suggest.
    pub extra_instructions: u32,
}

impl Bpf {
    /// At the start of a function.
    pub(crate) fn new(
        options: Rc<Options>,
        reads_messages: bool,
        hook: &'static dyn HookCode,
        model: Model,
        coverage: Coverage,
    ) -> Bpf {
        Bpf {
            options,
            reads_messages,
            hook,
            model,
            coverage,
            wire: Wire::default(),
            held: Held::default(),
            asked_mtu: None,
            copies: None,
            next_copy: None,
            grown: None,
            extra_instructions: 0,
        }
    }
}

/// What the functions of a file share.
#[derive(Clone, Default)]
pub(crate) struct Shared {
    /// Maps, globals and their description for user space.
    pub maps: Maps,
    /// State between packets.
    pub state: state::Shared,
    /// What reads the payload.
    pub payload: messages::calls::Shared,
    /// Number of the program's stages.
    pub stages: usize,
    /// The memory of the current stage.
    pub scratch: storage::Scratch,
    /// Headers and groups that its tables need.
    pub tables: tables::Shared,
    /// Packets that are still to be segmented may get outer headers.
    pub tunnels: bool,
    /// A decision depends on how often tables were changed.
    pub counts_changes: bool,
    /// What is in the file that the kernel must have something for.
    pub constructs: BTreeSet<Construct>,
}

/// 0, which the verifier does not know.
pub(crate) fn unknown_zero() -> C {
    C::pure("unknown_zero", vec![C::id("ctx")])
}

/// Keeps clang from using another register for a variable than the one that was checked.
pub(crate) fn barrier(var: &C) -> Stmt {
    Stmt::Hint {
        name: "barrier_var".into(),
        on: var.clone(),
    }
}

impl Hints for Bpf {
    fn recheck_lengths(&self) -> bool {
        self.options.spill_everything
    }

    fn record_above(&self) -> Option<u64> {
        match (self.coverage, self.options.parse_record) {
            // Its code is short, and what most packets meet.
            (Coverage::FastPath, _) => None,
            (Coverage::FullBehindFastPath, _) | (Coverage::Full, ParseRecord::Always) => Some(0),
            (Coverage::Full, ParseRecord::BySize) => Some(MOST_IN_VARIABLES),
        }
    }

    fn forget(&self) -> Option<Stmt> {
        Some(Stmt::Expr(C::call("load_memory_again", Vec::new())))
    }

    fn join_paths(&self) -> Option<Stmt> {
        // What has a fast path is large enough for the verifier to mind.
        match self.coverage {
            Coverage::FastPath => self.forget(),
            Coverage::Full | Coverage::FullBehindFastPath => None,
        }
    }

    fn cut_after(&self) -> Option<u32> {
        self.options
            .parts
            .map(|parts| parts::statements(parts.size))
    }

    fn copy_headers(&self) -> bool {
        self.options.copy_headers
    }

    fn barrier(&self, var: &C) -> Option<Stmt> {
        Some(barrier(var))
    }

    fn keep_bound(&self, var: &C) -> Option<Stmt> {
        let follows = self.options.features.has(Feature::TrackedSpills);
        (!follows).then(|| barrier(var))
    }

    fn keep_known(&self, flag: &C) -> Option<Stmt> {
        Some(Stmt::Hint {
            name: "stay_known".into(),
            on: flag.clone(),
        })
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

    fn turn_begins(&self) -> Option<Stmt> {
        let hint = || Stmt::Expr(C::call("turn_begins", Vec::new()));
        self.turn_limit().map(|_| hint())
    }

    fn forget_value(&self, number: &C) -> Option<Stmt> {
        let hint = || Stmt::Hint {
            name: "forget_value".into(),
            on: number.clone(),
        };
        self.turn_limit().map(|_| hint())
    }

    fn turn_limit(&self) -> Option<u32> {
        let counts = !self.options.features.has(Feature::MayGoto);
        counts.then_some(self.options.parser_turns)
    }

    fn flag(&self) -> C {
        C::pure("flag_set", Vec::new())
    }

    fn unknown(&self, number: C) -> C {
        C::bin(BinOp::Add, unknown_zero(), number)
    }

    fn over_resize(&self, offset: C) -> C {
        match self.options.features.has(Feature::TrackedSpills) {
            true => offset,
            false => self.hook.over_resize(offset),
        }
    }

    fn behind_check(&self, header: C) -> C {
        C::pure("behind_check", vec![header])
    }
}

impl Target for Bpf {
    type File = Shared;
    type Table = Table;
    type ValueSet = value_set::Set;
    type Function = Function;

    fn name(&self) -> &'static str {
        self.options.hook.target()
    }

    fn limits(&self) -> Limits {
        Limits {
            offset: MAX_OFFSET,
            front_stays: self.hook.front_stays(),
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

    fn too_short(g: &Gen<'_>) -> &'static str {
        match g.target.hook.pull(g) {
            Pull::Late(_) => "too_short",
            Pull::Elsewhere => "rare",
            Pull::Never | Pull::Early(_) => "reject",
        }
    }

    fn reads_packet(call: &ExternCall) -> bool {
        call.name == externs::SEND_PACKET
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
            // Eight bytes of stack of its own: next to others the verifier would lose track of it.
            g.push(barrier(&C::id("pulled")));
            g.push(Stmt::If(
                C::and(C::not(C::id("pulled")), hook::pull_call(bytes)),
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

    fn table(g: &mut Gen<'_>, shape: &TableShape<'_>) -> Table {
        table::declare(g, shape)
    }

    fn look_up(g: &mut Gen<'_>, table: &Table, keys: &[Expr], entry: Type) -> C {
        table.entries.look_up(g, keys, entry)
    }

    fn default_action(_g: &Gen<'_>, table: &Table) -> C {
        table.entries.default_action::<Bpf>()
    }

    const HAS_PROFILES: bool = true;

    fn follow(g: &mut Gen<'_>, table: &Table, data: &TableData, entry: &C) {
        table.entries.follow(g, data, entry);
    }

    fn enter_entry(g: &mut Gen<'_>, table: &Table, number: C) {
        if let Some(direct) = &table.direct {
            direct.enter(g, number);
        }
    }

    fn leave_entry(g: &mut Gen<'_>) {
        direct::leave(g);
    }

    fn is_current(g: &mut Gen<'_>, table: ir::Table, generation: u64) -> C {
        g.file.own.counts_changes = true;
        let count = C::id(CHANGES).index(C::int(table.as_u32().into()));
        C::bin(BinOp::Eq, count, C::int(generation))
    }

    fn value_set(g: &mut Gen<'_>, set: ValueSet, data: &ValueSetData) -> value_set::Set {
        value_set::declare(g, set, data)
    }

    fn member(g: &mut Gen<'_>, set: &value_set::Set, keys: &[Expr]) -> C {
        value_set::member(g, set, keys)
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

    fn home(g: &mut Gen<'_>, var: Var) -> Option<(C, Form)> {
        if let Some(ask) = Bpf::late_input(g, var) {
            return Some((ask(g), Form::new(32, ByteOrder::Host)));
        }
        state::home(g, var)
    }
}
