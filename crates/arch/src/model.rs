//! The properties of architectures that matter to whoever runs their programs: the way of a packet, and its places.

use crate::{tc, xdp};

/// A packet's way from the parser to its end, of which an interpreter, and a target, have code each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Model {
    /// The packet passes unchanged or is dropped, as [`ebpf`](crate::ebpf) has it.
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
    /// The numbers of its verdicts by their names.
    pub fn verdicts(self) -> Vec<(&'static str, u64)> {
        match self {
            Model::Filter | Model::Switch | Model::Tap | Model::Pipeline => {
                xdp::Verdict::ALL.map(|v| (v.name(), v as u64)).to_vec()
            }
            Model::Tc => tc::Verdict::ALL.map(|v| (v.name(), v as u64)).to_vec(),
        }
    }
}

/// A place on the path of a machine's packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The driver or what follows it, before the network stack has the packet. None can be copied there.
    BeforeStack,
    /// Traffic control of what comes in.
    TrafficIn,
    /// Traffic control of what goes out.
    TrafficOut,
}

impl Place {
    /// All of them, in the order in which a packet meets them.
    pub const ALL: &[Place] = &[Place::BeforeStack, Place::TrafficIn, Place::TrafficOut];

    /// True if packets can be copied.
    pub fn copies(self) -> bool {
        self != Place::BeforeStack
    }
}
