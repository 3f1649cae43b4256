//! Example programs on this kernel: those that load, and what they would gain from a newer one.

use crate::commands::loads_from::version;
use bpf::features::{FLOOR, Feature, Version};
use bpf::uses::{Construct, Use, Variant, loads_from, missing};
use driver::examples::Example;
use kernel::features::Kernel;
use serde_json::{Value, json};

/// An example, with the features that its programs need and the kernel lacks.
pub(super) struct Program {
    /// Its name.
    pub name: &'static str,
    /// Kernel features that its programs use.
    uses: Vec<Use>,
    /// Features that the kernel lacks, or the version of Linux that Onpath needs; none if it runs.
    pub lacks: Vec<String>,
}

impl Program {
    pub(super) fn as_json(&self) -> Value {
        let variants = self
            .uses
            .iter()
            .map(|used| json!({ "for": used.construct.name(), "variant": used.variant().name }));
        json!({
            "name": self.name,
            "runs": self.lacks.is_empty(),
            "lacks": self.lacks,
            "uses": variants.collect::<Vec<_>>(),
        })
    }
}

/// Examines the examples on a kernel. All programs of an example count as one.
pub(super) fn examine(examples: &[Example], kernel: Kernel) -> Vec<Program> {
    let features = kernel.features();
    let mut all: Vec<Program> = Vec::new();
    for example in examples {
        // The programs of an example need not be adjacent: others may lie in folders below its own.
        let known = all.iter().position(|known| known.name == example.name);
        let at = known.unwrap_or(all.len());
        if known.is_none() {
            all.push(Program {
                name: example.name,
                uses: Vec::new(),
                lacks: Vec::new(),
            });
        }
        let program = &mut all[at];
        for used in &example.uses {
            if !program.uses.contains(used) {
                program.uses.push(*used);
            }
        }
        for used in missing(&example.uses, &features) {
            let name = used.by.map(|by| by.name().to_string());
            let lacks = &mut program.lacks;
            lacks.extend(name.filter(|name| !lacks.contains(name)));
        }
    }
    if kernel.check().is_err() {
        for program in all.iter_mut().filter(|program| program.lacks.is_empty()) {
            program.lacks.push(format!("Linux {}", version(FLOOR)));
        }
    }
    all
}

/// Gains from a feature of a newer kernel.
pub(super) struct Upgrade {
    /// The feature that the kernel lacks.
    feature: Feature,
    /// Constructs that the feature changes, with the examples.
    pub gains: Vec<Gain>,
}

/// A construct that would get its preferred lowering.
pub(super) struct Gain {
    construct: Construct,
    /// Its present lowering.
    now: Variant,
    /// Examples that use it.
    programs: Vec<&'static str>,
}

/// Returns the gains of the examples from newer kernels, the oldest kernel first.
pub(super) fn upgrades(programs: &[Program]) -> Vec<Upgrade> {
    let mut all = Vec::new();
    for feature in Feature::ALL.into_iter().rev() {
        let gains: Vec<Gain> = Construct::ALL
            .into_iter()
            .filter_map(|construct| {
                let lacks =
                    |used: &&Use| used.construct == construct && used.lacking() == Some(feature);
                let using = |program: &&Program| program.uses.iter().any(|used| lacks(&used));
                let now = programs.iter().flat_map(|p| &p.uses).find(lacks)?.variant();
                let programs = programs.iter().filter(using).map(|p| p.name).collect();
                Some(Gain {
                    construct,
                    now,
                    programs,
                })
            })
            .collect();
        if !gains.is_empty() {
            all.push(Upgrade { feature, gains });
        }
    }
    all
}

impl Upgrade {
    pub(super) fn as_json(&self) -> Value {
        let gain = |gain: &Gain| {
            json!({
                "for": gain.construct.name(),
                "variant": gain.construct.variants()[0].name,
                "instead_of": gain.now.name,
                "programs": gain.programs,
            })
        };
        json!({
            "since": version(self.feature.since()),
            "feature": self.feature.name(),
            "gains": self.gains.iter().map(gain).collect::<Vec<_>>(),
        })
    }

    /// Returns a line of text for each gain.
    pub(super) fn lines(&self) -> Vec<String> {
        let since = version(self.feature.since());
        let line = |gain: &Gain| {
            format!(
                "Linux {since}: {} by {} instead of {} ({})",
                gain.construct.name(),
                gain.construct.variants()[0].name,
                gain.now.name,
                gain.programs.join(", ")
            )
        };
        self.gains.iter().map(line).collect()
    }
}

/// Returns the version of Linux that runs all examples, in words.
pub(super) fn remedy(programs: &[Program]) -> String {
    let lacking = programs.iter().filter(|program| !program.lacks.is_empty());
    let needed = lacking.map(|program| loads_from(&program.uses));
    let needed = needed.fold(FLOOR, Version::max);
    format!("Linux {} or newer runs all of them", version(needed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use driver::examples;

    fn on(version: (u32, u32)) -> (Vec<Program>, Vec<String>) {
        let kernel = Kernel::Version(version);
        let found = examples::examine(kernel).expect("accepted");
        let programs = examine(&found, kernel);
        let lines = upgrades(&programs)
            .iter()
            .flat_map(Upgrade::lines)
            .collect();
        (programs, lines)
    }

    #[test]
    fn the_newest_kernel_leaves_nothing_to_gain() {
        let (programs, lines) = on((6, 18));
        assert!(programs.iter().all(|p| p.lacks.is_empty()));
        assert!(lines.is_empty(), "{lines:?}");
        let names: Vec<_> = programs.iter().map(|p| p.name).collect();
        for example in ["pdm", "payload"] {
            assert_eq!(names.iter().filter(|name| **name == example).count(), 1);
        }
    }

    #[test]
    fn the_oldest_runs_all_without_copies_and_would_gain_from_newer_ones() {
        let (programs, lines) = on(FLOOR);
        let lacking = programs.iter().filter(|p| !p.lacks.is_empty());
        let lacking: Vec<_> = lacking.map(|p| (p.name, p.lacks.clone())).collect();
        let may_goto = vec!["may_goto".to_owned()];
        assert!(lacking.contains(&("payload/recirculation", may_goto.clone())));
        assert!(lacking.iter().all(|(_, lacks)| *lacks == may_goto));
        assert_eq!(remedy(&programs), "Linux 6.9 or newer runs all of them");
        assert!(lines.is_sorted(), "{lines:?}");
        let of = |start: &str| lines.iter().find(|line| line.starts_with(start)).cloned();
        let checksums = of(
            "Linux 6.2: transport checksums by bpf_cast_to_kern_ctx instead of bpf_probe_read_kernel (",
        );
        assert!(checksums.expect("pdm does").contains("pdm"), "{lines:?}");
        let bounds = of("Linux 6.8: checked bounds by tracked spills instead of barriers (");
        assert!(
            bounds.expect("the firewall does").contains("firewall"),
            "{lines:?}"
        );
    }

    #[test]
    fn what_a_kernel_below_the_floor_lacks_is_named() {
        let (programs, _) = on((5, 15));
        let lacks = |name: &str| {
            let program = programs.iter().find(|p| p.name == name);
            program.expect("there").lacks.clone()
        };
        assert!(
            lacks("pdm").contains(&"bpf_loop".into()),
            "{:?}",
            lacks("pdm")
        );
        assert_eq!(lacks("xdp1"), ["Linux 6.1"]);
    }
}
