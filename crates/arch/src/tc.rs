//! `tc_model`: a parser, a control that rewrites headers and chooses one of traffic control's verdicts, a
//! deparser, at an interface's ingress or egress.

use crate::{Architecture, AttachPoint, Block, BlockKind, Model, Slot, Stage};

/// The slot of `tc_input`; its scalars are its fields.
pub const INPUT: &str = "tc_input";
/// The slot of `tc_output`; its scalars are its fields. `mark` and `priority` begin as the packet has them.
pub const OUTPUT: &str = "tc_output";
/// The block that rewrites headers and chooses a verdict.
pub const CONTROL: &str = "control";

/// The model.
pub const ARCHITECTURE: Architecture = Architecture {
    name: "tc_model",
    include: "tc_model.p4",
    package: "tc",
    model: Model::Tc,
    places: &[AttachPoint::TrafficIn, AttachPoint::TrafficOut],
    stages: &[Stage::of(&[
        Block::parser("p"),
        Block {
            name: CONTROL,
            kind: BlockKind::Control,
            package_param: "c",
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
        crate::xdp::EXTERNS,
        EXTERNS,
        crate::TELEMETRY,
        crate::payload::EXTERNS,
    ],
    group_field: Some("multicast_group"),
    ..crate::PLAIN
};

/// Externs of this model beyond those of the XDP model.
const EXTERNS: &[&str] = &["l4_csum_replace2", "l4_csum_replace4", "random32"];

/// A packet's direction: the members of `tc_direction` in order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u32)]
pub enum Direction {
    /// From the wire to the host.
    Ingress = 0,
    /// From the host to the wire.
    Egress = 1,
}

/// Verdict on a packet: the members of `tc_verdict` in order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u32)]
pub enum Verdict {
    /// Passed on.
    Pass = 0,
    /// Dropped.
    Drop = 1,
    /// Out of the port that `output_port` names.
    RedirectEgress = 2,
    /// As if it had come in on the port that `output_port` names.
    RedirectIngress = 3,
}

impl Verdict {
    /// All verdicts in order.
    pub const ALL: [Verdict; 4] = [
        Verdict::Pass,
        Verdict::Drop,
        Verdict::RedirectEgress,
        Verdict::RedirectIngress,
    ];

    /// Returns the verdict of a member of `tc_verdict`. Any other number drops the packet.
    pub fn from_index(index: u64) -> Verdict {
        let mut all = Verdict::ALL.into_iter();
        all.find(|&verdict| verdict as u64 == index)
            .unwrap_or(Verdict::Drop)
    }

    /// Returns the member's name in P4.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "TC_PASS",
            Verdict::Drop => "TC_DROP",
            Verdict::RedirectEgress => "TC_REDIRECT_EGRESS",
            Verdict::RedirectIngress => "TC_REDIRECT_INGRESS",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stand_in_the_order_of_the_include_file() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../p4include/tc_model.p4");
        let text = std::fs::read_to_string(path).unwrap();
        let names = ["TC_INGRESS", "TC_EGRESS"]
            .into_iter()
            .chain(Verdict::ALL.map(Verdict::name));
        let places: Vec<_> = names
            .map(|name| text.find(&format!("    {name}")).unwrap())
            .collect();
        assert!(places.is_sorted(), "{places:?}");
    }

    #[test]
    fn unknown_numbers_drop() {
        assert_eq!(Verdict::from_index(2), Verdict::RedirectEgress);
        assert_eq!(Verdict::from_index(77), Verdict::Drop);
    }
}
