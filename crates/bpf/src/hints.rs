//! Hints for clang and the verifier, beyond the program's meaning.

use crate::ParseRecord;
use crate::costs::weights::walk::{MOST_IN_VARIABLES, MOST_WITH_COPIES};
use crate::costs::{limits, walk};
use crate::emitter::{Bpf, Coverage, barrier, unknown_zero};
use crate::features::Feature;
use cgen::tree::{BinOp, Expr as C, Stmt};
use emit::plan::graph::Graph;
use emit::{Event, Forms, Hints, Role};
use ir::{Program, Stage};

impl Hints for Bpf {
    fn forms(&mut self, program: &Program, stage: &Stage, graph: &Graph) -> Forms {
        self.estimate = walk::estimate(program, graph, stage);
        let options = &self.options;
        let most_in_variables = match (self.coverage, options.parse_record) {
            // The fast path's code is short, and most packets run it.
            (Coverage::FastPath, _) => u64::MAX,
            (Coverage::FullBehindFastPath, _) | (Coverage::Full, ParseRecord::Always) => 0,
            (Coverage::Full, ParseRecord::BySize) => MOST_IN_VARIABLES,
        };
        Forms {
            record: self.estimate > most_in_variables,
            short: self.estimate > MOST_WITH_COPIES,
            copy_headers: options.copy_headers,
            recheck_lengths: options.spill_everything,
            iteration_limit: self.iteration_limit(),
            cut_after: options
                .outline
                .map(|asked| limits::between_cuts(asked.size)),
        }
    }

    fn on(&self, event: Event<'_>) -> Option<Stmt> {
        let hint = |name: &str, on: &C| Stmt::Hint {
            name: name.into(),
            on: on.clone(),
        };
        let call = |name: &str| Stmt::Expr(C::call(name, Vec::new()));
        let has_tracked_spills = self.options.features.has(Feature::TrackedSpills);
        let follows_iterations = self.iteration_limit().is_some();
        match event {
            // Otherwise clang may use another copy of it than the one that was checked.
            Event::Computed(var) => Some(barrier(var)),
            // Otherwise clang may have spilled it before the check, and the verifier has no bound for the reloaded
            // number.
            Event::Bounded(var) => (!has_tracked_spills).then(|| barrier(var)),
            Event::Carried(flag) => Some(hint("stay_known", flag)),
            // The verifier records its knowledge in each iteration.
            Event::IterationsMeet => follows_iterations.then(|| call("turn_begins")),
            // Otherwise the verifier would follow each path separately through the next iteration, and through the
            // code after the loop.
            Event::Differs(number) => follows_iterations.then(|| hint("forget_value", number)),
            Event::PathsMeet => Some(call("load_memory_again")),
            // The verifier takes all five arguments for used. What was in their registers would tell apart the paths to
            // the call, and the iterations of loops before it.
            Event::Searches => Some(call("clear_arguments")),
            // Otherwise clang decides on each path. Only programs with a fast path are so large that the verifier
            // minds.
            Event::Decides => match self.coverage {
                Coverage::FastPath => self.on(Event::PathsMeet),
                Coverage::Full | Coverage::FullBehindFastPath => None,
            },
        }
    }

    fn see(&self, role: Role, value: C) -> C {
        match role {
            Role::Flag => C::pure("flag_set", Vec::new()),
            // The verifier drops its value and its range.
            Role::Varying if self.options.features.has(Feature::MayGoto) => {
                let zero = C::pure("unknown_zero_at_once", vec![C::id("ctx")]);
                C::bin(BinOp::Add, zero, value)
            }
            Role::Varying => C::bin(BinOp::Add, unknown_zero(), value),
            Role::OverResize if self.options.features.has(Feature::TrackedSpills) => value,
            // The verifier may be unable to trace it back across the call.
            Role::OverResize => self.hook.over_resize(value),
            Role::Checked => C::pure("behind_check", vec![value]),
        }
    }
}

impl Bpf {
    /// Returns the number of loop iterations that a packet may take, if the verifier has to follow every iteration.
    fn iteration_limit(&self) -> Option<u32> {
        let counts = !self.options.features.has(Feature::MayGoto);
        counts.then_some(self.options.parser_iterations)
    }
}
