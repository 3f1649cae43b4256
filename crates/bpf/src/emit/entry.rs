//! The whole function for a hook: its start, the blocks in order, its verdicts; and the file around it.

use super::Exit;
use super::Gen;
use super::locals::{Local, Role};
use crate::abi::{Abi, Hook, MapAbi, MapKind, ProgramAbi};
use crate::plan::flow::Flow;
use crate::plan::{Model, Plan};
use crate::record::Record;
use crate::{BpfOutput, Options, Report, budget, errors, snapshot};
use cgen::tree::{BinOp, Block, Expr as C, Item, Stmt, Type, Unit};
use diag::{Diagnostics, SourceMap, Span};
use ir::{
    BlockBody, ExprKind, Header, Place, Program, Routine, StmtKind, Type as IrType, Var, visit,
    visit::Access,
};
use smol_str::SmolStr;
use std::collections::{BTreeSet, HashSet};

/// The function's and its section's name.
const FUNCTION: &str = "onpath_xdp";
const SECTION: &str = "xdp";
/// Bytes of the BPF stack that variables may take, so that the compiler has room for what it adds.
const STACK_FOR_VARIABLES: u32 = 320;
/// What a per-CPU array's value may have, in bytes.
const SCRATCH_LIMIT: u32 = 32 << 10;

/// Emits a program, planning again as long as header fields turn out to need variables.
pub(crate) fn emit(
    program: &Program,
    map: &SourceMap,
    options: &Options,
) -> Result<BpfOutput, Diagnostics> {
    let one = |d: Box<diag::Diagnostic>| {
        let mut all = Diagnostics::new();
        all.push(*d);
        all
    };
    let copied = match program.block(ir::Role::Deparser) {
        Some(BlockBody::Control(deparser)) => snapshot::of_emits(program, deparser),
        _ => None,
    };
    let program = copied.as_ref().unwrap_or(program);
    let mut forced: BTreeSet<Header> = BTreeSet::new();
    if options.copy_headers {
        forced.extend(program.headers.keys());
    }
    loop {
        let plan = Plan::new(program, &forced).map_err(one)?;
        let mut g = Gen::new(program, map, options, &plan);
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
            self.refuse(errors::varbit_value(at));
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
        match self.plan.model {
            Model::Filter => {
                let accept = self.p.slot_var(arch::ebpf::ACCEPT, "");
                let pass = match accept {
                    Some(v) => self.local(Role::Var(v)),
                    None => C::int(0),
                };
                let verdict = C::Cond(
                    Box::new(pass),
                    Box::new(C::id("XDP_PASS")),
                    Box::new(C::id("XDP_DROP")),
                );
                self.push(Stmt::Return(Some(verdict)));
            }
            Model::Switch => self.switch_verdict(),
        }
        self.push(Stmt::Label("reject".into()));
        let refused = match self.plan.model {
            Model::Filter => "XDP_DROP",
            Model::Switch => "XDP_ABORTED",
        };
        self.push(Stmt::Return(Some(C::id(refused))));
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

    fn switch_verdict(&mut self) {
        let action = self.output("output_action");
        let passes = C::bin(BinOp::Ge, action.clone(), C::id("XDP_PASS"));
        let rebuild = self.block(|g| {
            if let Some(deparser) = g.plan.deparser {
                let name = g.names.fresh("deparsed");
                g.pipeline_block(deparser, name);
            }
            g.rebuild();
        });
        self.push(Stmt::If(passes, rebuild, Block::new()));
        if self.redirects() {
            let ports = self.names.fresh_map("ports", "");
            self.maps.declare(
                MapAbi {
                    name: ports.to_string(),
                    kind: MapKind::DevmapHash,
                    key_size: 4,
                    value_size: 4,
                    max_entries: self.options.max_ports,
                    no_prealloc: false,
                },
                None,
            );
            self.maps.ports.devmap = Some(ports.to_string());
            let port = self.output("output_port");
            let redirect = C::call("redirect_to", vec![C::Ident(ports).addr(), port]);
            self.push(Stmt::If(
                C::bin(BinOp::Eq, action.clone(), C::id("XDP_REDIRECT")),
                vec![Stmt::Return(Some(redirect))],
                Block::new(),
            ));
        }
        self.push(Stmt::Return(Some(action)));
    }

    fn output(&mut self, name: &str) -> C {
        match self.p.slot_var(arch::xdp::OUTPUT, name) {
            Some(v) => self.local(Role::Var(v)),
            None => C::int(0),
        }
    }

    /// Whether the verdict may be a redirect.
    fn redirects(&self) -> bool {
        let Some(action) = self.p.slot_var(arch::xdp::OUTPUT, "output_action") else {
            return false;
        };
        let mut may = false;
        for body in visit::bodies(self.p) {
            visit::walk_block(body, &mut |s| {
                visit::accesses(self.p, &s.kind, |access| {
                    if access != visit::Access::Write(Place::Var(action)) {
                        return;
                    }
                    may |= match &s.kind {
                        StmtKind::Assign { value, .. } => {
                            verdict_may_be(self.p, *value, arch::xdp::Verdict::Redirect as u32)
                        }
                        _ => true,
                    };
                });
            });
        }
        may
    }

    fn finish(mut self) -> Result<BpfOutput, Diagnostics> {
        let mut body = std::mem::take(&mut self.out);
        let mut names: HashSet<SmolStr> = self.locals.list.iter().map(|l| l.name.clone()).collect();
        let fixed = self.fixed_locals();
        names.extend(fixed.iter().map(|l| l.name.clone()));
        let used = cgen::tidy::tidy(&mut body, &names, &is_pure);
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
        let start = self.start(&locals, spilled.as_ref());
        let mut whole = start;
        whole.append(&mut body);
        Ok(self.file(whole, &locals, spilled))
    }

    /// The variables that every function may have.
    fn fixed_locals(&self) -> Vec<Local> {
        let plain = |name: &str, ty: Type, init: Option<C>| Local {
            name: name.into(),
            ty,
            init,
        };
        vec![
            pointer("data"),
            pointer("data_end"),
            plain("off", Type::U64, Some(C::int(0))),
            plain("cur", Type::U8.ptr(), Some(C::id("data"))),
            plain("keep", Type::U32, Some(C::int(0))),
            plain("touched", Type::U32, Some(C::int(0))),
        ]
    }

    /// Moves variables that the stack has no room for to a per-CPU map, the largest first.
    fn spill(
        &mut self,
        locals: &mut Vec<Local>,
        body: &mut Block,
    ) -> Result<Option<Spilled>, Diagnostics> {
        let movable = |l: &Local| {
            !matches!(l.ty, Type::Ptr(_))
                && !matches!(l.name.as_str(), "off" | "keep" | "touched")
                && !self.locals.followed.contains(&l.name)
        };
        let mut order: Vec<usize> = (0..locals.len()).filter(|&i| movable(&locals[i])).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(locals[i].size()));
        let mut on_stack: u32 = locals.iter().map(Local::size).sum();
        let limit = if self.options.spill_everything {
            0
        } else {
            STACK_FOR_VARIABLES
        };
        // Scalars live in registers most of the time; arrays do too while they are small.
        let mut moved: HashSet<SmolStr> = HashSet::new();
        for i in order {
            let worth =
                locals[i].size() > 32 || on_stack > 4 * limit || self.options.spill_everything;
            if on_stack <= limit || !worth {
                break;
            }
            on_stack -= locals[i].size();
            moved.insert(locals[i].name.clone());
        }
        if moved.is_empty() && self.moving_bytes == 0 {
            return Ok(None);
        }
        let (gone, stay): (Vec<Local>, Vec<Local>) =
            locals.drain(..).partition(|l| moved.contains(&l.name));
        *locals = stay;
        let bytes = gone.iter().map(Local::size).sum::<u32>() + self.moving_bytes;
        if bytes > SCRATCH_LIMIT {
            self.refuse(errors::too_much_state(bytes, SCRATCH_LIMIT));
            return Err(std::mem::take(&mut self.diags));
        }
        cgen::tidy::substitute(body, &|name| {
            moved
                .contains(name)
                .then(|| C::id("scratch").arrow(name.clone()))
        });
        Ok(Some(Spilled { gone, bytes }))
    }

    /// Declarations and what has to be fetched first.
    fn start(&mut self, locals: &[Local], spilled: Option<&Spilled>) -> Block {
        let mut out = Block::new();
        for local in locals {
            out.push(Stmt::Decl {
                ty: local.ty.clone(),
                name: local.name.clone(),
                init: local.init.clone(),
                align: None,
            });
        }
        if let Some(spilled) = spilled {
            out.extend(fetch_scratch());
            for local in spilled.gone.iter().filter(|l| l.init.is_some()) {
                let place = C::id("scratch").arrow(local.name.clone());
                match &local.ty {
                    Type::Array(_, n) => out.extend((0..*n).map(|i| {
                        let limb = place.clone().index(C::int(i.into()));
                        Stmt::Assign(limb, C::int(0))
                    })),
                    _ => out.push(Stmt::Assign(place, C::int(0))),
                }
            }
        }
        if let Some(v) = self.p.slot_var(arch::xdp::INPUT, "input_port")
            && let Some(place) = self.place_of_local(v, locals, spilled)
        {
            out.extend(self.input_port(place));
        }
        out
    }

    /// Where a variable ended up, if it is used.
    fn place_of_local(&mut self, v: Var, locals: &[Local], spilled: Option<&Spilled>) -> Option<C> {
        let C::Ident(name) = self.local(Role::Var(v)) else {
            return None;
        };
        if locals.iter().any(|l| l.name == name) {
            return Some(C::Ident(name));
        }
        let in_scratch = spilled?.gone.iter().any(|l| l.name == name);
        in_scratch.then(|| C::id("scratch").arrow(name))
    }

    fn input_port(&mut self, place: C) -> Block {
        let map = self.names.fresh_map("input_ports", "");
        self.maps.declare(
            MapAbi {
                name: map.to_string(),
                kind: MapKind::Hash,
                key_size: 4,
                value_size: 4,
                max_entries: self.options.max_ports,
                no_prealloc: false,
            },
            Some((Type::U32, Type::U32)),
        );
        self.maps.ports.input = Some(map.to_string());
        let number = C::Unary(cgen::tree::UnOp::Deref, Box::new(C::id("number")));
        let either = C::Cond(
            Box::new(C::id("number")),
            Box::new(number),
            Box::new(C::id("interface")),
        );
        vec![Stmt::Block(vec![
            Stmt::decl(
                Type::U32,
                "interface",
                C::id("ctx").arrow("ingress_ifindex"),
            ),
            Stmt::decl(
                Type::U32.ptr(),
                "number",
                C::call(
                    "bpf_map_lookup_elem",
                    vec![C::Ident(map).addr(), C::id("interface").addr()],
                ),
            ),
            Stmt::Assign(place, either),
        ])]
    }

    /// The C file and its description.
    fn file(mut self, body: Block, locals: &[Local], spilled: Option<Spilled>) -> BpfOutput {
        let mut items = vec![
            Item::Comment(vec![format!(
                "Made by onpath from {}; `#line` leads back to it.",
                self.options.source_name
            )]),
            Item::Include("onpath/onpath.h".into()),
        ];
        for (_, prototype) in std::mem::take(&mut self.prototypes) {
            items.push(prototype);
        }
        for file in &self.options.extern_files {
            items.push(Item::Include(file.clone()));
        }
        let verdicts = arch::xdp::Verdict::ALL.map(|v| (v.name().into(), v as u64));
        items.push(Item::Enum(verdicts.to_vec()));
        if let Some(spilled) = &spilled {
            self.declare_scratch(spilled);
        }
        items.append(&mut self.maps.structs);
        items.append(&mut self.maps.items);
        let (globals, mut global_items) = self.maps.finish_globals();
        items.append(&mut global_items);
        let stack = budget::stack(&body, locals.iter().map(Local::size).sum());
        let instructions = budget::instructions(&body) + self.extra_instructions;
        items.push(Item::Function {
            section: SECTION.into(),
            result: Type::Int,
            name: FUNCTION.into(),
            params: vec![(Type::Struct("xdp_md".into()).ptr(), "ctx".into())],
            body,
        });
        items.push(Item::Variable {
            ty: Type::Named("char".into()).array(4),
            name: "_license".into(),
            init: Some(C::id("\"GPL\"")),
            section: Some("license".into()),
            constant: false,
        });
        let unapplied = self.unapplied_tables();
        self.maps.tables.extend(unapplied);
        self.maps.tables.sort_by_key(|t| t.index);
        let report = Report {
            stack_estimate: stack,
            instruction_estimate: instructions,
            scratch_bytes: spilled.as_ref().map_or(0, |s| s.bytes),
            scratch_variables: spilled
                .iter()
                .flat_map(|s| s.gone.iter().map(|l| l.name.to_string()))
                .collect(),
            copied_headers: self.copied_headers(),
            moves_head: self.moves_head,
        };
        let abi = Abi {
            version: Abi::VERSION,
            source: self.options.source_name.clone(),
            arch: self.p.arch.to_string(),
            programs: vec![ProgramAbi {
                hook: Hook::Xdp,
                function: FUNCTION.into(),
                section: SECTION.into(),
                stack_estimate: stack,
                instruction_estimate: instructions,
                moves_head: self.moves_head,
            }],
            maps: self.maps.list,
            globals,
            tables: self.maps.tables,
            value_sets: self.maps.value_sets,
            counters: self.maps.counters,
            flow_states: self.maps.flow_states,
            ports: self.maps.ports,
            events: self.maps.events,
        };
        BpfOutput {
            c_source: cgen::print(&Unit { items }),
            abi,
            report,
        }
    }

    fn declare_scratch(&mut self, spilled: &Spilled) {
        let mut record = Record::default();
        if self.moving_bytes > 0 {
            let ty = Type::U8.array(self.moving_bytes);
            record.add(ty, "moving", self.moving_bytes, 1, "headers on their way");
        }
        for local in &spilled.gone {
            let align = if local.size() == 4 { 4 } else { 8 };
            record.add(
                local.ty.clone(),
                local.name.clone(),
                local.size(),
                align,
                "",
            );
        }
        record.finish();
        self.maps.declare_struct(&"scratch".into(), record.members);
        self.maps.declare(
            MapAbi {
                name: "scratch_map".into(),
                kind: MapKind::PercpuArray,
                key_size: 4,
                value_size: record.size,
                max_entries: 1,
                no_prealloc: false,
            },
            Some((Type::U32, Type::Struct("scratch".into()))),
        );
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

    /// Tables that the program never applies have nothing in the kernel.
    fn unapplied_tables(&self) -> Vec<crate::abi::TableAbi> {
        self.p
            .tables
            .iter()
            .filter(|(t, _)| !self.maps.tables.iter().any(|m| m.index == t.as_u32()))
            .map(|(t, data)| crate::abi::TableAbi {
                index: t.as_u32(),
                name: data.name.to_string(),
                capacity: 0,
                lookup: crate::abi::LookupAbi::Compiled,
                default: crate::abi::DefaultAbi::Const,
                preload: false,
            })
            .collect()
    }
}

/// Finds this processor's scratch memory.
fn fetch_scratch() -> Block {
    vec![
        Stmt::decl(Type::U32, "zero", C::int(0)),
        Stmt::decl(
            Type::Struct("scratch".into()).ptr(),
            "scratch",
            C::call(
                "bpf_map_lookup_elem",
                vec![C::id("scratch_map").addr(), C::id("zero").addr()],
            ),
        ),
        Stmt::If(
            C::not(C::id("scratch")),
            vec![Stmt::Return(Some(C::id("XDP_ABORTED")))],
            Block::new(),
        ),
    ]
}

/// Variables in the per-CPU map.
struct Spilled {
    gone: Vec<Local>,
    bytes: u32,
}

fn pointer(name: &str) -> Local {
    let init = C::id("ctx")
        .arrow(name)
        .cast(Type::Named("long".into()))
        .cast(Type::U8.ptr());
    Local {
        name: name.into(),
        ty: Type::U8.ptr(),
        init: Some(init),
    }
}

fn mentions_data(e: &C) -> bool {
    match e {
        C::Ident(name) => name == "data",
        C::Binary(_, a, b) => mentions_data(a) || mentions_data(b),
        _ => false,
    }
}

/// Calls that may go if nobody wants their result.
fn is_pure(name: &str) -> bool {
    ["load_be", "csum_", "shift_", "sat_", "wide_"]
        .iter()
        .any(|p| name.starts_with(p))
        || matches!(
            name,
            "ebpf_ipv4_checksum"
                | "divide"
                | "modulo"
                | "sign_extend"
                | "unknown_zero"
                | "flag_set"
                | "behind_check"
        )
}

fn verdict_may_be(p: &Program, e: ir::Expr, verdict: u32) -> bool {
    match p.exprs[e].kind {
        ExprKind::Member(index) => index == verdict,
        ExprKind::Mux(_, a, b) => verdict_may_be(p, a, verdict) || verdict_may_be(p, b, verdict),
        ExprKind::Const(ref bits) => bits.to_u64() == Some(verdict.into()),
        _ => true,
    }
}
