//! The whole function for a hook: its start, the blocks in order, its verdicts; and the file around it.
//!
//! What differs from hook to hook is in a file for each; the blocks know no hook, since the headers that the C
//! includes give the packet's primitives the same names.

mod file;
mod ports;
mod storage;
mod tc;
mod verdict;
mod xdp;

use super::locals::{Local, Role};
use super::{Exit, Gen, Shared, Ways};
use crate::abi::Hook;
use crate::plan::Plan;
use crate::plan::flow::Flow;
use crate::{BpfOutput, Options, errors, snapshot};
use cgen::tree::{Block, Expr as C, Stmt};
use diag::{Diagnostics, SourceMap, Span};
use ir::{ExprKind, Header, Program, Routine, Type as IrType, visit, visit::Access};
use smol_str::SmolStr;
use std::collections::{BTreeSet, HashSet};
use storage::{Spilled, mentions_data, pointer};

/// Emits a program: a function of the usual ways, if they are given, and one of all.
pub(crate) fn emit(
    program: &Program,
    usual: Option<&Program>,
    map: &SourceMap,
    options: &Options,
) -> Result<BpfOutput, Diagnostics> {
    let usual = usual.and_then(|usual| usual_ways(usual, map, options));
    let (function, shared) = match usual {
        Some((function, shared)) => (Some(function), shared),
        None => (None, Shared::default()),
    };
    let (whole, shared) = settle(program, map, options, shared)?;
    Ok(file::file(program, options, shared, whole, function))
}

/// The function of the usual ways, if it is one that pays: its variables have room in registers and on the stack.
fn usual_ways(usual: &Program, map: &SourceMap, options: &Options) -> Option<(Function, Shared)> {
    if options.copy_headers {
        return None;
    }
    let options = Options {
        spill_everything: false,
        ..options.clone()
    };
    let shared = Shared {
        ways: Ways::Usual,
        ..Shared::default()
    };
    let (function, shared) = settle(usual, map, &options, shared).ok()?;
    let behind = Shared {
        ways: Ways::AllBehindUsual,
        ..shared
    };
    function.spilled.is_none().then_some((function, behind))
}

/// What became of a program: the function of its hook, or the part of it that begins with the parser.
struct Function {
    /// What it does once it is known that the stack can handle the packet.
    body: Block,
    locals: Vec<Local>,
    spilled: Option<Spilled>,
    extra_instructions: u32,
    moves_head: bool,
    copied_headers: Vec<String>,
    /// The stack has to learn of an EtherType that the program changed.
    remembers_type: bool,
}

/// Makes a program's function, planning again as long as header fields turn out to need variables.
fn settle(
    program: &Program,
    map: &SourceMap,
    options: &Options,
    shared: Shared,
) -> Result<(Function, Shared), Diagnostics> {
    let one = |d: Box<diag::Diagnostic>| {
        let mut all = Diagnostics::new();
        all.push(*d);
        all
    };
    let copied = program
        .control_block(arch::DEPARSER)
        .and_then(|deparser| snapshot::of_emits(program, deparser));
    let program = copied.as_ref().unwrap_or(program);
    let mut forced: BTreeSet<Header> = BTreeSet::new();
    if options.copy_headers {
        forced.extend(program.headers.keys());
    }
    loop {
        let plan = Plan::new(program, options.hook, &forced).map_err(one)?;
        let mut g = Gen::new(program, map, options, &plan, shared.clone());
        g.refuse_varbit_comparisons();
        g.function();
        if g.diags.has_errors() {
            return Err(g.diags);
        }
        // A field that is written and read while its header may be absent must keep what was written.
        let before = forced.len();
        forced.extend(g.weak.reads.intersection(&g.weak.writes).map(|(h, _)| *h));
        if forced.len() == before {
            return g.finish();
        }
    }
}

/// Bytes of a packet that are always in one piece.
const ETHERNET: u32 = 14;

/// When the first bytes of a packet, this many, are brought into one piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pull {
    /// They are.
    Never,
    /// Before the parser runs.
    Early(u32),
    /// When the parser finds too few; it begins anew then.
    Late(u32),
    /// When the parser finds too few, by the function of all ways.
    Elsewhere,
}

fn pull_call(bytes: u32) -> C {
    C::call("packet_pull", vec![C::id("ctx"), C::int(bytes.into())])
}

impl Gen<'_> {
    /// Refuses comparisons of varbit fields, whose bytes are not looked at.
    fn refuse_varbit_comparisons(&mut self) {
        let p = self.p;
        let mut found = Vec::new();
        for body in visit::bodies(p) {
            visit::walk_block(body, &mut |stmt| {
                visit::accesses(p, &stmt.kind, |access| {
                    let Access::Eval(e) = access else { return };
                    visit::walk_expr(p, e, &mut |data| {
                        if let ExprKind::Binary(_, a, _) = data.kind
                            && matches!(p.ty(a), IrType::Varbit(_))
                        {
                            found.push(if data.span == Span::NONE {
                                stmt.span
                            } else {
                                data.span
                            });
                        }
                    });
                });
            });
        }
        for at in found {
            self.refuse(errors::varbit_value(self.options.hook, at));
        }
    }

    fn function(&mut self) {
        self.parser();
        self.unread_value_sets();
        let control = self.plan.control;
        let name = self.control_end.clone();
        self.pipeline_block(control, name);
        let ended = std::mem::replace(&mut self.ended, Flow::unreached(self.p));
        self.flow.join(&ended);
        match self.options.hook {
            Hook::Xdp => self.xdp_verdict(),
            Hook::TcIngress | Hook::TcEgress => self.tc_verdict(),
        }
        self.push(Stmt::Label("reject".into()));
        let refused = self.refused();
        self.push(Stmt::Return(Some(refused.clone())));
        if let Pull::Late(bytes) = self.pull() {
            self.push(Stmt::Label("too_short".into()));
            // Eight bytes of stack of its own: next to others the verifier would forget it.
            self.push(Stmt::Hint {
                name: "barrier_var".into(),
                on: C::id("pulled"),
            });
            self.push(Stmt::If(
                C::and(C::not(C::id("pulled")), pull_call(bytes)),
                vec![
                    Stmt::Assign(C::id("pulled"), C::int(1)),
                    Stmt::Goto("start_over".into()),
                ],
                Block::new(),
            ));
            self.push(Stmt::Return(Some(refused)));
        }
    }

    /// When the packet's bytes are brought into one piece.
    pub(super) fn pull(&self) -> Pull {
        let wire = &self.plan.wire;
        let bytes = wire.reads.unwrap_or(u32::MAX);
        match self.options.hook {
            Hook::Xdp => Pull::Never,
            _ if bytes <= ETHERNET => Pull::Never,
            _ if self.ways == Ways::Usual => Pull::Elsewhere,
            _ if wire.parser_acts || self.ways == Ways::AllBehindUsual => Pull::Early(bytes),
            _ => Pull::Late(bytes),
        }
    }

    /// What the program returns for a packet that its parser rejects, or that cannot be handled.
    fn refused(&self) -> C {
        match self.options.hook {
            Hook::Xdp => self.xdp_refused(),
            Hook::TcIngress | Hook::TcEgress => C::id("TC_STOP"),
        }
    }

    /// A control's statements.
    fn pipeline_block(&mut self, routine: Routine, name: SmolStr) {
        let exit = |p| Exit {
            label: name.clone(),
            flow: Flow::unreached(p),
        };
        self.returns.push(exit(self.p));
        self.exit = Some(exit(self.p));
        self.run(&self.p.routines[routine].body);
        for target in self.returns.pop().into_iter().chain(self.exit.take()) {
            self.flow.join(&target.flow);
        }
        self.push(Stmt::Label(name));
    }

    /// The deparser and what it makes of the packet.
    fn deparse(&mut self) {
        if let Some(deparser) = self.plan.deparser {
            let name = self.names.fresh("deparsed");
            self.pipeline_block(deparser, name);
        }
        self.rebuild();
    }

    /// The variable of a slot's field; 0 if the program has none.
    fn slot(&mut self, slot: &str, name: &str) -> C {
        match self.p.slot_var(slot, name) {
            Some(v) => self.local(Role::Var(v)),
            None => C::int(0),
        }
    }

    fn finish(mut self) -> Result<(Function, Shared), Diagnostics> {
        let mut body = std::mem::take(&mut self.out);
        let mut names: HashSet<SmolStr> = self.locals.list.iter().map(|l| l.name.clone()).collect();
        let fixed = self.fixed_locals();
        names.extend(fixed.iter().map(|l| l.name.clone()));
        let used = cgen::tidy::tidy(&mut body, &names);
        let mut locals: Vec<Local> = fixed
            .into_iter()
            .chain(self.locals.list.iter().cloned())
            .filter(|l| used.contains(&l.name))
            .collect();
        let needs_data = locals
            .iter()
            .any(|l| matches!(&l.init, Some(e) if mentions_data(e)))
            || used.contains("data");
        if needs_data && !used.contains("data") {
            locals.insert(0, pointer("data"));
        }
        let spilled = self.spill(&mut locals, &mut body)?;
        let mut whole = match self.options.hook {
            Hook::Xdp => Block::new(),
            Hook::TcIngress | Hook::TcEgress => self.tc_start(),
        };
        whole.extend(self.start(&locals, spilled.as_ref()));
        whole.append(&mut body);
        if let Some(spilled) = &spilled {
            self.declare_scratch(spilled);
        }
        let function = Function {
            body: whole,
            locals,
            spilled,
            extra_instructions: self.extra_instructions,
            moves_head: self.moves_head,
            copied_headers: self.copied_headers(),
            remembers_type: self.options.hook != Hook::Xdp && self.plan.wire.changes_type,
        };
        let shared = Shared {
            ways: self.ways,
            names: self.names,
            maps: self.maps,
            tables: self.tables,
            value_sets: self.value_sets,
            flow_states: self.flow_states,
            prototypes: self.prototypes,
            functions: self.functions,
        };
        Ok((function, shared))
    }

    /// Headers that live in variables although they are read from the packet.
    fn copied_headers(&self) -> Vec<String> {
        self.p
            .headers
            .keys()
            .filter(|&h| self.plan.rep(h) == crate::plan::Rep::Fields)
            .map(|h| self.header_name(h).to_string())
            .collect()
    }
}
