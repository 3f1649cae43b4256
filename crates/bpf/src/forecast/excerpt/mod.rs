//! Excerpts of a program: a stretch of its pieces as a program of its own.
//!
//! Pieces are the states of parsers and the statements of the blocks behind them. In an excerpt each takes about what it takes in the program
//! when that is cut into functions: variables are in memory, so it does not matter what comes before. States that a packet meets only
//! by others that are left out follow the excerpt's first state, which goes on to one of them by the packet's first bytes. Edges to states that
//! are left out lead to a few others that each set a variable, so that there are as many different ways out of a state as there were. All of these are
//! in the program without any piece too.

mod parser;

use super::Body;
use emit::plan::cursor::Cursors;
use emit::plan::size;
use ir::analysis::dataflow::reverse_postorder;
use ir::{Block, Program, Routine, State, StmtId, StmtKind};
use parser::Made;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A piece of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Piece {
    State(State),
    Stmt(StmtId),
}

/// The pieces of a program in order.
pub(super) struct Pieces<'a> {
    program: &'a Program,
    /// What they are pieces of.
    pub(super) of: Body,
    /// Each with its size, and where it begins if they lie one behind the other.
    list: Vec<(Piece, u64, u64)>,
    /// Routines that every excerpt has as a whole.
    whole: HashSet<Routine>,
    /// The place of each state in the order in which they are written.
    places: HashMap<State, usize>,
    /// Where the cursor is, if they are states.
    cursors: Cursors,
}

/// A stretch of a program as a program.
#[derive(Debug)]
pub struct Excerpt {
    /// It.
    pub program: Program,
    /// The size of its pieces, by which they compare with all pieces of the program.
    pub size: u64,
    /// Instructions that the program does not have, at the most; those of what all excerpts have in common aside.
    pub added: u64,
}

impl<'a> Pieces<'a> {
    /// Of the longest body of a program; other blocks of so much all together stay whole in each excerpt. `None` if it has no body.
    pub(super) fn of(program: &'a Program, most_whole: u64) -> Option<Pieces<'a>> {
        let mut bodies: Vec<(u64, Body)> = program
            .parsers
            .iter()
            .map(|(parser, data)| {
                let states = data.states.values();
                let size = states.map(|state| size::of_state(program, state)).sum();
                (size, Body::Parser(parser))
            })
            .collect();
        let blocks = program
            .blocks
            .iter()
            .filter_map(|block| block.body.routine());
        bodies.extend(blocks.map(|routine| {
            let size = size::of_block(program, &program.routines[routine].body);
            (size, Body::Routine(routine))
        }));
        bodies.sort_unstable();
        bodies.dedup();
        let (_, of) = bodies.pop()?;
        let mut pieces = Pieces {
            program,
            of,
            list: Vec::new(),
            whole: HashSet::new(),
            places: HashMap::new(),
            cursors: Cursors::default(),
        };
        match of {
            Body::Parser(parser) => {
                pieces.cursors = Cursors::new(program, parser);
                let data = &program.parsers[parser];
                for (place, state) in reverse_postorder(data).into_iter().enumerate() {
                    pieces.places.insert(state, place);
                    let size = size::of_state(program, &data.states[state]);
                    pieces.push(Piece::State(state), size);
                }
            }
            Body::Routine(routine) => pieces.statements(&program.routines[routine].body),
            Body::Tables => {}
        }
        let mut left = most_whole;
        for (size, body) in bodies {
            if let (Some(rest), Body::Routine(routine)) = (left.checked_sub(size), body) {
                left = rest;
                pieces.whole.insert(routine);
            }
        }
        Some(pieces)
    }

    fn push(&mut self, piece: Piece, size: u64) {
        let begins = self.size();
        self.list.push((piece, size, begins));
    }

    fn statements(&mut self, block: &Block) {
        for stmt in block {
            let size = match &stmt.kind {
                StmtKind::If { cond, .. } => size::of_condition(self.program, *cond),
                _ => size::of_block(self.program, std::slice::from_ref(stmt)),
            };
            self.push(Piece::Stmt(stmt.id), size);
            if let StmtKind::If {
                then, otherwise, ..
            } = &stmt.kind
            {
                self.statements(then);
                self.statements(otherwise);
            }
        }
    }

    /// The size of all.
    pub(super) fn size(&self) -> u64 {
        self.list
            .last()
            .map_or(0, |(_, size, begins)| begins + size)
    }

    /// Those that begin in a range. Edges over more than `part` lead to another function in the program too.
    pub(super) fn excerpt(&self, range: Range<u64>, part: u64) -> Excerpt {
        let first = self.list.partition_point(|piece| piece.2 < range.start);
        let end = self.list.partition_point(|piece| piece.2 < range.end);
        let taken = &self.list[first..end];
        let kept: HashSet<Piece> = taken.iter().map(|piece| piece.0).collect();
        let mut program = self.without_bodies();
        let mut added = 0;
        for parser in self.program.parsers.keys() {
            let states = taken.iter().filter_map(|piece| match piece.0 {
                Piece::State(state) if self.of == Body::Parser(parser) => Some(state),
                _ => None,
            });
            let states: Vec<State> = states.collect();
            let mut made = Made::new(self, &mut program, parser, &states);
            made.states(&mut program, part);
            added += made.added;
            let data = made.data;
            program.parsers.push(data);
        }
        for (routine, data) in &self.program.routines {
            let mut body = data.body.clone();
            let is_block = |b: &ir::PipelineBlock| b.body.routine() == Some(routine);
            if self.program.blocks.iter().any(is_block) && !self.whole.contains(&routine) {
                keep(&mut body, &kept);
            }
            program.routines[routine].body = body;
        }
        program.number_stmts();
        Excerpt {
            program,
            size: taken.iter().map(|piece| piece.1).sum(),
            added,
        }
    }

    /// The program without its parsers and its routines' bodies, which may be long.
    fn without_bodies(&self) -> Program {
        let of = self.program;
        let routines = of.routines.values().map(|data| ir::RoutineData {
            name: data.name.clone(),
            kind: data.kind,
            params: data.params.clone(),
            body: Block::new(),
            span: data.span,
        });
        Program {
            arch: of.arch.clone(),
            on_reject: of.on_reject,
            errors: of.errors.clone(),
            enums: of.enums.clone(),
            header_types: of.header_types.clone(),
            vars: of.vars.clone(),
            headers: of.headers.clone(),
            stacks: of.stacks.clone(),
            exprs: of.exprs.clone(),
            next_label: of.next_label,
            stmts: of.stmts,
            externs: of.externs.clone(),
            value_sets: of.value_sets.clone(),
            actions: of.actions.clone(),
            tables: of.tables.clone(),
            routines: routines.collect(),
            parsers: Default::default(),
            blocks: of.blocks.clone(),
            slots: of.slots.clone(),
            digests: of.digests.clone(),
            field_lists: of.field_lists.clone(),
            copies: of.copies,
        }
    }
}

/// Leaves these pieces of a block; what is kept in blocks of an `if` that is not stands in its place.
fn keep(block: &mut Block, kept: &HashSet<Piece>) {
    for mut stmt in std::mem::take(block) {
        let is_kept = kept.contains(&Piece::Stmt(stmt.id));
        if let StmtKind::If {
            then, otherwise, ..
        } = &mut stmt.kind
        {
            keep(then, kept);
            keep(otherwise, kept);
            if !is_kept {
                block.append(then);
                block.append(otherwise);
            }
        }
        if is_kept {
            block.push(stmt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    #[test]
    fn an_excerpt_is_a_program_with_the_states_taken() {
        let mut text = String::from(
            "program test reject stop\nheader_type t {\n    a: bit<8>;\n}\nvar x: bit<8>\nparser p start s0 {\n",
        );
        for i in 0..20 {
            let (next, far) = (i + 1, (i + 7).min(20));
            let _ = writeln!(
                text,
                "    state s{i} {{\n        select (x) {{\n            (8w1) -> s{next};\n            (8w2) -> s{far};\n            (_) -> accept;\n        }}\n    }}"
            );
        }
        text += "    state s20 {\n        goto accept;\n    }\n}\n";
        let program = ir::text::parse(&text).expect("a program");
        let pieces = Pieces::of(&program, 0).expect("pieces");
        let names = |excerpt: &Excerpt| -> Vec<String> {
            let parsers = excerpt.program.parsers.values();
            let states = parsers.flat_map(|parser| parser.states.values());
            let names = states.map(|state| state.name.to_string());
            names.filter(|name| name.starts_with('s')).collect()
        };
        let size = pieces.size();
        let half = pieces.excerpt(size / 4..size * 3 / 4, 0);
        assert!(ir::verify(&half.program).is_ok());
        let taken = names(&half);
        assert!((8..=12).contains(&taken.len()), "{taken:?}");
        assert!(half.size <= size / 2 + 10 && half.added == parser::ENTERING_AT);
        let base = pieces.excerpt(0..0, 0);
        assert!(ir::verify(&base.program).is_ok());
        assert_eq!((names(&base).len(), base.size), (0, 0));
        // What leads out of it may have been within one function.
        assert!(pieces.excerpt(size / 4..size * 3 / 4, size).added > 0);
    }
}
