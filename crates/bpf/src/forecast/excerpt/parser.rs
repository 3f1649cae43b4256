//! The parser of an excerpt: the states that are taken, and what leads to them and from them.

use super::Pieces;
use diag::Span;
use emit::plan::cursor::Cursor;
use ir::{
    Bits, Block, Expr, ExprData, ExprKind, Keyset, Parser, ParserData, Place, Program, SelectCase,
    State, StateData, Stmt, StmtKind, Target, Transition, Type, Var, VarData,
};
use std::collections::{HashMap, HashSet};

/// States for edges that lead out of an excerpt.
const EXITS: usize = 32;

/// Instructions of an edge to another function, of which one within a function needs none.
const LEAVING: u64 = 3;

/// Instructions of an edge from the first state.
const ENTERING: u64 = 4;

/// Instructions of an edge from the first state that moves on by a constant.
pub(super) const ENTERING_AT: u64 = 16;

/// Bits of the packet that decide which state follows the first.
const WAYS: u32 = 16;

/// A parser of an excerpt, as far as it is made.
pub(super) struct Made<'a> {
    pieces: &'a Pieces<'a>,
    parser: Parser,
    taken: &'a [State],
    pub(super) data: ParserData,
    /// The states of the program that it has.
    new: HashMap<State, State>,
    /// Where the cursor is somewhere.
    moved: State,
    exits: Vec<State>,
    /// The bits of the packet that decide which state follows the first.
    way: Expr,
    pub(super) added: u64,
}

impl<'a> Made<'a> {
    /// The first state, whose transition is still to be made, and those for edges out of the excerpt.
    pub(super) fn new(
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
    pub(super) fn states(&mut self, program: &mut Program, part: u64) {
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
