//! The parse record: results of a parser that are kept in memory instead of in variables of the function.
//!
//! Variables cost least at run time. But for an analysis that follows values, all code after the parser is then a
//! separate path for each combination of headers that may be present, and for each of their offsets. With memory,
//! paths that meet are alike, and the work of the analysis grows only with the program's length. A header is then
//! an offset in memory. Where it is used, its pointer is made from the offset and checked against the packet's end.

use super::graph::Graph;
use ir::visit::{self, Access};
use ir::{Block, Expr, ExprKind, Place, Program, Stage, Transition, Var};
use std::collections::{HashMap, HashSet};

/// Variables in the record, besides headers.
#[derive(Clone, Debug, Default)]
pub struct ParseRecord {
    vars: HashSet<Var>,
}

impl ParseRecord {
    /// Computes the record of a stage's parser: the variables that one of its states sets and other code reads.
    pub fn new(program: &Program, graph: &Graph, stage: &Stage) -> ParseRecord {
        let parser = &program.parsers[stage.parser];
        let mut uses = Uses::default();
        for (i, info) in graph.states.iter().enumerate() {
            let state = &parser.states[info.state];
            let mut known = HashSet::new();
            uses.walk(program, &state.body, Some(i), &mut known);
            if let Transition::Select { keys, .. } = &state.transition {
                for &key in keys {
                    uses.read(program, key, Some(i), &known);
                }
            }
        }
        for (_, routine) in &program.routines {
            uses.walk(program, &routine.body, None, &mut HashSet::new());
        }
        for action in program.actions.values() {
            uses.walk(program, &action.body, None, &mut HashSet::new());
        }
        let Uses { set, read } = uses;
        let vars = set
            .into_iter()
            .filter(|(var, states)| {
                let elsewhere =
                    |at: &Option<usize>| at.is_none_or(|at| states.iter().any(|&s| s != at));
                read.get(var)
                    .is_some_and(|places| places.iter().any(elsewhere))
            })
            .map(|(var, _)| var)
            .collect();
        ParseRecord { vars }
    }

    /// Returns true if a variable of the program is in the record.
    pub fn holds(&self, var: Var) -> bool {
        self.vars.contains(&var)
    }
}

/// Code that sets and reads variables: states of the parser, or code outside of it.
#[derive(Default)]
struct Uses {
    /// States that set each variable.
    set: HashMap<Var, HashSet<usize>>,
    /// States that read a variable's value from before they began; `None` stands for code outside of the parser.
    read: HashMap<Var, HashSet<Option<usize>>>,
}

impl Uses {
    /// Records the accesses of a block. `known` has the variables that were certainly set before; those that the
    /// block certainly sets are added.
    fn walk(
        &mut self,
        program: &Program,
        block: &Block,
        state: Option<usize>,
        known: &mut HashSet<Var>,
    ) {
        for stmt in block {
            let mut set = Vec::new();
            visit::walk_block(std::slice::from_ref(stmt), &mut |inner| {
                visit::accesses(program, &inner.kind, |access| match access {
                    Access::Eval(e) => self.read(program, e, state, known),
                    Access::Write(Place::Var(var)) => {
                        if let Some(state) = state {
                            self.set.entry(var).or_default().insert(state);
                        }
                        if inner.id == stmt.id {
                            set.push(var);
                        }
                    }
                    _ => {}
                });
            });
            known.extend(set);
        }
    }

    fn read(&mut self, program: &Program, e: Expr, state: Option<usize>, known: &HashSet<Var>) {
        visit::walk_expr(program, e, &mut |data| {
            if let ExprKind::Var(var) = data.kind
                && !known.contains(&var)
            {
                self.read.entry(var).or_default().insert(state);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the variables in the record of a parser with these states, before a control with these statements.
    fn held(states: &str, control: &str) -> Vec<String> {
        let text = format!(
            "program test reject stop\nvar a: bit<8>\nvar b: bit<8>\nvar flag: bool\n\
             routine c block() {{\n{control}\n}}\nparser p start s {{\n{states}\n}}\n"
        );
        let program = ir::text::parse(&text).expect("a program");
        let stage = Stage {
            drops: None,
            parser: program.parsers.keys().next().expect("a parser"),
            controls: vec![program.routines.keys().next().expect("a control")],
            deparser: None,
        };
        let record = ParseRecord::new(&program, &Graph::new(&program, stage.parser), &stage);
        let vars = program.vars.iter().filter(|(var, _)| record.holds(*var));
        vars.map(|(_, data)| data.name.to_string()).collect()
    }

    #[test]
    fn what_a_state_sets_and_other_code_reads_is_in_it() {
        let states = "state s { a = 8w1; goto t; } state t { b = a; goto accept; }";
        assert_eq!(held(states, ""), ["a"]);
        assert_eq!(held(states, "a = b;"), ["a", "b"]);
    }

    #[test]
    fn what_only_the_state_that_sets_it_reads_is_not() {
        let states =
            "state s { a = 8w1; b = a; select (b) { (8w1) -> t; } } state t { goto accept; }";
        assert_eq!(held(states, "a = 8w2; b = a;"), [""; 0]);
    }

    #[test]
    fn what_each_state_sets_anew_before_it_reads_it_is_not() {
        let states = "state s { a = 8w1; b = a; goto t; } state t { a = 8w2; b = a; goto accept; }";
        assert_eq!(held(states, ""), [""; 0]);
        // Here, `a` may keep a value that another state has set.
        let states = "state s { a = 8w1; goto t; } \
                      state t { if flag { a = 8w2; } b = a; goto accept; }";
        assert_eq!(held(states, ""), ["a"]);
    }
}
