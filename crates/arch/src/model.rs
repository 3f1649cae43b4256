//! Properties of architectures that matter to whoever runs their programs: the path of a packet, and the positions of
//! hooks.

use crate::{tc, xdp};

/// Path of a packet from the parser to its end. The interpreter and each target implement every path once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Model {
    /// The packet passes unchanged or is dropped ([`ebpf`](crate::ebpf)).
    Filter,
    /// One of XDP's verdicts ([`xdp`]).
    Switch,
    /// One of traffic control's verdicts ([`tc`]).
    Tc,
    /// Every packet passes unchanged ([`tap`](crate::tap)).
    Tap,
    /// Ingress, a traffic manager and egress ([`v1model`](crate::v1model)).
    Pipeline,
}

impl Model {
    /// Returns the numbers of its verdicts by their names.
    pub fn verdicts(self) -> Vec<(&'static str, u64)> {
        match self {
            Model::Filter | Model::Switch | Model::Tap | Model::Pipeline => {
                xdp::Verdict::ALL.map(|v| (v.name(), v as u64)).to_vec()
            }
            Model::Tc => tc::Verdict::ALL.map(|v| (v.name(), v as u64)).to_vec(),
        }
    }
}

/// Position on the path of a machine's packets, where a program can be attached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttachPoint {
    /// The driver or the code right after it, before the network stack has the packet. Packets cannot be copied here.
    BeforeStack,
    /// Traffic control of incoming packets.
    TrafficIn,
    /// Traffic control of outgoing packets.
    TrafficOut,
}

impl AttachPoint {
    /// All positions, in the order in which a packet meets them.
    pub const ALL: &[AttachPoint] = &[
        AttachPoint::BeforeStack,
        AttachPoint::TrafficIn,
        AttachPoint::TrafficOut,
    ];

    /// True if packets can be copied here.
    pub fn copies(self) -> bool {
        self != AttachPoint::BeforeStack
    }
}
