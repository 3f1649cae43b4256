//! Parser loops that skip attributes of known size become one statement with a table.
//!
//! A state reads a tag and selects by it; cases that lead back, by states that only move on by a constant, are entries of
//! the table of a [`StmtKind::SkipAhead`] in front of the state. Its cost does not grow with their number, neither in code nor for
//! the verifier of a target. Guarantees: every other case stays, and so does what the state does with the attribute at
//! which the loop ends; a packet that is too short is so at the same place. Cases stay, too, if anything else is left of a turn
//! than where the cursor is, and if there are so few that comparing is as good.

mod reading;

use crate::analysis::liveness::Liveness;
use crate::*;
use reading::Reading;
use std::collections::HashSet;

/// Fewer attributes stay comparisons.
const LEAST: usize = 4;
/// Tags fit into a register.
const WIDEST: u32 = 64;
/// The largest size of an attribute, in bytes.
const LARGEST: u32 = u16::MAX as u32;

/// Runs the pass.
pub fn run(program: &mut Program) {
    let Some(too_short) = program.errors.iter().position(|e| e == "PacketTooShort") else {
        return;
    };
    let mut found = Vec::new();
    let mut live = None;
    for (parser, data) in &program.parsers {
        for head in data.states.keys() {
            let Some(tagged) = Tagged::of(program, &data.states[head]) else {
                continue;
            };
            // Most states that select lead back nowhere.
            if tagged.returning(program, data, head, None).len() < LEAST {
                continue;
            }
            let live = live.get_or_insert_with(|| Liveness::new(program));
            if tagged.leaves_nothing(program, live, head) {
                let cases = tagged.returning(program, data, head, Some(live));
                if cases.len() >= LEAST {
                    found.push((parser, head, tagged.table(&cases), cases));
                }
            }
        }
    }
    for (parser, head, table, cases) in found {
        let cases: HashSet<usize> = cases.into_iter().map(|case| case.number).collect();
        replace(program, parser, head, table, &cases, too_short as u32);
    }
}

/// Puts the table in front of a state, whose cases in the table go.
fn replace(
    program: &mut Program,
    parser: Parser,
    head: State,
    table: SkipTable,
    cases: &HashSet<usize>,
    too_short: u32,
) {
    let span = program.parsers[parser].states[head].span;
    let short = program.vars.push(VarData {
        name: "cut_short".into(),
        ty: Type::Bool,
        span,
    });
    let whole = build::var(program, short, span);
    let cond = build::not(program, whole);
    let error = build::make(program, ExprKind::Member(too_short), Type::Error, span);
    let state = &mut program.parsers[parser].states[head];
    let skip = StmtKind::SkipAhead { table, short };
    state.body.insert(0, Stmt::new(skip, span));
    // Behind what the state does, as in the loop.
    let verify = StmtKind::Verify { cond, error };
    state.body.push(Stmt::new(verify, span));
    if let Transition::Select { cases: all, .. } = &mut state.transition {
        let mut number = 0..;
        all.retain(|_| number.next().is_none_or(|n| !cases.contains(&n)));
    }
}

/// A state that reads a tag and selects by it, and does nothing else but read and compute.
struct Tagged<'a> {
    state: &'a StateData,
    cases: &'a [SelectCase],
    /// Where the tag begins behind the cursor, and how many bits it has.
    tag: (u32, u32),
    reading: Reading,
}

/// A case that leads back to its state.
struct Returning {
    number: usize,
    tag: Bits,
    /// Bytes from one tag to the next.
    bytes: u32,
}

impl<'a> Tagged<'a> {
    fn of(program: &Program, state: &'a StateData) -> Option<Tagged<'a>> {
        let Transition::Select { keys, cases } = &state.transition else {
            return None;
        };
        let [key] = keys[..] else { return None };
        let mut reading = Reading::default();
        for stmt in &state.body {
            reading.stmt(program, stmt)?;
        }
        let tag = reading.place_of(program, key)?;
        ((1..=WIDEST).contains(&tag.1)).then_some(Tagged {
            state,
            cases,
            tag,
            reading,
        })
    }

    /// The cases that lead back to the state, each after a move by a constant. With liveness, only those of which nothing
    /// else is left.
    fn returning(
        &self,
        program: &Program,
        parser: &ParserData,
        head: State,
        live: Option<&Liveness>,
    ) -> Vec<Returning> {
        let mut found = Vec::new();
        let mut values = HashSet::new();
        let mut others: Vec<&Keyset> = Vec::new();
        for (number, case) in self.cases.iter().enumerate() {
            match &case.keysets[..] {
                [Keyset::Value(tag)] => {
                    let first = values.insert(tag) && !others.iter().any(|o| contains(o, tag));
                    if let Some(bytes) = first
                        .then(|| self.turn(program, parser, head, case.target, live))
                        .flatten()
                    {
                        let tag = tag.clone();
                        found.push(Returning { number, tag, bytes });
                    }
                }
                [other @ (Keyset::Mask(..) | Keyset::Range(..))] => others.push(other),
                // Behind them no value is left, or nobody knows which.
                _ => break,
            }
        }
        found
    }

    /// Bytes that a turn through this target moves on by, if it leads back.
    fn turn(
        &self,
        program: &Program,
        parser: &ParserData,
        head: State,
        target: Target,
        live: Option<&Liveness>,
    ) -> Option<u32> {
        let mut reading = self.reading.moves();
        let mut next = target;
        // A circle without the head has no end.
        for _ in 0..parser.states.len() {
            let Target::State(state) = next else {
                return None;
            };
            if state == head {
                return reading.bytes(program.on_reject);
            }
            let data = &parser.states[state];
            let Transition::To(to) = data.transition else {
                return None;
            };
            if data.rare {
                return None;
            }
            for stmt in &data.body {
                reading.stmt(program, stmt)?;
                let lives = |storage| match storage {
                    Written::Var(var) => live.is_some_and(|l| l.var(stmt, var)),
                    Written::Field(h, f) => live.is_some_and(|l| l.field(stmt, h, f)),
                    Written::Valid(h) => live.is_some_and(|l| l.valid(stmt, h)),
                };
                if written(program, stmt).into_iter().any(lives) {
                    return None;
                }
            }
            next = to;
        }
        None
    }

    /// Whether nobody asks for what the state wrote in the turn before.
    fn leaves_nothing(&self, program: &Program, live: &Liveness, head: State) -> bool {
        let mut all = self.state.body.iter().flat_map(|s| written(program, s));
        !all.any(|storage| match storage {
            Written::Var(var) => live.var_in_state(head, var),
            Written::Field(h, f) => live.field_in_state(head, h, f),
            Written::Valid(h) => live.valid_in_state(head, h),
        })
    }

    fn table(&self, cases: &[Returning]) -> SkipTable {
        let mut sizes: Vec<(Bits, u32)> = cases.iter().map(|c| (c.tag.clone(), c.bytes)).collect();
        sizes.sort_by(|(a, _), (b, _)| a.value().cmp(b.value()));
        let (skip, width) = self.tag;
        SkipTable { skip, width, sizes }
    }
}

/// Whether a mask or range has a value.
fn contains(keyset: &Keyset, value: &Bits) -> bool {
    let value = value.value();
    match keyset {
        Keyset::Mask(own, mask) => own.value() & mask.value() == value & mask.value(),
        Keyset::Range(from, to) => (from.value()..=to.value()).contains(&value),
        Keyset::Any | Keyset::Value(_) | Keyset::ValueSet(_) => false,
    }
}

/// Something that a statement writes.
#[derive(Clone, Copy)]
enum Written {
    Var(Var),
    Field(Header, u32),
    Valid(Header),
}

/// What one of the statements that [`Reading`] follows writes.
fn written(program: &Program, stmt: &Stmt) -> Vec<Written> {
    match stmt.kind {
        StmtKind::Assign { dst: place, .. }
        | StmtKind::Lookahead { place, .. }
        | StmtKind::PacketLength(place) => match place {
            Place::Var(var) => vec![Written::Var(var)],
            Place::Field(HeaderRef::Header(h), f) => vec![Written::Field(h, f)],
            Place::Field(HeaderRef::Element(..), _) => Vec::new(),
        },
        StmtKind::Extract {
            header: HeaderRef::Header(h),
            ..
        } => {
            let fields = program.header_types[program.headers[h].ty].fields.len();
            let mut all = vec![Written::Valid(h)];
            all.extend((0..fields).map(|f| Written::Field(h, f as u32)));
            all
        }
        _ => Vec::new(),
    }
}
