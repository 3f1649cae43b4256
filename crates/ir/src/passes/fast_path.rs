//! The fast path of a program: a program for the packets that meet no parser state marked `@rare`.
//!
//! Where a program can do much and most packets need little of it, what is known about the few is not known about
//! all: a header that may be there, however seldom, must be asked for by everything behind the parser. So a target
//! may compile a program twice, once without its rare states, and switch to the full program where a packet
//! comes to one of them. Restarting at the packet's first byte costs nothing as long as the parser has had no side
//! effects.
//!
//! Guarantees: a packet that is not sent to [`Target::Rare`] is processed as in the full program; until it is
//! sent there nothing observable has happened. Tables, externs and value sets keep their numbers.
//! This is no member of [`super::PASSES`]: it makes a second program, for the passes to run on.

use crate::*;

/// The fast path; `None` if there is nothing rare, or a packet could not restart.
pub fn of(program: &Program) -> Option<Program> {
    let mut fast = program.clone();
    let mut cut = false;
    for parser in fast.parsers.values_mut() {
        let rare: Vec<bool> = parser.states.values().map(|state| state.rare).collect();
        let start = parser.start;
        let turn = |target: &mut Target| {
            if let Target::State(state) = target
                && *state != start
                && rare.get(state.as_u32() as usize) == Some(&true)
            {
                *target = Target::Rare;
                true
            } else {
                false
            }
        };
        for state in parser.states.values_mut() {
            cut |= match &mut state.transition {
                Transition::To(target) => turn(target),
                Transition::Select { cases, .. } => {
                    let turned = cases.iter_mut().filter_map(|case| {
                        let turned = turn(&mut case.target);
                        turned.then_some(())
                    });
                    turned.count() > 0
                }
            };
        }
    }
    (cut && !leaves_traces(program)).then_some(fast)
}

/// Whether a parser calls an extern: what that does would happen twice. Routines that parsers call are recognised by
/// their calls, since nothing is inlined yet.
fn leaves_traces(program: &Program) -> bool {
    let mut open: Vec<&Block> = Vec::new();
    for parser in program.parsers.values() {
        open.extend(parser.states.values().map(|state| &state.body));
    }
    let mut seen = vec![false; program.routines.len()];
    while let Some(block) = open.pop() {
        let mut traces = false;
        visit::walk_block(block, &mut |stmt| match &stmt.kind {
            StmtKind::Extern(_) => traces = true,
            StmtKind::Call(routine, _)
                if !std::mem::replace(&mut seen[routine.as_u32() as usize], true) =>
            {
                open.push(&program.routines[*routine].body);
            }
            _ => {}
        });
        if traces {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parser(states: &str) -> Option<String> {
        let text = format!("program test reject stop\nparser p start start {{\n{states}\n}}\n");
        let program = crate::text::parse(&text).unwrap();
        of(&program).map(|p| p.to_string())
    }

    #[test]
    fn edges_to_rare_states_lead_to_the_full_program() {
        let fast = parser("state start { goto odd; } state odd rare { goto accept; }").unwrap();
        assert!(fast.contains("goto rare;"), "{fast}");
    }

    #[test]
    fn a_program_without_rare_states_has_no_fast_path() {
        assert_eq!(parser("state start { goto accept; }"), None);
    }

    #[test]
    fn the_state_that_all_packets_meet_is_not_rare() {
        assert_eq!(parser("state start rare { goto start; }"), None);
    }
}
