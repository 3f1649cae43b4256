//! Uses of each header in the entire program.

use super::cursor::{Cursor, const_bits};
use super::graph::{Graph, StateInfo};
use super::header_facts::instances;
use super::rolled::Rolled;
use ir::{
    Block, ExprKind, ExternCall, Header, HeaderRef, Place, Program, Stage, Stmt, StmtKind, Table,
    visit, visit::Access,
};

/// Uses of one header in the program.
#[derive(Clone, Debug, Default)]
pub struct HeaderUse {
    /// Offset of each extract, if it is constant.
    pub sites: Vec<Option<u32>>,
    /// True if it may be extracted twice for one packet.
    pub repeated: bool,
    /// True if anything but extraction may make it valid or replace it whole.
    pub replaced: bool,
    /// True if it is made invalid.
    pub invalidated: bool,
    /// True if a field of it is written.
    pub written: bool,
    /// True if a field of it may be written through an index that is not constant.
    pub dynamic_write: bool,
}

impl HeaderUse {
    /// Returns true if only extraction makes it valid or sets it whole.
    pub fn only_extracted(&self) -> bool {
        !self.replaced
    }
}

/// A step of the parser that moves its cursor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CursorStep {
    /// Over a header, which is kept. The first element of a rolled stack stands for all of them.
    Extract(Header),
    /// Over bytes that are lost, or over one of several headers.
    Skip,
}

/// Facts about the entire program.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Uses of each header.
    pub headers: Vec<HeaderUse>,
    /// Steps of the cursor in each reachable state, in order.
    pub steps: Vec<Vec<CursorStep>>,
    /// True if an extern reads the packet as it came in.
    pub packet_is_read: bool,
}

impl Facts {
    /// Collects the facts.
    pub fn new(
        program: &Program,
        graph: &Graph,
        stage: &Stage,
        rolled: &Rolled,
        reads_packet: fn(&ExternCall) -> bool,
    ) -> Facts {
        let mut facts = Facts {
            headers: vec![HeaderUse::default(); program.headers.len()],
            ..Facts::default()
        };
        let states = &program.parsers[stage.parser].states;
        for info in &graph.states {
            let body = &states[info.state].body;
            let mut steps = Vec::new();
            facts.walk_steps(
                program,
                (graph, rolled),
                info,
                body,
                info.cyclic,
                &mut steps,
            );
            facts.steps.push(steps);
            facts.walk(program, body, reads_packet);
        }
        facts.find_repeats(graph);
        let mut routines = stage.controls.clone();
        routines.extend(stage.deparser);
        let mut tables: Vec<Table> = Vec::new();
        for routine in routines {
            let body = &program.routines[routine].body;
            facts.walk(program, body, reads_packet);
            visit::walk_block(body, &mut |s| {
                if let StmtKind::Apply { table, .. } = s.kind
                    && !tables.contains(&table)
                {
                    tables.push(table);
                }
            });
        }
        let mut done = 0;
        while done < tables.len() {
            for action in &program.tables[tables[done]].actions {
                let body = &program.actions[action.action].body;
                facts.walk(program, body, reads_packet);
                visit::walk_block(body, &mut |s| {
                    if let StmtKind::Apply { table, .. } = s.kind
                        && !tables.contains(&table)
                    {
                        tables.push(table);
                    }
                });
            }
            done += 1;
        }
        for stack in &rolled.stacks {
            let elems = || {
                let members = stack.members.iter();
                members.flat_map(|&s| program.stacks[s].elems.iter().copied())
            };
            let invalidated = elems().any(|h| facts.of(h).invalidated);
            facts.of(stack.first).invalidated = invalidated;
        }
        facts
    }

    fn of(&mut self, h: Header) -> &mut HeaderUse {
        &mut self.headers[h.as_u32() as usize]
    }

    fn walk_steps(
        &mut self,
        program: &Program,
        (graph, rolled): (&Graph, &Rolled),
        state: &StateInfo,
        block: &Block,
        cyclic: bool,
        steps: &mut Vec<CursorStep>,
    ) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Extract { header, .. } => {
                    let all = instances(program, *header);
                    for &h in &all {
                        let site = match graph.cursors.before(stmt) {
                            Some(Cursor::Const(at)) if !state.cyclic => Some(at),
                            _ => None,
                        };
                        let f = self.of(h);
                        f.sites.push(site);
                        f.repeated |= cyclic;
                        if !matches!(header, HeaderRef::Header(_)) {
                            f.repeated = true;
                        }
                    }
                    steps.push(match header {
                        HeaderRef::Header(h) => CursorStep::Extract(rolled.representative(*h)),
                        HeaderRef::Element(stack, _) => match rolled.member(*stack) {
                            Some(member) => CursorStep::Extract(rolled.stacks[member.stack].first),
                            None => CursorStep::Skip,
                        },
                    });
                }
                StmtKind::Advance(by) if const_bits(program, *by) != Some(0) => {
                    steps.push(CursorStep::Skip);
                }
                StmtKind::SkipAhead { .. }
                | StmtKind::Search { .. }
                | StmtKind::Automaton { .. } => steps.push(CursorStep::Skip),
                _ => {
                    for inner in visit::blocks(&stmt.kind) {
                        let loops = matches!(stmt.kind, StmtKind::Loop(..));
                        let within = (graph, rolled);
                        self.walk_steps(program, within, state, inner, cyclic || loops, steps);
                    }
                }
            }
        }
    }

    fn find_repeats(&mut self, graph: &Graph) {
        let mut extracts: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.headers.len()];
        for (i, steps) in self.steps.iter().enumerate() {
            for (k, step) in steps.iter().enumerate() {
                if let CursorStep::Extract(h) = step {
                    extracts[h.as_u32() as usize].push((i, k));
                }
            }
        }
        for (header, extracts) in self.headers.iter_mut().zip(&extracts) {
            header.repeated |= extracts.iter().any(|&(i, k)| {
                let follows =
                    |&(j, l): &(usize, usize)| (i == j && k < l) || graph.reach.contains(i, j);
                extracts.iter().any(follows)
            });
        }
    }

    fn walk(&mut self, program: &Program, block: &Block, reads_packet: fn(&ExternCall) -> bool) {
        visit::walk_block(block, &mut |stmt| {
            if let StmtKind::Extern(call) = &stmt.kind {
                self.packet_is_read |= reads_packet(call);
            }
            self.stmt(program, stmt);
        });
    }

    fn stmt(&mut self, program: &Program, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::PopFront(stacks, _) if program.stacks[stacks[0]].rolled => {
                for &h in stacks.iter().flat_map(|&s| &program.stacks[s].elems) {
                    self.of(h).invalidated = true;
                }
                return;
            }
            // The other members of a union's next element, which are not valid.
            StmtKind::SetInvalid(HeaderRef::Element(stack, index))
                if program.stacks[*stack].rolled
                    && matches!(program.exprs[*index].kind, ExprKind::Var(v) if v == program.stacks[*stack].next) =>
            {
                return;
            }
            _ => {}
        }
        visit::accesses(program, &stmt.kind, |access| match access {
            Access::Write(Place::Field(header, field)) => {
                let dynamic = !matches!(header, HeaderRef::Header(_));
                let varbit = program.header_layout(header).and_then(|ty| ty.varbit());
                for h in instances(program, header) {
                    let f = self.of(h);
                    f.written = true;
                    f.dynamic_write |= dynamic;
                    // The bytes, and perhaps their number, are no longer those extracted.
                    f.replaced |= varbit == Some(field);
                }
            }
            Access::WriteHeader(header) if !matches!(stmt.kind, StmtKind::Extract { .. }) => {
                for h in instances(program, header) {
                    self.of(h).replaced = true;
                }
            }
            Access::SetValidity(header, valid) => {
                for h in instances(program, header) {
                    let f = self.of(h);
                    f.replaced |= valid;
                    f.invalidated |= !valid;
                }
            }
            _ => {}
        });
    }
}
