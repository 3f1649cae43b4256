//! Estimate of the instructions that the verifier may have to process, made before there is any C.
//!
//! It processes each state of the parser once for each set of headers that may be valid there. It processes everything
//! after the parser once for each set of headers that the parser accepts with.

use super::weights::walk::{LOOK_UP, MOST, OBJECT, SETS, STATEMENT};
use emit::plan::graph::Graph;
use ir::analysis::dataflow;
use ir::visit::{self, Access};
use ir::{
    Block, HeaderRef, Program, Routine, Stage, StateData, Stmt, StmtKind, Table, Transition,
    TransitionTarget,
};
use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// Headers that are valid together. Large parsers have many such sets of many headers, so copies share one bit vector,
/// and its hash is computed once.
#[derive(Clone, PartialEq, Eq)]
struct Valid {
    hash: u64,
    bits: Rc<[u64]>,
}

impl Valid {
    fn of(bits: impl Into<Rc<[u64]>>) -> Valid {
        let bits = bits.into();
        let mut hasher = DefaultHasher::new();
        bits.hash(&mut hasher);
        let hash = hasher.finish();
        Valid { hash, bits }
    }

    /// Returns the union of these headers and others.
    fn with(&self, others: &BTreeSet<u32>) -> Valid {
        let mut bits = self.bits.to_vec();
        for other in others {
            bits[*other as usize / 64] |= 1 << (other % 64);
        }
        match *bits == *self.bits {
            true => self.clone(),
            false => Valid::of(bits),
        }
    }
}

impl Hash for Valid {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

/// Estimates the instructions that the verifier may have to process for a stage, up to [`MOST`].
pub(crate) fn estimate(program: &Program, graph: &Graph, stage: &Stage) -> u64 {
    let mut sizes = Sizes::of(program);
    let parser = &program.parsers[stage.parser];
    let mut at: Vec<HashSet<Valid>> = vec![HashSet::new(); graph.states.len()];
    if let Some(start) = at.first_mut() {
        start.insert(Valid::of(vec![0; program.headers.len().div_ceil(64)]));
    }
    let mut accepted: HashSet<Valid> = HashSet::new();
    let mut total = 0u64;
    for (i, info) in graph.states.iter().enumerate() {
        let state = &parser.states[info.state];
        let sets = std::mem::take(&mut at[i]);
        let paths = sets.len() as u64;
        total = total.saturating_add(paths.saturating_mul(sizes.state(state)));
        if total >= MOST {
            return MOST;
        }
        let extracted = extracts(program, &state.body);
        let sets: Vec<Valid> = sets.iter().map(|set| set.with(&extracted)).collect();
        for target in dataflow::targets(&state.transition) {
            let into = match target {
                TransitionTarget::State(next) => match graph.index.get(&next) {
                    // Back edges add no header that the loop does not have.
                    Some(&next) if next > i => &mut at[next],
                    _ => continue,
                },
                TransitionTarget::Accept | TransitionTarget::AcceptAt(_) => &mut accepted,
                TransitionTarget::Reject | TransitionTarget::Rare => continue,
            };
            for set in &sets {
                if into.len() == SETS {
                    break;
                }
                into.insert(set.clone());
            }
        }
    }
    let routines = stage.controls.iter().chain(&stage.deparser);
    let behind: u64 = routines.map(|&routine| sizes.routine(routine)).sum();
    total
        .saturating_add((accepted.len() as u64).saturating_mul(behind))
        .min(MOST)
}

/// Estimates the number of instructions of a program, with its code processed once.
pub(crate) fn once(program: &Program) -> u64 {
    let mut sizes = Sizes::of(program);
    let states = program.parsers.values().flat_map(|p| p.states.values());
    let parsers: u64 = states.map(|state| sizes.state(state)).sum();
    let routines: u64 = program.routines.keys().map(|r| sizes.routine(r)).sum();
    parsers + routines
}

/// Returns the headers that a block extracts.
fn extracts(program: &Program, block: &Block) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    visit::walk_block(block, &mut |stmt| {
        if let StmtKind::Extract { header, .. } = stmt.kind {
            match header {
                HeaderRef::Header(h) => found.insert(h.as_u32()),
                HeaderRef::Element(stack, _) => {
                    // One more element, whichever it is.
                    program.stacks[stack]
                        .elems
                        .first()
                        .is_some_and(|h| found.insert(h.as_u32()))
                }
            };
        }
    });
    found
}

/// Estimator of the size of code, in instructions.
struct Sizes<'a> {
    program: &'a Program,
    /// Tables whose actions were counted already.
    tables: HashSet<Table>,
}

impl Sizes<'_> {
    fn of(program: &Program) -> Sizes<'_> {
        Sizes {
            program,
            tables: HashSet::new(),
        }
    }

    fn routine(&mut self, routine: Routine) -> u64 {
        self.block(&self.program.routines[routine].body)
    }

    fn state(&mut self, state: &StateData) -> u64 {
        let chosen = match &state.transition {
            Transition::To(_) => 0,
            Transition::Select { keys, cases } => keys.len() * cases.len(),
        };
        self.block(&state.body) + 2 * chosen as u64
    }

    fn block(&mut self, block: &[Stmt]) -> u64 {
        let mut size = 0;
        let mut applied = Vec::new();
        visit::walk_block(block, &mut |stmt| {
            size += STATEMENT;
            visit::accesses(self.program, &stmt.kind, |access| {
                if let Access::Eval(e) = access {
                    visit::walk_expr(self.program, e, &mut |_| size += 1);
                }
            });
            match &stmt.kind {
                StmtKind::Apply { table, .. } => applied.push(*table),
                StmtKind::Extern(call) if call.object.is_some() => size += OBJECT,
                _ => {}
            }
        });
        for table in applied {
            size += LOOK_UP;
            if self.tables.insert(table) {
                for action in &self.program.tables[table].actions {
                    size += self.block(&self.program.actions[action.action].body);
                }
            }
        }
        size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Estimates a program whose parser may find each of `headers` headers or not, and whose control has `statements`.
    fn with(headers: usize, statements: usize) -> u64 {
        let mut text = String::from(
            "program test reject stop\nheader_type t {\n    a: bit<8>;\n}\nvar x: bit<8>\n",
        );
        for i in 0..headers {
            text += &format!("header h{i}: t\n");
        }
        text += "routine c block() {\n";
        text += &"    x = x + 8w1;\n".repeat(statements);
        text += "}\nparser p start s0 {\n";
        for i in 0..headers {
            let next = i + 1;
            text += &format!(
                "    state s{i} {{\n        select (x) {{\n            (8w{i}) -> e{i};\n            (_) -> s{next};\n        }}\n    }}\n"
            );
            text += &format!(
                "    state e{i} {{\n        extract h{i};\n        goto s{next};\n    }}\n"
            );
        }
        text += &format!("    state s{headers} {{\n        goto accept;\n    }}\n}}\n");
        let program = ir::text::parse(&text).expect("a program");
        let stage = Stage {
            drops: None,
            parser: program.parsers.keys().next().expect("a parser"),
            controls: vec![program.routines.keys().next().expect("a control")],
            deparser: None,
        };
        estimate(&program, &Graph::new(&program, stage.parser), &stage)
    }

    #[test]
    fn what_is_behind_the_parser_counts_once_for_each_set_of_headers() {
        let statement = |headers| with(headers, 101) - with(headers, 100);
        assert_eq!(statement(1), 2 * statement(0));
        assert_eq!(statement(5), 32 * statement(0));
    }

    #[test]
    fn the_number_of_sets_is_bounded() {
        let statement = with(40, 101) - with(40, 100);
        assert_eq!(statement, SETS as u64 * (with(0, 101) - with(0, 100)));
    }
}
