//! Converts IR to nodes and edges.

use super::{Graph, NodeKind};
use diag::{SourceMap, Span};
use ir::{
    Bits, Block, BlockBody, Expr, ExprKind, HeaderRef, Keyset, Parser, Program, Routine,
    SelectCase, Stmt, StmtKind, Table, Transition, TransitionTarget, Var, visit,
};
use std::collections::{HashMap, HashSet};

/// Returns a graph for each block of the pipeline.
pub(crate) fn graphs(program: &Program, map: &SourceMap) -> Vec<Graph> {
    let of = |block: &ir::PipelineBlock| match block.body {
        BlockBody::Parser(parser) => parser_graph(program, map, parser),
        BlockBody::Control(routine) => control_graph(program, map, routine, "control"),
        BlockBody::Deparser(routine) => control_graph(program, map, routine, "deparser"),
    };
    program.blocks.iter().map(of).collect()
}

/// Returns source text on one line, truncated to fit in a box.
fn source(map: &SourceMap, span: Span) -> String {
    const LONGEST: usize = 44;
    let text: Vec<&str> = map.text(span).split_whitespace().collect();
    let text = text.join(" ");
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}

fn header_name(program: &Program, header: HeaderRef) -> String {
    match header {
        HeaderRef::Header(id) => program.headers[id].name.to_string(),
        HeaderRef::Element(stack, _) => format!("{}.next", program.stacks[stack].name),
    }
}

fn parser_graph(program: &Program, map: &SourceMap, parser: Parser) -> Graph {
    let data = &program.parsers[parser];
    let mut graph = Graph {
        title: format!("parser {}", data.name),
        ..Graph::default()
    };
    for state in data.states.values() {
        let mut lines = Vec::new();
        actions_of_state(program, &state.body, &mut lines);
        graph.node(NodeKind::State, state.name.as_str(), lines);
    }
    let accept = graph.node(NodeKind::Terminal, "accept", Vec::new());
    let reject = graph.node(NodeKind::Terminal, "reject", Vec::new());
    let node_of = |target: TransitionTarget| match target {
        TransitionTarget::State(state) => state.as_u32() as usize,
        TransitionTarget::Accept | TransitionTarget::AcceptAt(_) => accept,
        // A graph shows the full program, which has no other targets.
        TransitionTarget::Reject | TransitionTarget::Rare => reject,
    };
    for (id, state) in data.states.iter() {
        let from = id.as_u32() as usize;
        match &state.transition {
            Transition::To(target) => graph.edge(from, node_of(*target), ""),
            Transition::Select { cases, .. } => {
                for case in cases {
                    graph.edge(from, node_of(case.target), keyset_label(map, case));
                }
                if !cases.last().is_some_and(always) {
                    graph.edge(from, reject, "no match");
                }
            }
        }
    }
    if !graph.edges.iter().any(|e| e.to == reject) {
        graph.nodes.truncate(reject);
    }
    graph
}

fn always(case: &SelectCase) -> bool {
    case.keysets.iter().all(|k| matches!(k, Keyset::Any))
}

fn keyset_label(map: &SourceMap, case: &SelectCase) -> String {
    if always(case) {
        return "default".to_string();
    }
    let text = source(map, case.span);
    text.rsplit_once(':')
        .map_or(text.clone(), |(keys, _)| keys.trim().to_string())
}

fn actions_of_state(program: &Program, body: &Block, lines: &mut Vec<String>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Extract { header, .. } => {
                lines.push(format!("extract {}", header_name(program, *header)));
            }
            StmtKind::Advance(_) => lines.push("advance".to_string()),
            StmtKind::Lookahead { .. } => lines.push("lookahead".to_string()),
            StmtKind::Search { .. } => lines.push("search".to_string()),
            StmtKind::Automaton { .. } => lines.push("automaton".to_string()),
            StmtKind::Verify { .. } => lines.push("verify".to_string()),
            kind => {
                for body in visit::blocks(kind) {
                    actions_of_state(program, body, lines);
                }
            }
        }
    }
}

/// Open ends of a graph: nodes, each with the label of the edge that will leave it.
type Ends = Vec<(usize, String)>;

struct Builder<'a> {
    program: &'a Program,
    map: &'a SourceMap,
    graph: Graph,
    /// Tables by the variable that holds the index of their chosen action.
    chosen: HashMap<Var, Table>,
}

fn control_graph(program: &Program, map: &SourceMap, routine: Routine, kind: &str) -> Graph {
    let data = &program.routines[routine];
    let graph = Graph {
        title: format!("{kind} {}", data.name),
        ..Graph::default()
    };
    let mut builder = Builder {
        program,
        map,
        graph,
        chosen: HashMap::new(),
    };
    let start = builder.graph.node(NodeKind::Terminal, "start", Vec::new());
    let ends = builder.block(&data.body, vec![(start, String::new())]);
    let end = builder.graph.node(NodeKind::Terminal, "end", Vec::new());
    builder.join(ends, end);
    builder.graph
}

impl Builder<'_> {
    fn join(&mut self, ends: Ends, to: usize) {
        for (from, label) in ends {
            self.graph.edge(from, to, label);
        }
    }

    /// Adds a node after `ends`.
    fn step(&mut self, ends: Ends, shape: NodeKind, title: String, lines: Vec<String>) -> usize {
        let node = self.graph.node(shape, title, lines);
        self.join(ends, node);
        node
    }

    fn block(&mut self, block: &Block, mut ends: Ends) -> Ends {
        let mut emits: Vec<String> = Vec::new();
        for stmt in block {
            if let StmtKind::Emit(header) = stmt.kind {
                emits.push(header_name(self.program, header));
                continue;
            }
            ends = self.flush(&mut emits, ends);
            ends = self.stmt(stmt, ends);
        }
        self.flush(&mut emits, ends)
    }

    /// Draws consecutive emits as one box.
    fn flush(&mut self, emits: &mut Vec<String>, ends: Ends) -> Ends {
        if emits.is_empty() {
            return ends;
        }
        let node = self.step(ends, NodeKind::Step, "emit".into(), std::mem::take(emits));
        vec![(node, String::new())]
    }

    fn stmt(&mut self, stmt: &Stmt, ends: Ends) -> Ends {
        match &stmt.kind {
            StmtKind::Apply { table, action, .. } => {
                self.chosen.extend(action.map(|var| (var, *table)));
                let data = &self.program.tables[*table];
                let keys = data
                    .keys
                    .iter()
                    .map(|k| format!("{}: {}", k.name, k.kind.name()));
                let actions = data
                    .actions
                    .iter()
                    .map(|a| format!("→ {}", last(&self.program.actions[a.action].name)));
                let lines = keys.chain(actions).collect();
                let node = self.step(ends, NodeKind::Table, last(&data.name).to_string(), lines);
                vec![(node, String::new())]
            }
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => self.conditions((*cond, then, otherwise), ends),
            StmtKind::Switch { on, cases, default } => self.switch(*on, cases, default, ends),
            StmtKind::Call(routine, _) => {
                let name = self.program.routines[*routine].name.to_string();
                if !self.has_flow(&self.program.routines[*routine].body) {
                    return ends;
                }
                let node = self.step(ends, NodeKind::Step, format!("apply {name}"), Vec::new());
                self.block(
                    &self.program.routines[*routine].body,
                    vec![(node, String::new())],
                )
            }
            StmtKind::Extern(call) => {
                let object = call
                    .object
                    .map(|o| last(&self.program.externs[o].name).to_string() + ".");
                let title = format!("{}{}", object.unwrap_or_default(), call.name);
                let node = self.step(ends, NodeKind::Step, title, Vec::new());
                vec![(node, String::new())]
            }
            StmtKind::Labeled(_, body) => self.block(body, ends),
            StmtKind::Loop(_, body) => {
                let node = self.step(ends, NodeKind::Condition, "loop".into(), Vec::new());
                let inner = self.block(body, vec![(node, String::new())]);
                self.join(inner, node);
                vec![(node, "done".into())]
            }
            StmtKind::Exit => {
                self.step(ends, NodeKind::Terminal, "exit".into(), Vec::new());
                Ends::new()
            }
            StmtKind::Return => {
                self.step(ends, NodeKind::Terminal, "return".into(), Vec::new());
                Ends::new()
            }
            kind => match visit::in_place(kind) {
                Some(body) => self.block(body, ends),
                None => ends,
            },
        }
    }

    /// Draws a switch by a value, or by the action that a table ran. In the latter case its cases are the actions.
    fn switch(
        &mut self,
        on: Expr,
        cases: &[(Vec<Bits>, Block)],
        default: &Block,
        ends: Ends,
    ) -> Ends {
        let blocks = cases.iter().map(|(_, block)| block).chain([default]);
        if !blocks.clone().any(|block| self.has_flow(block)) {
            return ends;
        }
        let program = self.program;
        let table = match program.exprs[on].kind {
            ExprKind::Var(var) => self.chosen.get(&var).map(|table| &program.tables[*table]),
            _ => None,
        };
        let title = match table {
            Some(table) => format!("action of {}", last(&table.name)),
            None => format!("switch {}", source(self.map, program.exprs[on].span)),
        };
        let action = |value: &Bits| {
            let call = table?.actions.get(usize::try_from(value.to_u64()?).ok()?)?;
            Some(last(&program.actions[call.action].name).to_string())
        };
        let label = |value| action(value).unwrap_or_else(|| value.value().to_string());
        let node = self.step(ends, NodeKind::Condition, title, Vec::new());
        let mut out = Ends::new();
        for (index, block) in blocks.enumerate() {
            let label = match cases.get(index) {
                Some((values, _)) => values.iter().map(label).collect::<Vec<_>>().join(", "),
                None => "default".to_string(),
            };
            out.extend(self.block(block, vec![(node, label)]));
        }
        out
    }

    /// Draws a chain of conditions joined by `else`. It iterates, as the chain may be very long.
    fn conditions(&mut self, first: (Expr, &Block, &Block), mut ends: Ends) -> Ends {
        let mut out = Ends::new();
        let (mut cond, mut then, mut otherwise) = first;
        while self.has_flow(then) || self.has_flow(otherwise) {
            let title = match source(self.map, self.program.exprs[cond].span) {
                text if text.is_empty() => "condition".to_string(),
                text => text,
            };
            let node = self.step(ends, NodeKind::Condition, title, Vec::new());
            out.extend(self.block(then, vec![(node, "true".into())]));
            ends = vec![(node, "false".into())];
            match &otherwise[..] {
                [
                    Stmt {
                        kind:
                            StmtKind::If {
                                cond: next,
                                then: next_then,
                                otherwise: next_otherwise,
                            },
                        ..
                    },
                ] => (cond, then, otherwise) = (*next, next_then, next_otherwise),
                _ => {
                    out.extend(self.block(otherwise, ends));
                    return out;
                }
            }
        }
        out.extend(ends);
        out
    }

    /// Returns true if a block has a statement that is drawn.
    fn has_flow(&self, block: &Block) -> bool {
        let mut called = HashSet::new();
        let mut blocks = vec![block];
        while let Some(block) = blocks.pop() {
            for stmt in block {
                match &stmt.kind {
                    StmtKind::Apply { .. }
                    | StmtKind::Extern(_)
                    | StmtKind::Emit(_)
                    | StmtKind::Exit
                    | StmtKind::Return => return true,
                    StmtKind::Call(routine, _) if called.insert(*routine) => {
                        blocks.push(&self.program.routines[*routine].body);
                    }
                    kind => blocks.extend(visit::blocks(kind)),
                }
            }
        }
        false
    }
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
