//! A state that reads a byte and selects by it.

use super::turn::ByteEffects;
use crate::*;
use cranelift_entity::PrimaryMap;
use std::collections::{BTreeMap, BTreeSet};

/// State that may be part of an automaton, with its effects and successors.
#[derive(Clone, Debug)]
pub(super) struct AutomatonState {
    /// Effects before it selects.
    pub(super) effects: ByteEffects,
    /// If this state only tests for a byte: the variable with the answer, and the state that reads the byte.
    pub(super) asked: Option<(Var, State)>,
    /// Values of counters, after the count, for which the state may have another successor than `row`. These counters
    /// change by 1 or -1.
    pub(super) ends: BTreeSet<Counted>,
    /// For each successor, those of these values for which every byte that leads to it has another successor.
    pub(super) certain: BTreeMap<State, BTreeSet<Counted>>,
    /// Successors for such values.
    pub(super) ended: BTreeSet<State>,
    /// Successor for each byte otherwise, if it is a state.
    pub(super) row: [Option<State>; 256],
    /// Paths from the successors to the next byte.
    pub(super) leads: BTreeMap<State, Lead>,
}

/// A counter and its value.
pub(super) type Counted = (Var, Bits);

/// Path from one byte to the next.
#[derive(Clone, Debug)]
pub(super) struct Lead {
    /// State that reads the next byte.
    pub(super) to: State,
    /// States between.
    pub(super) passing: Vec<State>,
    /// Effects along the path.
    pub(super) effects: ByteEffects,
}

impl AutomatonState {
    /// Returns the states that read the next byte after this one.
    pub(super) fn next(&self) -> BTreeSet<State> {
        let of = |target: &State| Some(self.leads.get(target)?.to);
        self.row.iter().flatten().filter_map(of).collect()
    }
}

/// Bits of the byte: offset of the lowest bit, and number of bits.
type Window = (u32, u32);

/// Analyses a state; `None` if it cannot be part of an automaton.
pub(super) fn of(
    program: &Program,
    states: &PrimaryMap<State, StateData>,
    state: &StateData,
) -> Option<AutomatonState> {
    let Transition::Select { keys, cases } = &state.transition else {
        return None;
    };
    let effects = ByteEffects::of(program, &state.body)?;
    if state.rare || !effects.has_read() {
        return None;
    }
    let mut member = AutomatonState {
        effects,
        asked: None,
        ends: BTreeSet::new(),
        certain: BTreeMap::new(),
        ended: BTreeSet::new(),
        row: [None; 256],
        leads: BTreeMap::new(),
    };
    let mut windows: Vec<Result<Window, Var>> = Vec::new();
    for &key in keys {
        windows.push(member.key(program, key)?);
    }
    for byte in 0..=u8::MAX {
        let mut certain = BTreeSet::new();
        let target = member.target(&windows, cases, byte, &mut certain)?;
        if let Some(TransitionTarget::State(next)) = target {
            member.row[usize::from(byte)] = Some(next);
            let all = member
                .certain
                .entry(next)
                .or_insert_with(|| certain.clone());
            all.retain(|one| certain.contains(one));
        }
    }
    let targets: BTreeSet<State> = member
        .row
        .iter()
        .flatten()
        .chain(&member.ended)
        .copied()
        .collect();
    for target in targets {
        if let Some(lead) = member.lead(program, states, target) {
            member.leads.insert(target, lead);
        }
    }
    Some(member)
}

/// Returns the answer's variable and the successor for a byte, if a state only tests whether a byte is left.
pub(super) fn asks_for_byte(program: &Program, state: &StateData) -> Option<(Var, State)> {
    let [stmt] = &state.body[..] else { return None };
    let StmtKind::Fits { bits, fits } = stmt.kind else {
        return None;
    };
    let Transition::Select { keys, cases } = &state.transition else {
        return None;
    };
    let ([key], [there, _]) = (&keys[..], &cases[..]) else {
        return None;
    };
    let asks = program.exprs[*key].kind == ExprKind::Var(fits)
        && there.keysets == [Keyset::Value(Bits::new(1, 1u32))]
        && eval::constant(program, bits)?.to_bits().to_u64() == Some(8)
        && !state.rare;
    match there.target {
        TransitionTarget::State(behind) if asks => Some((fits, behind)),
        _ => None,
    }
}

impl AutomatonState {
    /// Returns the path from a target of the select to the next byte, through states with one successor. Returns `None`
    /// if the path does not take this byte.
    fn lead(
        &self,
        program: &Program,
        states: &PrimaryMap<State, StateData>,
        target: State,
    ) -> Option<Lead> {
        let mut lead = Lead {
            to: target,
            passing: Vec::new(),
            effects: self.effects.clone(),
        };
        while lead.passing.len() < MOST_PASSING {
            let state = &states[lead.to];
            let mut effects = lead.effects.clone();
            let next = match state.transition {
                Transition::To(TransitionTarget::State(next))
                    if !state.rare && effects.go_on(program, &state.body).is_some() =>
                {
                    next
                }
                // The byte was read, so it is present.
                _ if !effects.has_taken() => {
                    let (fits, behind) = asks_for_byte(program, state)?;
                    effects.answered(fits);
                    behind
                }
                _ => break,
            };
            lead.effects = effects;
            lead.passing.push(lead.to);
            lead.to = next;
        }
        lead.effects.has_taken().then_some(lead)
    }

    /// Classifies a key: bits of the byte, or a counter.
    fn key(&self, program: &Program, key: Expr) -> Option<Result<Window, Var>> {
        match program.exprs[key].kind {
            ExprKind::Var(var) if self.effects.is_byte(var) => Some(Ok((0, 8))),
            ExprKind::Var(var) => self.effects.counters.contains_key(&var).then_some(Err(var)),
            ExprKind::Field(header @ HeaderRef::Header(own), field)
                if self.effects.headers.contains(&own) =>
            {
                let layout = program.header_layout(header)?;
                let behind = layout.fields[field as usize + 1..].iter();
                let shift = behind.map(|field| field.ty.width()).sum();
                Some(Ok((shift, layout.fields[field as usize].ty.width())))
            }
            ExprKind::Slice { base, hi, lo } => match self.key(program, base)? {
                Ok((shift, _)) => Some(Ok((shift + lo, hi - lo + 1))),
                Err(_) => None,
            },
            _ => None,
        }
    }

    /// Returns the target for a byte while no counter has a final value. Adds the final values to `ends`, and to
    /// `certain` those that change the target of this byte in any case. Returns `None` if the target is unknown.
    fn target(
        &mut self,
        keys: &[Result<Window, Var>],
        cases: &[SelectCase],
        byte: u8,
        certain: &mut BTreeSet<Counted>,
    ) -> Option<Option<TransitionTarget>> {
        for case in cases {
            if case.keysets.len() != keys.len() {
                // A value set covers several keys.
                return None;
            }
            let (mut matches, mut ends) = (true, Vec::new());
            for (key, keyset) in keys.iter().zip(&case.keysets) {
                match (key, keyset) {
                    (_, Keyset::Any) => {}
                    (Ok((shift, width)), _) => {
                        let bits = u64::from(byte) >> shift & (u64::MAX >> (64 - width));
                        matches &= contains(keyset, bits)?;
                    }
                    (Err(counter), Keyset::Value(end)) => ends.push((*counter, end.clone())),
                    (Err(_), _) => return None,
                }
            }
            if !matches {
                continue;
            }
            let Some((counter, end)) = ends.pop() else {
                return Some(Some(case.target));
            };
            // If a case tests several counters, it suffices to stop for one.
            let step = self.effects.counters.get(&counter)?;
            let is_one = |bits: Bits| *step == bits;
            let width = step.width();
            if !(is_one(Bits::new(width, 1u32)) || is_one(Bits::ones(width))) {
                return None;
            }
            if ends.is_empty() {
                certain.insert((counter, end.clone()));
            }
            self.ends.insert((counter, end));
            if let TransitionTarget::State(next) = case.target {
                self.ended.insert(next);
            }
        }
        Some(None)
    }
}

/// Greatest number of states between one that selects and the next one.
const MOST_PASSING: usize = 4;

/// Returns true if a number is in a set; `None` if the set is unknown.
pub(super) fn contains(keyset: &Keyset, value: u64) -> Option<bool> {
    let number = |bits: &Bits| bits.to_u64();
    Some(match keyset {
        Keyset::Any => true,
        Keyset::Value(one) => value == number(one)?,
        Keyset::Mask(one, mask) => value & number(mask)? == number(one)? & number(mask)?,
        Keyset::Range(from, to) => (number(from)?..=number(to)?).contains(&value),
        Keyset::ValueSet(_) => return None,
    })
}
