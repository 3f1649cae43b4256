//! Copies of a state that selects by a variable, one for each value of the variable.

use super::member::{asks_for_byte, contains};
use super::turn::ByteEffects;
use crate::analysis::dataflow::targets;
use crate::passes::dce::targets_mut;
use crate::visit::Access;
use crate::*;
use std::collections::{BTreeMap, BTreeSet};

/// Copies a state that reads a byte and selects by it and a variable: once for each constant that the variable has on
/// an edge to it. Such edges then lead to the copies; other edges still lead to the original. Returns the copies.
/// Returns `None` if the state cannot be copied; some copies may then exist already.
pub(super) fn copy(
    program: &mut Program,
    parser: Parser,
    state: State,
    (var, key): (Var, usize),
) -> Option<Vec<State>> {
    let states = &program.parsers[parser].states;
    let asks = |(asking, data): (State, &StateData)| {
        let (_, behind) = asks_for_byte(program, data)?;
        (behind == state).then_some(asking)
    };
    // If only one state tests for the byte, the edges to that state count.
    let asking = match &super::leading_to(states, state)[..] {
        [only] if program.parsers[parser].start != state => asks((*only, &states[*only])),
        _ => None,
    };
    let head = asking.unwrap_or(state);
    let mut edges: Vec<(State, Option<Bits>)> = Vec::new();
    for (from, data) in states {
        if targets(&data.transition).contains(&TransitionTarget::State(head)) {
            edges.push((from, last_value(program, &data.body, var)));
        }
    }
    let values: BTreeSet<Bits> = edges
        .iter()
        .filter_map(|(_, value)| value.clone())
        .collect();
    if values.is_empty() || values.len() > Automaton::MOST_STATES {
        return None;
    }
    let mut copies = BTreeMap::new();
    for value in values {
        let of_value = copy_for(program, parser, state, (var, key), &value)?;
        let copy = match asking {
            None => of_value,
            Some(asking) => {
                let states = &mut program.parsers[parser].states;
                let mut data = states[asking].clone();
                lead(&mut data.transition, state, of_value);
                states.push(data)
            }
        };
        // A loop back to the state itself does not change the variable.
        lead(
            &mut program.parsers[parser].states[of_value].transition,
            head,
            copy,
        );
        copies.insert(value, copy);
    }
    for (from, value) in edges {
        if let Some(copy) = value.and_then(|value| copies.get(&value)) {
            lead(
                &mut program.parsers[parser].states[from].transition,
                head,
                *copy,
            );
        }
    }
    Some(copies.into_values().collect())
}

/// Returns the variable that a state selects by without writing it, and the key's index. Returns `None` unless the
/// state reads a byte and there is exactly one such variable.
pub(super) fn remembering(program: &Program, state: &StateData) -> Option<(Var, usize)> {
    let Transition::Select { keys, cases } = &state.transition else {
        return None;
    };
    let reads = ByteEffects::of(program, &state.body)?.has_read();
    // A keyset of a value set covers several keys.
    if !reads || cases.iter().any(|case| case.keysets.len() != keys.len()) {
        return None;
    }
    let mut written = BTreeSet::new();
    for stmt in &state.body {
        visit::accesses(program, &stmt.kind, |access| {
            if let Access::Write(Place::Var(var)) = access {
                written.insert(var);
            }
        });
    }
    let mut found = keys.iter().enumerate().filter_map(|(number, &key)| {
        let ExprKind::Var(var) = program.exprs[key].kind else {
            return None;
        };
        (!written.contains(&var)).then_some((var, number))
    });
    let only = found.next()?;
    found.next().is_none().then_some(only)
}

/// Returns the constant that statements leave in a variable, if they do.
fn last_value(program: &Program, body: &[Stmt], var: Var) -> Option<Bits> {
    for stmt in body.iter().rev() {
        if let StmtKind::Assign {
            dst: Place::Var(dst),
            value,
        } = stmt.kind
        {
            if dst == var {
                return Some(eval::constant(program, value)?.to_bits());
            }
            continue;
        }
        let mut is_written = false;
        let mut write = |stmt: &Stmt| {
            visit::accesses(program, &stmt.kind, |access| {
                is_written |= matches!(access, Access::Write(Place::Var(dst)) if dst == var);
            });
        };
        visit::walk_block(std::slice::from_ref(stmt), &mut write);
        if is_written {
            return None;
        }
    }
    None
}

/// Creates the copy for one value of the variable. It first assigns that value.
fn copy_for(
    program: &mut Program,
    parser: Parser,
    state: State,
    (var, key): (Var, usize),
    value: &Bits,
) -> Option<State> {
    let mut data = program.parsers[parser].states[state].clone();
    let (ty, span) = (program.vars[var].ty, data.span);
    let number = value.to_u64()?;
    let value = build::value(program, &Value::from_bits(value, ty), ty, span)?;
    let dst = Place::Var(var);
    data.body
        .insert(0, Stmt::new(StmtKind::Assign { dst, value }, span));
    data.name = format!("{}_{number}", data.name).into();
    if let Transition::Select { keys, cases } = &mut data.transition {
        keys.remove(key);
        let mut all = Vec::new();
        for mut case in std::mem::take(cases) {
            if contains(&case.keysets.remove(key), number)? {
                all.push(case);
            }
        }
        *cases = all;
    }
    let is_whole = matches!(&data.transition, Transition::Select { keys, .. } if !keys.is_empty());
    is_whole.then(|| program.parsers[parser].states.push(data))
}

/// Redirects the edges to one state to another.
fn lead(transition: &mut Transition, from: State, to: State) {
    for target in targets_mut(transition) {
        if *target == TransitionTarget::State(from) {
            *target = TransitionTarget::State(to);
        }
    }
}
