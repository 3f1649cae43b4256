//! Excerpts of a program: a stretch of its pieces as a program of its own.
//!
//! Pieces are the states of parsers and the statements of the blocks behind them. In an excerpt each takes about what it takes in the program
//! when that is cut into functions: variables are in memory, so it does not matter what comes before. States that a packet meets only
//! by others that are left out follow the excerpt's first state, which goes on to one of them by the packet's first bytes. Edges to states that
//! are left out lead to a few others that each set a variable, so that there are as many different ways out of a state as there were. All of these are
//! in the program without any piece too.

use super::Body;
use diag::Span;
use emit::plan::cursor::{Cursor, Cursors};
use emit::plan::size;
use ir::analysis::dataflow::reverse_postorder;
use ir::{
    Bits, Block, Expr, ExprData, ExprKind, Keyset, Parser, ParserData, Place, Program, Routine,
    SelectCase, State, StateData, Stmt, StmtId, StmtKind, Target, Transition, Type, Var, VarData,
};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// States for edges that lead out of an excerpt.
const EXITS: usize = 32;

/// Instructions of an edge to another function, of which one within a function needs none.
const LEAVING: u64 = 3;

/// Instructions of an edge from the first state.
const ENTERING: u64 = 4;

/// Instructions of an edge from the first state that moves on by a constant.
const ENTERING_AT: u64 = 16;

/// Bits of the packet that decide which state follows the first.
const WAYS: u32 = 16;

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

/// A parser of an excerpt, as far as it is made.
struct Made<'a> {
    pieces: &'a Pieces<'a>,
    parser: Parser,
    taken: &'a [State],
    data: ParserData,
    /// The states of the program that it has.
    new: HashMap<State, State>,
    /// Where the cursor is somewhere.
    moved: State,
    exits: Vec<State>,
    /// The bits of the packet that decide which state follows the first.
    way: Expr,
    added: u64,
}

impl<'a> Made<'a> {
    /// The first state, whose transition is still to be made, and those for edges out of the excerpt.
    fn new(
        pieces: &'a Pieces<'a>,
        program: &mut Program,
        parser: Parser,
        taken: &'a [State],
    ) -> Made<'a> {
        let of = &pieces.program.parsers[parser];
        let span = of.span;
        let (way, way_read) = variable(program, "way", WAYS, span);
        let (exit, exit_read) = variable(program, "exit", 8, span);
        let bytes = push(program, ExprKind::Cast(way_read), 32, span);
        let three = push(program, ExprKind::Const(Bits::new(32, 3u32)), 32, span);
        let bits = ExprKind::Binary(ir::BinaryOp::Shl, bytes, three);
        let bits = push(program, bits, 32, span);
        let look = StmtKind::Lookahead {
            place: Place::Var(way),
            skip: 0,
        };
        let mut data = ParserData {
            name: of.name.clone(),
            states: Default::default(),
            start: State::from_u32(0),
            span,
        };
        let accept = Transition::To(Target::Accept);
        let look = vec![Stmt::new(look, span)];
        data.start = data.states.push(state("begin", look, accept.clone(), span));
        let advance = vec![Stmt::new(StmtKind::Advance(bits), span)];
        let moved = data.states.push(state("moved", advance, accept, span));
        let cases = vec![
            case(Some((8, 1)), Target::Accept, span),
            case(None, Target::Reject, span),
        ];
        let end = Transition::Select {
            keys: vec![exit_read],
            cases,
        };
        let end = data.states.push(state("end", Block::new(), end, span));
        let exits = (0..EXITS)
            .map(|number| {
                let value = ExprKind::Const(Bits::new(8, number as u32));
                let value = push(program, value, 8, span);
                let set = StmtKind::Assign {
                    dst: Place::Var(exit),
                    value,
                };
                let body = vec![Stmt::new(set, span)];
                let name = format!("exit_{number}");
                let to_end = Transition::To(Target::State(end));
                data.states.push(state(&name, body, to_end, span))
            })
            .collect();
        Made {
            pieces,
            parser,
            taken,
            data,
            new: HashMap::new(),
            moved,
            exits,
            way: way_read,
            added: 0,
        }
    }

    /// Adds the states that are taken.
    fn states(&mut self, program: &mut Program, part: u64) {
        let of = &self.pieces.program.parsers[self.parser];
        for &old in self.taken {
            let data = &of.states[old];
            let copy = StateData {
                rare: data.rare,
                ..state(
                    &data.name,
                    data.body.clone(),
                    data.transition.clone(),
                    data.span,
                )
            };
            self.new.insert(old, self.data.states.push(copy));
        }
        let mut entered: HashSet<State> = HashSet::new();
        for &old in self.taken {
            let mut transition = of.states[old].transition.clone();
            let targets: Vec<&mut Target> = match &mut transition {
                Transition::To(target) => vec![target],
                Transition::Select { cases, .. } => {
                    cases.iter_mut().map(|case| &mut case.target).collect()
                }
            };
            for target in targets {
                let Target::State(to) = target else {
                    continue;
                };
                match self.new.get(to) {
                    Some(new) => {
                        if self.place(*to) > self.place(old) {
                            entered.insert(*to);
                        }
                        *target = Target::State(*new);
                    }
                    None => {
                        if self.distance(old, *to) <= part {
                            self.added += LEAVING;
                        }
                        let exit = self.exits[self.place(*to) % EXITS];
                        *target = Target::State(exit);
                    }
                }
            }
            let new = self.new[&old];
            self.data.states[new].transition = transition;
        }
        let alone = self.taken.iter().filter(|state| !entered.contains(state));
        let (mut first, mut ways) = (Vec::new(), Vec::new());
        for &old in alone {
            let new = self.new[&old];
            match self.pieces.cursors.at_state(old) {
                Some(Cursor::Const(at)) => first.push(self.moved_by(program, at, new)),
                _ => ways.push(new),
            }
        }
        if first.is_empty() && ways.is_empty() {
            ways.clone_from(&self.exits);
        }
        self.added += ENTERING_AT * first.len() as u64;
        self.added += ENTERING * ways.len().saturating_sub(EXITS) as u64;
        let to_moved = Target::State(self.moved);
        self.select(self.data.start, first, to_moved);
        self.select(self.moved, ways, Target::Reject);
    }

    /// A state that moves on by so many bytes, and goes on to another.
    fn moved_by(&mut self, program: &mut Program, bytes: u32, to: State) -> State {
        let span = self.data.span;
        let bits = ExprKind::Const(Bits::new(32, u64::from(bytes) * 8));
        let bits = push(program, bits, 32, span);
        let body = vec![Stmt::new(StmtKind::Advance(bits), span)];
        let to = Transition::To(Target::State(to));
        self.data.states.push(state("moved_by", body, to, span))
    }

    /// Has a state go on to one of these by the packet's first bits, or else elsewhere.
    fn select(&mut self, state: State, ways: Vec<State>, otherwise: Target) {
        let span = self.data.span;
        let mut cases: Vec<SelectCase> = ways
            .into_iter()
            .enumerate()
            .map(|(value, to)| case(Some((WAYS, value as u32)), Target::State(to), span))
            .collect();
        cases.push(case(None, otherwise, span));
        self.data.states[state].transition = Transition::Select {
            keys: vec![self.way],
            cases,
        };
    }

    fn place(&self, state: State) -> usize {
        let place = self.pieces.places.get(&state);
        place.copied().unwrap_or_default()
    }

    /// How far one state lies from another.
    fn distance(&self, from: State, to: State) -> u64 {
        let begins = |state| self.pieces.list[self.place(state)].2;
        begins(from).abs_diff(begins(to))
    }
}

fn state(name: &str, body: Block, transition: Transition, span: Span) -> StateData {
    StateData {
        name: name.into(),
        body,
        transition,
        rare: false,
        span,
    }
}

/// A case for a value of so many bits, or for all others.
fn case(value: Option<(u32, u32)>, target: Target, span: Span) -> SelectCase {
    let keyset = match value {
        Some((width, value)) => Keyset::Value(Bits::new(width, value)),
        None => Keyset::Any,
    };
    SelectCase {
        keysets: vec![keyset],
        target,
        span,
    }
}

fn variable(program: &mut Program, name: &str, width: u32, span: Span) -> (Var, Expr) {
    let var = program.vars.push(VarData {
        name: name.into(),
        ty: Type::bit(width),
        span,
    });
    (var, push(program, ExprKind::Var(var), width, span))
}

fn push(program: &mut Program, kind: ExprKind, width: u32, span: Span) -> Expr {
    program.exprs.push(ExprData {
        kind,
        ty: Type::bit(width),
        span,
    })
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
        assert!(half.size <= size / 2 + 10 && half.added == ENTERING_AT);
        let base = pieces.excerpt(0..0, 0);
        assert!(ir::verify(&base.program).is_ok());
        assert_eq!((names(&base).len(), base.size), (0, 0));
        // What leads out of it may have been within one function.
        assert!(pieces.excerpt(size / 4..size * 3 / 4, size).added > 0);
    }
}
