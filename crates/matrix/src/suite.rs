//! Suites: test binaries of the workspace, the trials that concern the kernel, and those of a smoke test.

use serde::{Deserialize, Serialize};

/// Test binary, and the part of it that runs on every kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Suite {
    /// Name in tables and filters.
    pub name: &'static str,
    /// Kind of its trials.
    pub kind: SuiteKind,
    /// Package of the binary.
    pub package: &'static str,
    /// Binary of the package.
    pub target: TestBinary,
    /// Name prefixes of the trials that concern the kernel. If there are none, all trials do.
    pub takes: &'static [&'static str],
    /// Parts of the names of trials that are left out in spite of `takes`: they take too long under emulation.
    pub leaves: &'static [&'static str],
    /// Name prefixes of the trials that a smoke test runs.
    pub smoke: &'static [&'static str],
}

/// Kind of the trials of a suite.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SuiteKind {
    /// Tests of a binary, which takes the options of `libtest`.
    Tests,
    /// Loading of programs by `onpath`: every example, and every program of a realistic size. The verifier's cost is
    /// reported.
    Loads,
    /// Binaries of `onpath`, this build and those of `make dist`, run prebuilt programs.
    Built,
    /// Prebuilt programs on drivers that only a guest with wires has.
    Drivers,
}

/// Binary of a package.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TestBinary {
    /// Tests of the library itself.
    Library,
    /// Test binary of this name.
    Test(&'static str),
    /// Program of the package.
    Program,
}

/// All suites; those with the quickest results are first.
pub(crate) const SUITES: [Suite; 12] = [
    Suite {
        smoke: &["xdp::programs/firewall/", "tc-ingress::programs/nat/"],
        ..Suite::of_programs("loads", SuiteKind::Loads)
    },
    Suite {
        smoke: &["debug"],
        ..Suite::of_programs("built", SuiteKind::Built)
    },
    Suite::of_programs("drivers", SuiteKind::Drivers),
    Suite {
        smoke: &["features::", "memory::", "probe::", "sys::"],
        ..Suite::of_tests("kernel", "kernel", TestBinary::Library)
    },
    Suite::of_tests("files", "host", TestBinary::Library),
    Suite {
        smoke: &["link_settings::"],
        ..Suite::of_tests("interfaces", "net", TestBinary::Library)
    },
    Suite {
        smoke: &["refusals::", "tc::"],
        ..Suite::of_tests("attach", "kernel", TestBinary::Test("it"))
    },
    Suite {
        takes: &["xdp::", "veth::", "tc::", "tc_veth::"],
        smoke: &[
            "xdp::tests/stf/match/",
            "xdp::tests/stf/parser/",
            "tc::tests/stf/header/",
            "tc::tests/stf/tc/",
            "veth::programs/firewall/",
            "tc_veth::programs/guard/",
        ],
        ..Suite::of_tests("stf", "onpath", TestBinary::Test("stf"))
    },
    Suite {
        takes: &[
            "flow_state::",
            "name_sets::",
            "pattern_sets::",
            "writers::",
            "tc_traffic::",
            "offloads::",
            "pdm_rules::",
            "pdm::",
            "pdm_tshark::",
        ],
        ..Suite::of_tests("states", "onpath", TestBinary::Test("it"))
    },
    Suite::of_tests("truth", "onpath", TestBinary::Test("pdm_truth")),
    Suite {
        takes: &["kernel::"],
        ..Suite::of_tests("cli", "onpath", TestBinary::Test("cli"))
    },
    Suite {
        // Each packet goes through all eight million iterations of the loops.
        leaves: &["tests/stf/parser/endless"],
        ..Suite::of_tests("differential", "onpath", TestBinary::Test("differential"))
    },
];

impl Suite {
    /// Makes a suite of all tests of a binary. A smoke test runs none of them.
    const fn of_tests(name: &'static str, package: &'static str, target: TestBinary) -> Suite {
        Suite {
            name,
            kind: SuiteKind::Tests,
            package,
            target,
            takes: &[],
            leaves: &[],
            smoke: &[],
        }
    }

    /// Makes a suite of programs that `onpath` itself handles.
    const fn of_programs(name: &'static str, kind: SuiteKind) -> Suite {
        Suite {
            kind,
            ..Suite::of_tests(name, "onpath", TestBinary::Program)
        }
    }

    /// Returns the suite of this name.
    pub(crate) fn by_name(name: &str) -> Option<&'static Suite> {
        SUITES.iter().find(|suite| suite.name == name)
    }

    /// Returns true if a trial concerns the kernel.
    pub(crate) fn has(&self, trial: &str) -> bool {
        let taken = self.takes.is_empty() || begins(trial, self.takes);
        taken && !self.leaves.iter().any(|part| trial.contains(part))
    }

    /// Returns true if a trial belongs to a smoke test.
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
