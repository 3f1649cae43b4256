//! Features of the kernel that an object needs, recorded where the code that needs them is emitted.

use crate::features::{FLOOR, Feature, Features, Version};
use serde::{Deserialize, Serialize};

/// Construct of a program whose code has several variants, or needs a feature of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Construct {
    /// Loops, of parsers above all.
    Loops,
    /// Tables and value sets with the layout [`layout::Structure::TupleSpace`]: the search through their masks.
    MaskSearch,
    /// Bounds of numbers that are not constant, such as lengths and positions of flows.
    Bounds,
    /// Transport checksums that a device may have to complete.
    TransportChecksums,
    /// Packets that a program at tc changes: their bytes are summed and moved piece by piece.
    ChangedPackets,
    /// Headers of varying length that a program at XDP moves.
    MovedHeaders,
    /// Hashes and comparisons of varbit values.
    Varbits,
    /// The interface's MTU.
    Mtu,
    /// Flows that end when they are unused.
    IdleTime,
    /// Per-flow state.
    FlowState,
    /// Meters.
    Meters,
    /// Registers in atomic blocks.
    AtomicRegisters,
    /// Checksums with the payload.
    Payload,
    /// Payloads at XDP.
    PayloadAtXdp,
    /// Messages of applications. Without `may_goto` the program is refused.
    Messages,
    /// Redirects by XDP.
    Redirects,
    /// Packets that pass at tc with another destination address.
    Addressed,
    /// Copies of packets that differ, and packets that are resubmitted or recirculated. Without `may_goto` the program
    /// is refused.
    Copies,
    /// Digests.
    Digests,
    /// Jumps over more than 32,767 instructions. They are known only after clang has made the object. Without `gotol`
    /// clang refuses the program.
    LongJumps,
}

/// Variant of the code of a construct.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variant {
    /// Name of the construct's variant.
    pub name: &'static str,
    /// Feature that it needs; `None` if every kernel that Onpath runs on can do it.
    pub needs: Option<Feature>,
}

const fn by(feature: Feature, name: &'static str) -> Variant {
    Variant {
        name,
        needs: Some(feature),
    }
}

const fn plain(name: &'static str) -> Variant {
    Variant { name, needs: None }
}

impl Construct {
    /// List of all constructs.
    pub const ALL: [Construct; 20] = [
        Construct::Loops,
        Construct::MaskSearch,
        Construct::Bounds,
        Construct::TransportChecksums,
        Construct::ChangedPackets,
        Construct::MovedHeaders,
        Construct::Varbits,
        Construct::Mtu,
        Construct::IdleTime,
        Construct::FlowState,
        Construct::Meters,
        Construct::AtomicRegisters,
        Construct::Payload,
        Construct::PayloadAtXdp,
        Construct::Messages,
        Construct::Redirects,
        Construct::Addressed,
        Construct::Copies,
        Construct::Digests,
        Construct::LongJumps,
    ];

    /// Returns the name for users.
    pub const fn name(self) -> &'static str {
        match self {
            Construct::Loops => "loops",
            Construct::MaskSearch => "tuple space search",
            Construct::Bounds => "checked bounds",
            Construct::TransportChecksums => "transport checksums",
            Construct::ChangedPackets => "packets changed at tc",
            Construct::MovedHeaders => "moved headers of varying length",
            Construct::Varbits => "varbit values",
            Construct::Mtu => "the interface's MTU",
            Construct::IdleTime => "idle times of flows",
            Construct::FlowState => "flow_state",
            Construct::Meters => "meters",
            Construct::AtomicRegisters => "registers in atomic blocks",
            Construct::Payload => "checksums with the payload",
            Construct::PayloadAtXdp => "payloads at XDP",
            Construct::Messages => "messages",
            Construct::Redirects => "redirects",
            Construct::Addressed => "other destination addresses",
            Construct::Copies => "copies of packets",
            Construct::Digests => "digests",
            Construct::LongJumps => "long jumps",
        }
    }

    /// Returns the variants of its code, the preferred one first. The last one is for the oldest kernel that Onpath
    /// runs on.
    pub fn variants(self) -> &'static [Variant] {
        match self {
            Construct::Loops => {
                const {
                    &[
                        by(Feature::MayGoto, "may_goto"),
                        plain("counted iterations"),
                    ]
                }
            }
            Construct::MaskSearch => {
                const {
                    &[
                        by(Feature::MayGoto, "may_goto"),
                        by(Feature::LoopCalls, "bpf_loop"),
                    ]
                }
            }
            Construct::Bounds => {
                const {
                    &[
                        by(Feature::TrackedSpills, "tracked spills"),
                        plain("barriers"),
                    ]
                }
            }
            Construct::TransportChecksums => {
                const {
                    &[
                        by(Feature::KernelContext, "bpf_cast_to_kern_ctx"),
                        by(Feature::ProbeReadKernel, "bpf_probe_read_kernel"),
                    ]
                }
            }
            Construct::ChangedPackets | Construct::Payload | Construct::Varbits => {
                const { &[by(Feature::LoopCalls, "bpf_loop")] }
            }
            Construct::MovedHeaders | Construct::PayloadAtXdp => {
                const { &[by(Feature::XdpBytes, "bpf_xdp_load_bytes")] }
            }
            Construct::Mtu => const { &[by(Feature::CheckMtu, "bpf_check_mtu")] },
            Construct::IdleTime => const { &[by(Feature::CoarseClock, "bpf_ktime_get_coarse_ns")] },
            Construct::FlowState | Construct::Meters | Construct::AtomicRegisters => {
                const { &[by(Feature::Locks, "bpf_spin_lock")] }
            }
            Construct::Redirects => const { &[by(Feature::DeviceMaps, "device maps")] },
            Construct::Addressed => {
                const { &[by(Feature::ProbeReadKernel, "bpf_probe_read_kernel")] }
            }
            Construct::Messages | Construct::Copies => {
                const { &[by(Feature::MayGoto, "may_goto")] }
            }
            Construct::Digests => const { &[by(Feature::RingBuffers, "ring buffer")] },
            Construct::LongJumps => const { &[by(Feature::LongJumps, "gotol")] },
        }
    }

    /// Returns the variant for a kernel: the first one that it can run, else the last.
    pub fn variant(self, kernel: &Features) -> Variant {
        let variants = self.variants();
        let has = |variant: &&Variant| variant.needs.is_none_or(|feature| kernel.has(feature));
        let last = variants[variants.len() - 1];
        variants.iter().find(has).copied().unwrap_or(last)
    }
}

/// Construct in an object, with the variant of its code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Use {
    /// The construct.
    #[serde(rename = "for")]
    pub construct: Construct,
    /// Feature that its code uses; `None` if it needs none.
    pub by: Option<Feature>,
}

impl Use {
    /// Returns the variant of its code.
    pub fn variant(self) -> Variant {
        let variants = self.construct.variants();
        let taken = variants.iter().find(|variant| variant.needs == self.by);
        taken.copied().unwrap_or(variants[0])
    }

    /// Returns the feature that the preferred variant needs and the kernel lacks, if the code is another variant.
    pub fn lacking(self) -> Option<Feature> {
        let preferred = self.construct.variants()[0];
        preferred.needs.filter(|_| preferred.needs != self.by)
    }

    /// Returns the variant for kernels without [`Use::by`], if there is one.
    pub fn fallback(self) -> Option<Variant> {
        let mut variants = self.construct.variants().iter();
        variants.find(|variant| variant.needs == self.by)?;
        variants.next().copied()
    }
}

/// Returns true if Onpath can make an object for the oldest kernel that does the same as this one.
pub fn has_older_variants(uses: &[Use]) -> bool {
    let newer = |used: &&Use| used.by.is_some_and(Feature::has_fallback);
    uses.iter()
        .filter(newer)
        .all(|used| used.fallback().is_some())
}

/// Returns the oldest version of Linux that has everything an object uses, [`FLOOR`] at least.
pub fn loads_from(uses: &[Use]) -> Version {
    let needed = uses.iter().filter_map(|used| used.by);
    needed.map(Feature::since).fold(FLOOR, Version::max)
}

/// Lists the constructs of an object for which a kernel refuses it, because it lacks their features.
pub fn missing(uses: &[Use], kernel: &Features) -> Vec<Use> {
    let lacks = |by: Feature| by.is_certain() && !kernel.has(by);
    let missing = uses.iter().filter(|used| used.by.is_some_and(lacks));
    missing.copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists everything that an object for a kernel may use.
    fn uses(kernel: &Features) -> Vec<Use> {
        let used = |construct: Construct| Use {
            construct,
            by: construct.variant(kernel).needs,
        };
        let mut all = Construct::ALL.map(used).to_vec();
        // A construct without another variant is refused if the kernel lacks its feature.
        let only = |used: &Use| {
            matches!(
                used.construct,
                Construct::LongJumps | Construct::Copies | Construct::Messages
            )
        };
        all.retain(|used| !only(used) || used.by.is_some_and(|feature| kernel.has(feature)));
        all
    }

    #[test]
    fn what_the_oldest_kernel_gets_it_has() {
        let oldest = Features::of(FLOOR);
        let all = uses(&oldest);
        assert_eq!(loads_from(&all), FLOOR);
        assert!(missing(&all, &oldest).is_empty());
        for used in all {
            assert_eq!(used.fallback(), None, "{used:?}");
        }
    }

    #[test]
    fn every_feature_with_a_fallback_is_what_some_construct_prefers() {
        let newest = uses(&Features::newest());
        assert_eq!(loads_from(&newest), (6, 9));
        for feature in Feature::ALL.into_iter().filter(|f| f.has_fallback()) {
            let used: Vec<_> = newest.iter().filter(|u| u.by == Some(feature)).collect();
            assert!(!used.is_empty(), "{feature:?}");
            let only = |u: &Use| {
                matches!(
                    u.construct,
                    Construct::LongJumps | Construct::Copies | Construct::Messages
                )
            };
            assert!(
                used.iter().all(|u| u.fallback().is_some() != only(u)),
                "{used:?}"
            );
        }
        assert!(!has_older_variants(&newest));
        assert!(has_older_variants(&uses(&Features::of((6, 5)))));
        assert!(newest.iter().all(|used| used.lacking().is_none()));
    }

    #[test]
    fn the_variant_taken_says_what_the_kernel_lacks() {
        let search = Use {
            construct: Construct::MaskSearch,
            by: Construct::MaskSearch.variant(&Features::of((6, 8))).needs,
        };
        assert_eq!(search.variant().name, "bpf_loop");
        assert_eq!(search.lacking(), Some(Feature::MayGoto));
    }

    #[test]
    fn a_kernel_refuses_what_it_lacks_but_not_what_only_may_be_refused() {
        let newest = uses(&Features::newest());
        let of = |construct| newest.iter().find(|u| u.construct == construct).copied();
        let [loops, bounds] = [Construct::Loops, Construct::Bounds].map(|c| of(c).expect("used"));
        assert_eq!(missing(&[loops, bounds], &Features::of(FLOOR)), [loops]);
        assert_eq!(loads_from(&[bounds]), (6, 8));
    }
}
