//! The suites: test binaries of the workspace, what of them concerns the kernel, and what a smoke test takes.

/// A test binary, and the part of it that runs on every kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Suite {
    /// The name in tables and filters.
    pub name: &'static str,
    /// The package that has it.
    pub package: &'static str,
    /// Which of the package's binaries.
    pub target: Target,
    /// The trials that concern the kernel, as beginnings of names; none is all of them.
    pub takes: &'static [&'static str],
    /// Parts of the names of trials that it does not take although they do: those that run too long where the processor is
    /// emulated.
    pub leaves: &'static [&'static str],
    /// Those among them that a smoke test runs, as beginnings of names.
    pub smoke: &'static [&'static str],
}

/// A binary of a package.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// The library's own tests.
    Library,
    /// A test binary.
    Test(&'static str),
    /// `onpath` itself: whether each example and each program of a realistic size loads, and what the verifier takes for it.
    Loads,
    /// `onpath` again, this build and those of `make dist`: whether it runs programs that were built before.
    Built,
    /// `onpath` again: whether it runs programs at drivers that only a guest with wires has.
    Drivers,
}

/// All of them, the quickest answers first.
pub(crate) const SUITES: [Suite; 10] = [
    Suite {
        name: "loads",
        package: "onpath",
        target: Target::Loads,
        takes: &[],
        leaves: &[],
        smoke: &["xdp::programs/firewall/", "tc-ingress::programs/nat/"],
    },
    Suite {
        name: "built",
        package: "onpath",
        target: Target::Built,
        takes: &[],
        leaves: &[],
        smoke: &["debug"],
    },
    Suite {
        name: "drivers",
        package: "onpath",
        target: Target::Drivers,
        takes: &[],
        leaves: &[],
        smoke: &[],
    },
    Suite {
        name: "kernel",
        package: "kernel",
        target: Target::Library,
        takes: &[],
        leaves: &[],
        smoke: &[
            "features::",
            "link_settings::",
            "memory::",
            "probe::",
            "sys::",
        ],
    },
    Suite {
        name: "attach",
        package: "kernel",
        target: Target::Test("it"),
        takes: &[],
        leaves: &[],
        smoke: &["refusals::", "tc::"],
    },
    Suite {
        name: "stf",
        package: "onpath",
        target: Target::Test("stf"),
        takes: &["xdp::", "veth::", "tc::", "tc_veth::"],
        leaves: &[],
        smoke: &[
            "xdp::tests/stf/match/",
            "xdp::tests/stf/parser/",
            "tc::tests/stf/header/",
            "tc::tests/stf/tc/",
            "veth::programs/firewall/",
            "tc_veth::programs/guard/",
        ],
    },
    Suite {
        name: "states",
        package: "onpath",
        target: Target::Test("it"),
        takes: &[
            "flow_state::",
            "writers::",
            "tc_traffic::",
            "offloads::",
            "pdm_rules::",
            "pdm::",
            "pdm_tshark::",
        ],
        leaves: &[],
        smoke: &[],
    },
    Suite {
        name: "truth",
        package: "onpath",
        target: Target::Test("pdm_truth"),
        takes: &[],
        leaves: &[],
        smoke: &[],
    },
    Suite {
        name: "cli",
        package: "onpath",
        target: Target::Test("cli"),
        takes: &["kernel::"],
        leaves: &[],
        smoke: &[],
    },
    Suite {
        name: "differential",
        package: "onpath",
        target: Target::Test("differential"),
        takes: &[],
        // Each packet takes the loops' last turn, the eight millionth.
        leaves: &["tests/stf/parser/endless"],
        smoke: &[],
    },
];

impl Suite {
    /// The suite of this name.
    pub(crate) fn by_name(name: &str) -> Option<&'static Suite> {
        SUITES.iter().find(|suite| suite.name == name)
    }

    /// Whether a trial concerns the kernel.
    pub(crate) fn has(&self, trial: &str) -> bool {
        let taken = self.takes.is_empty() || begins(trial, self.takes);
        taken && !self.leaves.iter().any(|part| trial.contains(part))
    }

    /// Whether a trial belongs to a smoke test.
    pub(crate) fn is_smoke(&self, trial: &str) -> bool {
        begins(trial, self.smoke)
    }
}

fn begins(trial: &str, beginnings: &[&str]) -> bool {
    beginnings
        .iter()
        .any(|beginning| trial.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<&str> = SUITES.iter().map(|suite| suite.name).collect();
        assert_eq!(names.len(), SUITES.len());
    }

    #[test]
    fn a_suite_takes_what_concerns_the_kernel() {
        let stf = Suite::by_name("stf").expect("a suite");
        assert!(stf.has("xdp::tests/stf/arith/slices.p4"));
        assert!(!stf.has("interp::tests/stf/arith/slices.p4"));
        assert!(stf.is_smoke("tc::tests/stf/tc/mark.p4"));
        assert!(!stf.is_smoke("tc::tests/stf/arith/slices.p4"));
        let kernel = Suite::by_name("kernel").expect("a suite");
        assert!(kernel.has("anything"));
        let differential = Suite::by_name("differential").expect("a suite");
        assert!(differential.has("xdp::tests/stf/parser/end.p4"));
        assert!(!differential.has("xdp::tests/stf/parser/endless_loop.p4"));
        assert!(!kernel.is_smoke("store::anything"));
    }
}
