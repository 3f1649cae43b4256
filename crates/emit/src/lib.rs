//! IR to C, given a plan: the state that all parts of the emitter share.

mod access;
mod block;
mod deparser;
pub mod entry;
mod externs;
mod flow_state;
mod function;
mod locals;
mod parser;
mod select;
mod source;
mod table;
mod thread;
mod values;

use crate::maps::Maps;
use crate::names::Names;
use crate::plan::{Plan, flow::Flow};
use crate::{Options, errors};
use cgen::tree::{Block, Expr as C, Stmt};
use diag::{Diagnostic, Diagnostics, SourceMap};
use entry::Pull;
use ir::{Expr, Header, Label, Program, StmtKind, visit};
use locals::Locals;
use smol_str::SmolStr;
use std::collections::{BTreeSet, HashMap};

/// How a function is linked that is part of the one that calls it.
const INLINE: &str = "static inline __attribute__((always_inline))";
/// How a function is linked that the verifier looks at apart from its callers.
const APART: &str = "APART";

/// A place that breaks and returns lead to.
struct Exit {
    label: SmolStr,
    /// What is known there, from the ways that lead to it so far.
    flow: Flow,
}

/// A loop or block that can be left.
struct Labeled {
    end: Exit,
    /// Where a loop starts again.
    start: Option<SmolStr>,
    /// The parser's cursor moves inside, so that it is in its variables at the end (and at the start).
    moves_cursor: bool,
}

/// A header's field.
type Field = (Header, u32);

/// Reads and writes of fields of headers that may not be there.
#[derive(Default)]
struct Weak {
    reads: BTreeSet<Field>,
    writes: BTreeSet<Field>,
}

/// Which ways of the program a function has.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Ways {
    /// All.
    #[default]
    All,
    /// The usual ones; another function has all.
    Usual,
    /// All, for packets that the function of the usual ones cannot handle.
    AllBehindUsual,
}

/// What the functions of a file share.
#[derive(Clone, Default)]
struct Shared {
    ways: Ways,
    names: Names,
    maps: Maps,
    tables: HashMap<ir::Table, table::Made>,
    value_sets: HashMap<ir::ValueSet, table::MadeSet>,
    flow_states: HashMap<ir::ExternInst, flow_state::Layout>,
    /// User functions in C that are called.
    prototypes: Vec<(SmolStr, cgen::tree::Item)>,
    functions: Vec<function::Function>,
}

/// The emitter.
pub(crate) struct Gen<'a> {
    p: &'a Program,
    map: &'a SourceMap,
    options: &'a Options,
    plan: &'a Plan,
    names: Names,
    flow: Flow,
    out: Block,
    locals: Locals,
    labels: HashMap<Label, Labeled>,
    /// Where `return` leads: the end of the block or action at hand.
    returns: Vec<Exit>,
    /// Where `exit` leads: the end of the pipeline block at hand.
    exit: Option<Exit>,
    /// What was known before each assumption that holds for the operand at hand.
    assumed: Vec<Flow>,
    /// Arrays with values that were computed for the statement at hand, and the interface's size if it was asked for.
    computed: HashMap<Expr, C>,
    asked_mtu: Option<C>,
    maps: Maps,
    tables: HashMap<ir::Table, table::Made>,
    value_sets: HashMap<ir::ValueSet, table::MadeSet>,
    flow_states: HashMap<ir::ExternInst, flow_state::Layout>,
    /// The lock that is held, and what calls of a flow state work on.
    held: Option<flow_state::Held>,
    weak: Weak,
    diags: Diagnostics,
    cursor: parser::Place,
    /// Statements of the control that ways out of the parser jump to.
    entered: HashMap<ir::StmtId, SmolStr>,
    /// The label at the control's end, and what is known where it is jumped to from the parser.
    control_end: SmolStr,
    ended: Flow,
    /// Bytes of scratch that moving headers takes.
    moving_bytes: u32,
    /// User functions in C that are called.
    prototypes: Vec<(SmolStr, cgen::tree::Item)>,
    /// Functions of the program that are called.
    functions: Vec<function::Function>,
    /// The head of the packet may be moved.
    moves_head: bool,
    /// Instructions that runtime helpers take beyond what statements suggest.
    extra_instructions: u32,
    ways: Ways,
}

impl<'a> Gen<'a> {
    fn new(
        p: &'a Program,
        map: &'a SourceMap,
        options: &'a Options,
        plan: &'a Plan,
        shared: Shared,
    ) -> Gen<'a> {
        let Shared {
            ways,
            mut names,
            maps,
            tables,
            value_sets,
            flow_states,
            prototypes,
            functions,
        } = shared;
        for body in visit::bodies(p) {
            visit::walk_block(body, &mut |s| {
                if let StmtKind::Extern(call) = &s.kind
                    && call.object.is_none()
                {
                    names.reserve(&call.name);
                }
            });
        }
        let control_end = names.fresh("end");
        Gen {
            p,
            map,
            options,
            plan,
            names,
            flow: Flow::start(p),
            out: Vec::new(),
            locals: Locals::default(),
            labels: HashMap::new(),
            returns: Vec::new(),
            exit: None,
            assumed: Vec::new(),
            computed: HashMap::new(),
            asked_mtu: None,
            maps,
            tables,
            value_sets,
            flow_states,
            held: None,
            weak: Weak::default(),
            diags: Diagnostics::new(),
            cursor: parser::Place::default(),
            entered: HashMap::new(),
            control_end,
            ended: Flow::unreached(p),
            moving_bytes: 0,
            prototypes,
            functions,
            moves_head: false,
            extra_instructions: 0,
            ways,
        }
    }

    fn push(&mut self, stmt: Stmt) {
        self.out.push(stmt);
    }

    /// What was computed for a statement is of no use for another.
    fn forget_computed(&mut self) {
        self.computed.clear();
        self.asked_mtu = None;
    }

    fn set(&mut self, dst: C, value: C) {
        self.push(Stmt::Assign(dst, value));
    }

    /// What `f` emits, as a block of its own.
    fn block(&mut self, f: impl FnOnce(&mut Self)) -> Block {
        let outer = std::mem::take(&mut self.out);
        f(self);
        std::mem::replace(&mut self.out, outer)
    }

    /// Refuses the program.
    fn refuse(&mut self, diagnostic: Diagnostic) {
        if !self.diags.iter().any(|d| *d == diagnostic) {
            self.diags.push(diagnostic);
        }
    }

    fn goto_reject(&mut self, cond: C) {
        self.goto_end(cond, "reject");
    }

    /// Where the packet, as far as it can be seen, is too short for its parser.
    fn goto_short(&mut self, cond: C) {
        let label = match self.pull() {
            Pull::Late(_) => "too_short",
            Pull::Elsewhere => "rare",
            Pull::Never | Pull::Early(_) => "reject",
        };
        self.goto_end(cond, label);
    }

    fn goto_end(&mut self, cond: C, label: &str) {
        match cond.as_int() {
            Some(0) => {}
            Some(_) => {
                self.push(Stmt::Goto(label.into()));
                self.flow.dead = true;
            }
            None => self.push(Stmt::goto_if(cond, label)),
        }
    }

    fn header_name(&self, h: Header) -> &'a str {
        &self.p.headers[h].name
    }

    /// Refuses what no pass should have left.
    fn not_lowered(&mut self, what: &str, at: diag::Span) {
        self.refuse(errors::not_lowered(self.options.hook, what, at));
    }
}
