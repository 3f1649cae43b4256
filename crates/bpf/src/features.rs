//! What generated code uses of a kernel where it has it, and what it uses instead where it has not.
//!
//! Which kernel has a feature is found out by trying it ([the `kernel` crate](../kernel)), or, for a kernel that is not
//! this one, by its version. Everything else that generated code uses is as old as [`FLOOR`].

use serde::{Deserialize, Serialize};

/// A version of Linux: major and minor.
pub type Version = (u32, u32);

/// The oldest kernel that programs of every kind run on.
pub const FLOOR: Version = (6, 1);

/// Helpers that generated code cannot do without, of those that are not as old as BPF: name, number, and the version that
/// brought them.
pub const NEEDED: [(&str, u32, Version); 3] = [
    ("bpf_ktime_get_coarse_ns", 160, (5, 11)),
    ("bpf_loop", 181, (5, 17)),
    ("bpf_xdp_load_bytes", 189, (5, 18)),
];

/// A feature of the kernel for which generated code has a fallback.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// The instruction `may_goto`: the verifier takes a loop with it in constant effort.
    MayGoto,
    /// A number that was saved on the stack stays tied to its copy in a register: a bound found out about one holds for
    /// the other.
    TrackedSpills,
    /// The function `bpf_cast_to_kern_ctx`: programs at tc read the kernel's own description of a packet.
    KernelContext,
}

impl Feature {
    /// All of them, the newest first.
    pub const ALL: [Feature; 3] = [
        Feature::MayGoto,
        Feature::TrackedSpills,
        Feature::KernelContext,
    ];

    /// As the kernel's documentation calls it.
    pub fn name(self) -> &'static str {
        match self {
            Feature::MayGoto => "may_goto",
            Feature::TrackedSpills => "tracked spills",
            Feature::KernelContext => "bpf_cast_to_kern_ctx",
        }
    }

    /// The first version of Linux that has it.
    pub fn since(self) -> Version {
        match self {
            Feature::MayGoto => (6, 9),
            Feature::TrackedSpills => (6, 8),
            Feature::KernelContext => (6, 2),
        }
    }

    /// What generated code does without it, in a sentence for users.
    pub fn without(self) -> &'static str {
        match self {
            Feature::MayGoto => {
                "without it (before Linux 6.9) ternary, range and optional tables use bpf_loop, and other loops take a limited \
                 number of turns"
            }
            Feature::TrackedSpills => {
                "without it (before Linux 6.8) programs check bounds in longer forms"
            }
            Feature::KernelContext => {
                "without it (before Linux 6.2) PDM and other tc programs that change transport checksums use \
                 bpf_probe_read_kernel, which takes CAP_PERFMON"
            }
        }
    }
}

/// The features that a kernel has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Features([bool; Feature::ALL.len()]);

impl Features {
    /// Those that `has` confirms.
    pub fn which(has: impl Fn(Feature) -> bool) -> Features {
        Features(Feature::ALL.map(has))
    }

    /// All of them.
    pub fn newest() -> Features {
        Features::which(|_| true)
    }

    /// Those of a version of Linux, as it was published.
    pub fn of(version: Version) -> Features {
        Features::which(|feature| feature.since() <= version)
    }

    /// Whether the kernel has a feature.
    pub fn has(&self, feature: Feature) -> bool {
        Feature::ALL
            .into_iter()
            .zip(self.0)
            .any(|(known, has)| known == feature && has)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_what_was_there_before_them() {
        assert_eq!(Features::of((6, 18)), Features::newest());
        let debian_12 = Features::of((6, 1));
        assert!(Feature::ALL.iter().all(|&f| !debian_12.has(f)));
        let ubuntu_24 = Features::of((6, 8));
        assert!(ubuntu_24.has(Feature::TrackedSpills) && !ubuntu_24.has(Feature::MayGoto));
    }

    #[test]
    fn the_floor_has_what_is_needed() {
        assert!(NEEDED.iter().all(|(_, _, since)| *since <= FLOOR));
    }

    #[test]
    fn the_newest_comes_first_and_none_is_older_than_the_floor() {
        let since = Feature::ALL.map(Feature::since);
        assert!(since.is_sorted_by(|a, b| a >= b), "{since:?}");
        assert!(since.iter().all(|&version| version > FLOOR), "{since:?}");
    }
}
