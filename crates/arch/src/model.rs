//! What tells architectures apart for whoever runs their programs: what packets go through, and where.

use crate::{tc, xdp};

/// What packets go through, from the parser to what becomes of them: what an interpreter, and a target's code, have of each.
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
    /// Where packets come in, before the network stack has them. None can be copied there.
    BeforeStack,
    /// Where traffic is controlled that comes in.
    TrafficIn,
    /// Where traffic is controlled that goes out.
    TrafficOut,
}

impl Place {
    /// All of them, in the order in which a packet meets them.
    pub const ALL: &[Place] = &[Place::BeforeStack, Place::TrafficIn, Place::TrafficOut];

    /// Whether packets can be copied.
    pub fn copies(self) -> bool {
        self != Place::BeforeStack
    }
}
