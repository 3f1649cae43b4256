//! Strategies of compilation, which are tried in order until the kernel accepts the object.
//!
//! clang may merge the conditions under which two headers are valid, or two entries are found. The verifier tracks
//! values but not the relations between them, so it may then lose a pointer's bounds. clang merges less when it
//! optimises less, and has less to merge if headers are variables. The stack that it needs is known only after the
//! compilation.

use bpf::ParseRecord;
use bpf::costs::weights::iterations::{FEWER, MOST};
use bpf::costs::weights::outline::MORE_PROGRAMS;
use clang::Effort;
use diag::Diagnostics;
use kernel::build::Obstacle;

/// Strategy by which a program is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Strategy {
    /// Name in reports.
    pub name: &'static str,
    /// Obstacles against which it helps. It is tried only after each of them has stopped an earlier strategy.
    pub against: &'static [Obstacle],
    /// True to keep as much as possible in a per-CPU map instead of on the stack.
    pub spill_everything: bool,
    /// True to outline functions, into several programs if they are many, and to keep all variables in a per-CPU map.
    pub outlines: bool,
    /// Number of programs for outlined functions, as a multiple of the estimate.
    pub programs: usize,
    /// True to copy every header to variables.
    pub copy_headers: bool,
    /// Programs whose parse results are kept in a per-CPU map.
    pub parse_record: ParseRecord,
    /// True to compile the program's fast path, if it has one.
    pub fast_path: bool,
    /// Degree of clang's optimisation.
    pub effort: Effort,
    /// Maximum number of iterations of a parser's loops, if the verifier has to process each.
    pub parser_iterations: u32,
}

impl Strategy {
    /// Returns true if it may give other code than the first strategy, whose decisions are `first`.
    pub(crate) fn differs(&self, first: &bpf::Report) -> bool {
        if self.outlines {
            return first.outlined == 0;
        }
        if self.against == [Obstacle::TooLong] {
            return true;
        }
        if self.spill_everything && self.against == [Obstacle::TooLarge] {
            return first.variables_can_be_forgotten();
        }
        let record = self.parse_record == ParseRecord::Always && !first.parse_record;
        let path = !self.fast_path && first.fast_path;
        let iterations = first
            .parser_iterations
            .is_some_and(|iterations| iterations > self.parser_iterations);
        let memory = self.spill_everything || self.copy_headers;
        memory || record || path || iterations || self.effort != FULL.effort
    }
}

/// Name of the strategies that outline functions.
const OUTLINED: &str = "several functions, all variables in a per-CPU map";

/// First strategy, from which the others differ.
const FULL: Strategy = Strategy {
    name: "full optimisation",
    against: &[],
    spill_everything: false,
    outlines: false,
    programs: 1,
    copy_headers: false,
    parse_record: ParseRecord::BySize,
    fast_path: true,
    effort: Effort::Full,
    parser_iterations: MOST,
};

/// All strategies, the fastest code first.
pub const STRATEGIES: [Strategy; 22] = [
    FULL,
    // All but the next two are for programs that clang and the verifier can handle as one function.
    Strategy {
        name: OUTLINED,
        against: &[Obstacle::TooLong],
        outlines: true,
        ..FULL
    },
    Strategy {
        name: "one function",
        against: &[Obstacle::TooLong],
        ..FULL
    },
    Strategy {
        name: "reduced optimisation",
        against: &[Obstacle::LostPointer],
        effort: Effort::Reduced,
        ..FULL
    },
    Strategy {
        name: "headers in variables",
        against: &[Obstacle::LostPointer],
        copy_headers: true,
        ..FULL
    },
    Strategy {
        name: "headers in variables, reduced optimisation",
        against: &[Obstacle::LostPointer],
        copy_headers: true,
        effort: Effort::Reduced,
        ..FULL
    },
    Strategy {
        name: "variables in a per-CPU map",
        against: &[Obstacle::Stack],
        spill_everything: true,
        ..FULL
    },
    Strategy {
        name: "variables in a per-CPU map, reduced optimisation",
        against: &[Obstacle::LostPointer],
        spill_everything: true,
        effort: Effort::Reduced,
        ..FULL
    },
    Strategy {
        name: "headers and variables in a per-CPU map",
        against: &[Obstacle::LostPointer],
        spill_everything: true,
        copy_headers: true,
        ..FULL
    },
    Strategy {
        name: "parse results in a per-CPU map",
        against: &[Obstacle::TooLarge],
        parse_record: ParseRecord::Always,
        ..FULL
    },
    Strategy {
        name: "parse results and variables in a per-CPU map",
        against: &[Obstacle::TooLarge, Obstacle::Stack],
        spill_everything: true,
        parse_record: ParseRecord::Always,
        ..FULL
    },
    // The verifier of Linux 6.1 may process more of a fast path than of all the rest.
    Strategy {
        name: "no fast path, parse results in a per-CPU map",
        against: &[Obstacle::TooLarge],
        parse_record: ParseRecord::Always,
        fast_path: false,
        ..FULL
    },
    // The verifier tracks values in registers and on the stack along every path, but not values in a map.
    Strategy {
        name: "no fast path, parse results and variables in a per-CPU map",
        against: &[Obstacle::TooLarge],
        spill_everything: true,
        parse_record: ParseRecord::Always,
        fast_path: false,
        ..FULL
    },
    // The verifier checks each outlined function once, and its limit for a sequence of jumps applies to each
    // separately.
    Strategy {
        name: OUTLINED,
        against: &[Obstacle::TooLarge],
        outlines: true,
        fast_path: false,
        ..FULL
    },
    Strategy {
        name: OUTLINED,
        against: &[Obstacle::Stack],
        outlines: true,
        fast_path: false,
        ..FULL
    },
    Strategy {
        name: "parser loops of 400 iterations",
        against: &[Obstacle::TooLarge],
        parser_iterations: FEWER[0],
        ..FULL
    },
    Strategy {
        name: "parser loops of 100 iterations",
        against: &[Obstacle::TooLarge],
        parser_iterations: FEWER[1],
        ..FULL
    },
    Strategy {
        name: "parser loops of 32 iterations",
        against: &[Obstacle::TooLarge],
        parser_iterations: FEWER[2],
        ..FULL
    },
    Strategy {
        name: "parser loops of 8 iterations",
        against: &[Obstacle::TooLarge],
        parser_iterations: FEWER[3],
        ..FULL
    },
    Strategy {
        name: "parser loops of 100 iterations, variables in a per-CPU map",
        against: &[Obstacle::TooLarge, Obstacle::Stack],
        spill_everything: true,
        parser_iterations: FEWER[1],
        ..FULL
    },
    Strategy {
        name: "parser loops of 8 iterations, variables in a per-CPU map",
        against: &[Obstacle::TooLarge, Obstacle::Stack],
        spill_everything: true,
        parser_iterations: FEWER[3],
        ..FULL
    },
    // The verifier's limit for all functions applies to each program separately.
    Strategy {
        name: "more programs, all variables in a per-CPU map",
        against: &[Obstacle::TooLarge],
        outlines: true,
        programs: MORE_PROGRAMS,
        fast_path: false,
        ..FULL
    },
];

/// A strategy that failed, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failed {
    /// The strategy.
    pub strategy: &'static Strategy,
    /// Obstacle that stopped it.
    pub obstacle: Obstacle,
    /// Message of clang or the verifier.
    pub reason: String,
}

/// Outcome of a strategy.
pub(crate) enum Outcome<T> {
    /// An object that the kernel accepts, if it was asked.
    Made(T),
    /// A failure that another strategy may overcome. If none does, the enclosed result is taken.
    Obstructed(Obstacle, String, Result<T, Diagnostics>),
    /// Output or options that an earlier strategy has tried already.
    Repeated,
    /// A refusal that no other strategy can overcome.
    Refused(Diagnostics),
}

/// Result of all strategies together.
pub(crate) struct Tried<T> {
    /// Result of `strategy`.
    pub(crate) made: T,
    /// Strategy that was taken.
    pub(crate) strategy: &'static Strategy,
    /// Strategies that failed. If they include `strategy`, none succeeded.
    pub(crate) failed: Vec<Failed>,
}

/// Tries the strategies in order until one succeeds. If none does, the first object is the result, as the kernel's
/// refusal of it explains most.
pub(crate) fn try_all<T>(
    mut attempt: impl FnMut(&'static Strategy) -> Outcome<T>,
) -> Result<Tried<T>, Diagnostics> {
    let mut failed: Vec<Failed> = Vec::new();
    let mut best: Option<Result<(T, &'static Strategy), Diagnostics>> = None;
    for strategy in &STRATEGIES {
        let met = |obstacle: &Obstacle| failed.iter().any(|f| f.obstacle == *obstacle);
        if !strategy.against.iter().all(met) {
            continue;
        }
        match attempt(strategy) {
            Outcome::Made(made) => {
                return Ok(Tried {
                    made,
                    strategy,
                    failed,
                });
            }
            Outcome::Obstructed(obstacle, reason, otherwise) => {
                failed.push(Failed {
                    strategy,
                    obstacle,
                    reason,
                });
                if !matches!(best, Some(Ok(_))) {
                    best = Some(otherwise.map(|made| (made, strategy)));
                }
            }
            Outcome::Repeated => {}
            Outcome::Refused(diagnostics) => {
                // If outlined functions are refused for another reason, the length of one function is no explanation.
                let is_refused_anew = failed.iter().all(|f| f.obstacle == Obstacle::TooLong);
                if best.is_none() || is_refused_anew && matches!(best, Some(Err(_))) {
                    best = Some(Err(diagnostics));
                }
                break;
            }
        }
    }
    let (made, strategy) = best.unwrap_or_else(|| Err(Diagnostics::new()))?;
    Ok(Tried {
        made,
        strategy,
        failed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use diag::Diagnostic;

    fn refusal(code: &'static str) -> Diagnostics {
        Diagnostics::from(Diagnostic::failure(code, "no", ""))
    }

    /// Tries the strategies against the obstacles that `obstacle` gives. Returns the tried ones, and the taken one or
    /// the code of the refusal.
    fn outcome(
        obstacle: impl Fn(&Strategy) -> Option<Obstacle>,
    ) -> (Vec<&'static str>, Result<&'static str, &'static str>) {
        let mut names = Vec::new();
        let tried = try_all(|strategy| {
            names.push(strategy.name);
            match obstacle(strategy) {
                None => Outcome::Made(strategy.name),
                Some(Obstacle::Stack) => {
                    Outcome::Obstructed(Obstacle::Stack, "deep".into(), Err(refusal("E0754")))
                }
                Some(lost) => Outcome::Obstructed(lost, "lost".into(), Ok(strategy.name)),
            }
        });
        let taken = match tried {
            Ok(tried) => {
                assert_eq!(tried.made, tried.strategy.name);
                Ok(tried.made)
            }
            Err(diagnostics) => Err(diagnostics.iter().next().expect("one").code.0),
        };
        (names, taken)
    }

    #[test]
    fn the_names_of_fewer_iterations_say_how_many() {
        for strategy in STRATEGIES.iter().filter(|s| s.parser_iterations < MOST) {
            let iterations = format!("loops of {} iterations", strategy.parser_iterations);
            assert!(strategy.name.contains(&iterations), "{}", strategy.name);
        }
    }

    #[test]
    fn what_works_at_once_is_taken() {
        let first = STRATEGIES[0].name;
        assert_eq!(outcome(|_| None), (vec![first], Ok(first)));
    }

    #[test]
    fn a_lost_pointer_takes_less_optimisation_then_copied_headers() {
        let (tried, taken) = outcome(|s| (!s.copy_headers).then_some(Obstacle::LostPointer));
        assert_eq!(
            tried,
            [
                "full optimisation",
                "reduced optimisation",
                "headers in variables"
            ]
        );
        assert_eq!(taken, Ok("headers in variables"));
    }

    #[test]
    fn a_stack_too_deep_takes_a_map_at_once() {
        let (tried, taken) = outcome(|s| (!s.spill_everything).then_some(Obstacle::Stack));
        assert_eq!(tried, ["full optimisation", "variables in a per-CPU map"]);
        assert_eq!(taken, Ok("variables in a per-CPU map"));
    }

    #[test]
    fn both_obstacles_are_overcome_together() {
        let (_, taken) = outcome(|s| match (s.spill_everything, s.effort) {
            (false, _) => Some(Obstacle::Stack),
            (true, Effort::Full) => Some(Obstacle::LostPointer),
            (true, Effort::Reduced) => None,
        });
        assert_eq!(
            taken,
            Ok("variables in a per-CPU map, reduced optimisation")
        );
    }

    #[test]
    fn where_nothing_works_the_first_object_is_the_result_or_else_the_error() {
        let (tried, taken) = outcome(|_| Some(Obstacle::LostPointer));
        assert_eq!(tried.len(), 6);
        assert_eq!(taken, Ok("full optimisation"));
        let (tried, taken) = outcome(|_| Some(Obstacle::Stack));
        assert_eq!(
            tried,
            ["full optimisation", "variables in a per-CPU map", OUTLINED]
        );
        assert_eq!(taken, Err("E0754"));
    }

    #[test]
    fn what_is_too_large_takes_the_parse_record_then_fewer_iterations() {
        let large =
            |s: &Strategy| s.parse_record == ParseRecord::BySize && s.parser_iterations > 100;
        let (tried, taken) = outcome(|s| large(s).then_some(Obstacle::TooLarge));
        assert_eq!(
            tried,
            ["full optimisation", "parse results in a per-CPU map"]
        );
        assert_eq!(taken, Ok("parse results in a per-CPU map"));
        let (_, taken) = outcome(|s| (s.parser_iterations > 100).then_some(Obstacle::TooLarge));
        assert_eq!(taken, Ok("parser loops of 100 iterations"));
    }

    #[test]
    fn what_is_too_long_for_one_function_takes_several_or_else_one_all_the_same() {
        let (tried, taken) = outcome(|s| (!s.outlines).then_some(Obstacle::TooLong));
        assert_eq!(tried, ["full optimisation", OUTLINED]);
        assert_eq!(taken, Ok(OUTLINED));
        let (tried, _) = outcome(|s| match s.outlines {
            true => Some(Obstacle::LostPointer),
            false => Some(Obstacle::TooLong),
        });
        assert_eq!(tried[..3], ["full optimisation", OUTLINED, "one function"]);
    }

    #[test]
    fn what_refuses_several_functions_is_the_reason_and_not_that_one_is_too_long() {
        let tried = try_all(|strategy| -> Outcome<()> {
            match strategy.outlines {
                true => Outcome::Refused(refusal("E0727")),
                false => {
                    let refused = Err(refusal("E0745"));
                    Outcome::Obstructed(Obstacle::TooLong, "long".into(), refused)
                }
            }
        });
        let refused = tried.err().expect("a refusal");
        assert_eq!(refused.iter().next().expect("one").code.0, "E0727");
    }

    #[test]
    fn what_is_too_large_whatever_is_in_memory_takes_several_functions() {
        let (_, taken) = outcome(|s| (!s.outlines).then_some(Obstacle::TooLarge));
        assert_eq!(taken, Ok(OUTLINED));
    }

    #[test]
    fn a_fast_path_that_is_too_large_is_left_out() {
        let (tried, taken) = outcome(|s| s.fast_path.then_some(Obstacle::TooLarge));
        assert_eq!(
            tried,
            [
                "full optimisation",
                "parse results in a per-CPU map",
                "no fast path, parse results in a per-CPU map"
            ]
        );
        assert_eq!(taken, Ok("no fast path, parse results in a per-CPU map"));
    }

    #[test]
    fn parse_results_for_which_the_stack_has_no_room_take_all_variables_along() {
        let (tried, taken) = outcome(|s| match (s.parse_record, s.spill_everything) {
            (ParseRecord::BySize, _) => Some(Obstacle::TooLarge),
            (ParseRecord::Always, false) => Some(Obstacle::Stack),
            (ParseRecord::Always, true) => None,
        });
        let with_variables = "parse results and variables in a per-CPU map";
        assert_eq!(
            tried,
            [
                "full optimisation",
                "parse results in a per-CPU map",
                with_variables
            ]
        );
        assert_eq!(taken, Ok(with_variables));
    }

    #[test]
    fn loops_over_more_values_than_the_stack_has_room_for_take_fewer_iterations_too() {
        let (tried, taken) = outcome(|s| match s.spill_everything {
            false => Some(Obstacle::Stack),
            true => (s.parser_iterations > 100).then_some(Obstacle::TooLarge),
        });
        assert_eq!(tried[1], "variables in a per-CPU map");
        assert_eq!(
            taken,
            Ok("parser loops of 100 iterations, variables in a per-CPU map")
        );
    }

    #[test]
    fn a_strategy_differs_if_there_is_something_that_it_changes() {
        let different = |first: &bpf::Report| -> Vec<&str> {
            let against_size = STRATEGIES
                .iter()
                .filter(|s| s.against == [Obstacle::TooLarge]);
            let different = against_size.filter(|s| s.differs(first));
            different.map(|s| s.name).collect()
        };
        let large = bpf::Report {
            parse_record: true,
            outlined: 1,
            ..bpf::Report::default()
        };
        assert_eq!(different(&large), [""; 0]);
        let fast = bpf::Report {
            fast_path: true,
            ..large.clone()
        };
        assert_eq!(
            different(&fast),
            ["no fast path, parse results in a per-CPU map"]
        );
        let variables = bpf::Report {
            movable_variables: true,
            ..large.clone()
        };
        assert_eq!(
            different(&variables),
            ["no fast path, parse results and variables in a per-CPU map"]
        );
        let loops = bpf::Report {
            parser_iterations: Some(100),
            ..large
        };
        assert_eq!(
            different(&loops),
            [
                "parser loops of 32 iterations",
                "parser loops of 8 iterations"
            ]
        );
        let small = different(&bpf::Report::default());
        assert_eq!(small[0], "parse results in a per-CPU map");
        let in_variables = STRATEGIES.iter().filter(|s| s.copy_headers);
        assert!(in_variables.clone().count() > 0);
        assert!(
            in_variables
                .into_iter()
                .all(|s| s.differs(&bpf::Report::default()))
        );
    }

    #[test]
    fn what_was_tried_before_is_no_failure_of_its_own() {
        let tried = try_all(|strategy| match strategy.parse_record {
            ParseRecord::Always => Outcome::Repeated,
            _ if strategy.outlines => Outcome::Repeated,
            ParseRecord::BySize if strategy.parser_iterations < MOST => Outcome::Made(2),
            ParseRecord::BySize => Outcome::Obstructed(Obstacle::TooLarge, "large".into(), Ok(1)),
        })
        .expect("something");
        assert_eq!((tried.made, tried.failed.len()), (2, 1));
    }

    #[test]
    fn what_no_strategy_mends_ends_it() {
        let mut tried = 0;
        let done = try_all(|_| -> Outcome<()> {
            tried += 1;
            Outcome::Refused(refusal("E0755"))
        });
        assert_eq!(tried, 1);
        let diagnostics = done.err().expect("refused");
        assert_eq!(diagnostics.iter().next().expect("one").code.0, "E0755");
    }
}
