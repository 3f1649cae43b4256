//! `xdp_model`: a parser, a control that rewrites headers and chooses one of XDP's verdicts, a deparser.

use crate::{Architecture, Block, BlockKind, Model, Slot, Stage};

/// The slot of `xdp_input`; its scalar `input_port` is the interface the packet came in on.
pub const INPUT: &str = "xdp_input";
/// The slot of `xdp_output`; its scalars are `output_action` and `output_port`.
pub const OUTPUT: &str = "xdp_output";
/// The block that rewrites headers and chooses a verdict.
pub const SWITCH: &str = "switch";

/// The model.
pub const ARCHITECTURE: Architecture = Architecture {
    name: "xdp_model",
    include: "xdp_model.p4",
    package: "xdp",
    model: Model::Switch,
    stages: &[Stage::of(&[
        Block::parser("p"),
        Block {
            name: SWITCH,
            kind: BlockKind::Control,
            package_param: "s",
            params: &[
                Slot::Program(crate::HEADERS),
                Slot::Intrinsic(INPUT),
                Slot::Intrinsic(OUTPUT),
            ],
        },
        Block::deparser("d"),
    ])],
    externs: &[
        crate::ebpf::EXTERNS,
        EXTERNS,
        crate::TELEMETRY,
        crate::payload::EXTERNS,
    ],
    ..crate::PLAIN
};

/// Externs of this model beyond those of the filter model.
pub(crate) const EXTERNS: &[&str] = &[
    "ebpf_ipv4_checksum",
    "csum_replace2",
    "csum_replace4",
    "BPF_KTIME_GET_NS",
    "BPF_PERF_EVENT_OUTPUT",
];

/// Verdict on a packet: the members of `xdp_action` in order, which are the kernel's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u32)]
pub enum Verdict {
    /// Dropped as an error; the kernel's trace point reports it.
    Aborted = 0,
    /// Dropped.
    Drop = 1,
    /// On to the kernel's network stack.
    Pass = 2,
    /// Back out of the interface it came in on.
    Tx = 3,
    /// Out of the interface that `output_port` names.
    Redirect = 4,
}

impl Verdict {
    /// All verdicts in the kernel's order.
    pub const ALL: [Verdict; 5] = [
        Verdict::Aborted,
        Verdict::Drop,
        Verdict::Pass,
        Verdict::Tx,
        Verdict::Redirect,
    ];

    /// Returns the verdict of a member of `xdp_action` or of a program's return value. Numbers that the kernel does not
    /// know abort, as in the kernel.
    pub fn from_index(index: u64) -> Verdict {
        let mut all = Verdict::ALL.into_iter();
        all.find(|&verdict| verdict as u64 == index)
            .unwrap_or(Verdict::Aborted)
    }

    /// Returns the member's name in P4 and in the kernel.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Aborted => "XDP_ABORTED",
            Verdict::Drop => "XDP_DROP",
            Verdict::Pass => "XDP_PASS",
            Verdict::Tx => "XDP_TX",
            Verdict::Redirect => "XDP_REDIRECT",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_stand_in_the_order_of_the_include_file() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../p4include/xdp_model.p4");
        let text = std::fs::read_to_string(path).unwrap();
        let places: Vec<_> = Verdict::ALL
            .iter()
            .map(|v| text.find(&format!("    {}", v.name())).unwrap())
            .collect();
        assert!(places.is_sorted(), "{places:?}");
    }

    #[test]
    fn unknown_numbers_abort() {
        assert_eq!(Verdict::from_index(3), Verdict::Tx);
        assert_eq!(Verdict::from_index(77), Verdict::Aborted);
    }
}
