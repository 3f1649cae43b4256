//! Lowers parser loops that skip attributes of known size to one statement with a table.
//!
//! Such a loop has a state that reads a tag and selects by it. Cases that lead back to it, through states that only
//! move the cursor by a constant, become entries of the table of a [`StmtKind::SkipAhead`] before the state. Neither
//! the code size nor a verifier's cost grows with their number.
//!
//! Guarantees: every other case remains, and so do the state's effects on the attribute at which the loop ends. A
//! packet that is too short fails at the same position. Cases also remain if an iteration has live effects other than
//! on the cursor, or if there are so few that comparisons are as good.

mod reading;

use crate::analysis::liveness::Liveness;
use crate::*;
use reading::Reading;
use std::collections::HashSet;

/// Least number of attributes in a table; fewer remain comparisons.
const LEAST: usize = 4;
/// Greatest width of a tag in bits: that of a register.
const WIDEST: u32 = 64;
/// Largest size of an attribute, in bytes.
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
            // Most states with a select are not in such a loop.
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

/// Inserts the table before a state, and removes the cases that it contains.
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
    // After the state's statements, as in the loop.
    let verify = StmtKind::Verify { cond, error };
    state.body.push(Stmt::new(verify, span));
    if let Transition::Select { cases: all, .. } = &mut state.transition {
        let mut number = 0..;
        all.retain(|_| number.next().is_none_or(|n| !cases.contains(&n)));
    }
}

/// A state that reads a tag and selects by it, without other effects than reads and computations.
struct Tagged<'a> {
    state: &'a StateData,
    cases: &'a [SelectCase],
    /// Offset of the tag from the cursor, and its width, in bits.
    tag: (u32, u32),
    reading: Reading,
}

/// A case that leads back to its state.
struct Returning {
    number: usize,
    tag: Bits,
    /// Distance in bytes from one tag to the next.
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

    /// Returns the cases that lead back to the state, each after a move by a constant. If liveness is given, only those
    /// without other live effects.
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
                        .then(|| self.iteration(program, parser, head, case.target, live))
                        .flatten()
                    {
                        let tag = tag.clone();
                        found.push(Returning { number, tag, bytes });
                    }
                }
                [other @ (Keyset::Mask(..) | Keyset::Range(..))] => others.push(other),
                // For later cases no value is left, or it is unknown which.
                _ => break,
            }
        }
        found
    }

    /// Returns the number of bytes by which an iteration through this target moves the cursor, if it leads back to the
    /// head.
    fn iteration(
        &self,
        program: &Program,
        parser: &ParserData,
        head: State,
        target: TransitionTarget,
        live: Option<&Liveness>,
    ) -> Option<u32> {
        let mut reading = self.reading.moves();
        let mut next = target;
        // A cycle without the head would not terminate.
        for _ in 0..parser.states.len() {
            let TransitionTarget::State(state) = next else {
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

    /// Returns true if the state's writes are dead at the start of the next iteration.
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

/// Returns true if a mask or range contains a value.
fn contains(keyset: &Keyset, value: &Bits) -> bool {
    let value = value.value();
    match keyset {
        Keyset::Mask(own, mask) => own.value() & mask.value() == value & mask.value(),
        Keyset::Range(from, to) => (from.value()..=to.value()).contains(&value),
        Keyset::Any | Keyset::Value(_) | Keyset::ValueSet(_) => false,
    }
}

/// Storage that a statement writes.
#[derive(Clone, Copy)]
enum Written {
    Var(Var),
    Field(Header, u32),
    Valid(Header),
}

/// Returns the storage that a statement writes, if it is of a kind that [`Reading`] can follow.
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
