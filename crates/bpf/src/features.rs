//! Features of the kernel that generated code uses, and that not every version of Linux has.
//!
//! Whether a kernel has a feature is found out by trying it ([the `kernel` crate](../kernel)) or, for a kernel other
//! than the running one, by its version. The code that uses a feature, and the code that does without, is in
//! [`crate::uses`].

use serde::{Deserialize, Serialize};

/// A version of Linux: major and minor.
pub type Version = (u32, u32);

/// The oldest kernel that programs of every kind run on.
pub const FLOOR: Version = (6, 1);

/// The version that brought tcx, by which programs at tc are attached. Filters at `clsact` qdiscs are older than
/// [`FLOOR`].
pub const TCX_SINCE: Version = (6, 6);

/// A feature of the kernel that generated code uses and that Linux did not always have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// The instruction `may_goto`: the verifier takes a loop with it in constant effort.
    MayGoto,
    /// A number that was spilled to the stack stays tied to its copy in a register: a bound found out about one holds
    /// for the other.
    TrackedSpills,
    /// The instruction `gotol`: a jump can span any number of instructions.
    LongJumps,
    /// The function `bpf_cast_to_kern_ctx`: programs at tc read the kernel's own description of a packet.
    KernelContext,
    /// Packets at XDP in several buffers: the functions `bpf_xdp_load_bytes`, `bpf_xdp_store_bytes` and
    /// `bpf_xdp_get_buff_len`.
    XdpBytes,
    /// The function `bpf_loop`.
    LoopCalls,
    /// The function `bpf_check_mtu`.
    CheckMtu,
    /// The function `bpf_ktime_get_coarse_ns`.
    CoarseClock,
    /// Ring buffers, by which packets hand records to user space.
    RingBuffers,
    /// The function `bpf_probe_read_kernel`.
    ProbeReadKernel,
    /// Maps from port numbers to interfaces that a redirect goes to.
    DeviceMaps,
    /// Locks in the values of maps.
    Locks,
}

impl Feature {
    /// List of all features, the newest first.
    pub const ALL: [Feature; 12] = [
        Feature::MayGoto,
        Feature::TrackedSpills,
        Feature::LongJumps,
        Feature::KernelContext,
        Feature::XdpBytes,
        Feature::LoopCalls,
        Feature::CheckMtu,
        Feature::CoarseClock,
        Feature::RingBuffers,
        Feature::ProbeReadKernel,
        Feature::DeviceMaps,
        Feature::Locks,
    ];

    /// Returns the name that the kernel's documentation uses.
    pub fn name(self) -> &'static str {
        match self {
            Feature::MayGoto => "may_goto",
            Feature::TrackedSpills => "tracked spills",
            Feature::LongJumps => "gotol",
            Feature::KernelContext => "bpf_cast_to_kern_ctx",
            Feature::XdpBytes => "bpf_xdp_load_bytes",
            Feature::LoopCalls => "bpf_loop",
            Feature::CheckMtu => "bpf_check_mtu",
            Feature::CoarseClock => "bpf_ktime_get_coarse_ns",
            Feature::RingBuffers => "ring buffers",
            Feature::ProbeReadKernel => "bpf_probe_read_kernel",
            Feature::DeviceMaps => "device maps",
            Feature::Locks => "bpf_spin_lock",
        }
    }

    /// Returns the first version of Linux that has it.
    pub fn since(self) -> Version {
        match self {
            Feature::MayGoto => (6, 9),
            Feature::TrackedSpills => (6, 8),
            Feature::LongJumps => (6, 6),
            Feature::KernelContext => (6, 2),
            Feature::XdpBytes => (5, 18),
            Feature::LoopCalls => (5, 17),
            Feature::CheckMtu => (5, 12),
            Feature::CoarseClock => (5, 11),
            Feature::RingBuffers => (5, 8),
            Feature::ProbeReadKernel => (5, 5),
            Feature::DeviceMaps => (5, 4),
            Feature::Locks => (5, 1),
        }
    }

    /// Returns true if generated code has a fallback for it. For [`Feature::LongJumps`] these are shorter programs.
    pub fn has_fallback(self) -> bool {
        self.since() > FLOOR
    }

    /// Returns true if a kernel without it refuses every object that uses it. Without other features, only some
    /// objects are refused.
    pub fn is_certain(self) -> bool {
        self != Feature::TrackedSpills
    }

    /// Describes for users, in a sentence, what generated code does without it, or what needs it.
    pub fn without(self) -> &'static str {
        match self {
            Feature::MayGoto => {
                "without it (before Linux 6.9) tuple space search uses bpf_loop, and other loops have a limited number of iterations"
            }
            Feature::TrackedSpills => {
                "without it (before Linux 6.8) programs check bounds in longer forms"
            }
            Feature::LongJumps => {
                "without it (before Linux 6.6) programs of more than some 30,000 instructions are several functions"
            }
            Feature::KernelContext => {
                "without it (before Linux 6.2) PDM and other tc programs that change transport checksums use \
                 bpf_probe_read_kernel, which takes CAP_PERFMON"
            }
            Feature::XdpBytes => {
                "XDP programs that move headers of varying length or sum payloads need it (Linux 5.18)"
            }
            Feature::LoopCalls => {
                "tc programs that change packets, and checksums with the payload, need it (Linux 5.17)"
            }
            Feature::CheckMtu => "tc programs that read the interface's MTU need it (Linux 5.12)",
            Feature::CoarseClock => "flow_state with an idle time needs it (Linux 5.11)",
            Feature::RingBuffers => "digests need them (Linux 5.8)",
            Feature::ProbeReadKernel => {
                "tc programs that pass packets with another destination address need it, and without bpf_cast_to_kern_ctx \
                 those that change transport checksums (Linux 5.5)"
            }
            Feature::DeviceMaps => "XDP_REDIRECT needs them (Linux 5.4)",
            Feature::Locks => {
                "flow_state, meters and registers in atomic blocks need it (Linux 5.1, and BTF)"
            }
        }
    }
}

/// The features that a kernel has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Features([bool; Feature::ALL.len()]);

impl Features {
    /// Makes the set of the features that `has` confirms.
    pub fn which(has: impl Fn(Feature) -> bool) -> Features {
        Features(Feature::ALL.map(has))
    }

    /// Returns all features.
    pub fn newest() -> Features {
        Features::which(|_| true)
    }

    /// Returns the features of a version of Linux, as it was published.
    pub fn of(version: Version) -> Features {
        Features::which(|feature| feature.since() <= version)
    }

    /// Returns true if the kernel has a feature.
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
        let debian_12 = Features::of(FLOOR);
        for feature in Feature::ALL {
            assert_eq!(
                debian_12.has(feature),
                !feature.has_fallback(),
                "{feature:?}"
            );
        }
        let ubuntu_24 = Features::of((6, 8));
        assert!(ubuntu_24.has(Feature::TrackedSpills) && !ubuntu_24.has(Feature::MayGoto));
    }

    #[test]
    fn the_newest_comes_first() {
        let since = Feature::ALL.map(Feature::since);
        assert!(since.is_sorted_by(|a, b| a >= b), "{since:?}");
    }
}
