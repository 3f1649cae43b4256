//! Fast path of a program: a second program for packets that reach no parser state marked `@rare`.
//!
//! In a large program, a rare header weakens what is known about all packets: all code after the parser must test for
//! it. So a target may compile a program twice, the second time without its rare states. A packet that reaches a rare
//! state restarts in the full program. A restart at the packet's first byte is cheap if the parser has had no side
//! effects.
//!
//! Guarantees: a packet that is not sent to [`TransitionTarget::Rare`] is processed as in the full program. Before a
//! packet is sent there, no observable effect occurs. Tables, externs and value sets keep their numbers. This is not
//! one of [`super::PASSES`]: it makes a second program, on which the passes run.

use crate::*;

/// Returns the fast path; `None` if no state is rare, or a packet could not restart.
pub fn of(program: &Program) -> Option<Program> {
    let mut fast = program.clone();
    let mut cut = false;
    for parser in fast.parsers.values_mut() {
        let rare: Vec<bool> = parser.states.values().map(|state| state.rare).collect();
        let start = parser.start;
        let turn = |target: &mut TransitionTarget| {
            if let TransitionTarget::State(state) = target
                && *state != start
                && rare.get(state.as_u32() as usize) == Some(&true)
            {
                *target = TransitionTarget::Rare;
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

/// Returns true if a parser calls an extern, whose effect would happen twice. Nothing is inlined yet, so the routines
/// that parsers call are searched too.
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
