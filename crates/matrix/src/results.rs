//! What came of a run, kernel by kernel.

use crate::plan::Plan;
use crate::trial::{Event, Feature, Trial};
use serde::Serialize;
use std::collections::BTreeSet;

/// The results on one kernel.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub(crate) struct Results {
    /// What it was asked for by.
    pub kernel: String,
    /// What it says of itself.
    pub release: String,
    /// What it has and lacks.
    pub features: Vec<Feature>,
    /// All trials that ended, in the plan's order.
    pub trials: Vec<Trial>,
    /// What kept trials from being run, if something did.
    pub trouble: Vec<String>,
    /// Whether the plan was done.
    pub ended: bool,
    /// The wall-clock time in seconds, from the boot on.
    pub seconds: u64,
}

impl Results {
    /// Those of a kernel that nothing ran on yet.
    pub(crate) fn new(kernel: &str) -> Results {
        Results {
            kernel: kernel.to_string(),
            ..Results::default()
        }
    }

    /// Takes what happened into account.
    pub(crate) fn take(&mut self, event: Event) {
        match event {
            // What a second guest of the kernel says: it is of another flavour, and has what the first one has.
            Event::Started { .. } | Event::Feature(_) if self.ended => {}
            Event::Started { release } => self.release = release,
            Event::Feature(feature) => self.features.push(feature),
            Event::Suite { .. } => {}
            Event::Trial(trial) => self.trials.push(trial),
            Event::Broken { name, reason } => self.trouble.push(format!("{name}: {reason}")),
            Event::Ended => self.ended = true,
        }
    }

    /// In the plan's order; and a trial of the plan without a result is trouble.
    pub(crate) fn finish(&mut self, plan: &Plan) {
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
    use crate::plan::Part;
    use crate::suite::Kind;
    use crate::trial::Outcome;

    #[test]
    fn a_trial_without_a_result_is_trouble() {
        let part = Part {
            suite: "stf".to_string(),
            kind: Kind::Tests,
            binary: "b".into(),
            folder: "f".into(),
            trials: ["x", "y", "z"].map(String::from).to_vec(),
            others: Vec::new(),
        };
        let plan = Plan {
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
