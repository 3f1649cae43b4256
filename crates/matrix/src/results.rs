//! Results of a run, kernel by kernel.

use crate::plan::GuestPlan;
use crate::trial::{Event, Feature, Trial};
use serde::Serialize;
use std::collections::BTreeSet;

/// Results on one kernel.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub(crate) struct Results {
    /// Name of the kernel on the command line.
    pub kernel: String,
    /// Release of the kernel (`uname -r`).
    pub release: String,
    /// Features, present and missing.
    pub features: Vec<Feature>,
    /// All trials that ended, in the plan's order.
    pub trials: Vec<Trial>,
    /// Faults that kept trials from being run.
    pub trouble: Vec<String>,
    /// True if the plan was completed.
    pub ended: bool,
    /// Wall-clock time since the boot, in seconds.
    pub seconds: u64,
}

impl Results {
    /// Makes the results of a kernel before anything ran on it.
    pub(crate) fn new(kernel: &str) -> Results {
        Results {
            kernel: kernel.to_string(),
            ..Results::default()
        }
    }

    /// Records an event.
    pub(crate) fn take(&mut self, event: Event) {
        match event {
            // From a second guest of the kernel, which is of another flavour and has the same features.
            Event::Started { .. } | Event::Feature(_) if self.ended => {}
            Event::Started { release } => self.release = release,
            Event::Feature(feature) => self.features.push(feature),
            Event::Suite { .. } => {}
            Event::Trial(trial) => self.trials.push(trial),
            Event::Broken { name, reason } => self.trouble.push(format!("{name}: {reason}")),
            Event::Ended => self.ended = true,
        }
    }

    /// Sorts the trials in the plan's order, and reports those without a result as trouble.
    pub(crate) fn finish(&mut self, plan: &GuestPlan) {
        let order: Vec<String> = plan.names().collect();
        let place = |trial: &Trial| order.iter().position(|name| *name == trial.full_name());
        self.trials.sort_by_cached_key(place);
        let has: BTreeSet<String> = self.trials.iter().map(Trial::full_name).collect();
        let missing: Vec<&String> = order.iter().filter(|name| !has.contains(*name)).collect();
        if let Some(first) = missing.first() {
            let count = missing.len();
            let trouble = format!("{count} trials have no result, the first is {first}");
            self.trouble.push(trouble);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::SuiteTrials;
    use crate::suite::SuiteKind;
    use crate::trial::Outcome;

    #[test]
    fn a_trial_without_a_result_is_trouble() {
        let part = SuiteTrials {
            suite: "stf".to_string(),
            kind: SuiteKind::Tests,
            binary: "b".into(),
            folder: "f".into(),
            trials: ["x", "y", "z"].map(String::from).to_vec(),
            others: Vec::new(),
        };
        let plan = GuestPlan {
            suites: vec![part],
            objects: "o".into(),
            onpath: "p".into(),
        };
        let mut results = Results::new("6.1");
        for name in ["z", "x"] {
            results.take(Event::Trial(Trial::new("stf", name, Outcome::Passed, "")));
        }
        results.finish(&plan);
        let names: Vec<&str> = results.trials.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["x", "z"]);
        assert_eq!(
            results.trouble,
            ["1 trials have no result, the first is stf y"]
        );
    }
}
