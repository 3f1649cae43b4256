//! The traffic manager as data: the fate of a packet at the end of ingress and of egress. The interpreter executes this
//! data, and targets generate code from it. (bmv2, `docs/simple_switch.md`)
//!
//! At each [`Point`] the first step whose condition holds is executed. It decides the packet's fate; only after cloning
//! are later steps examined too. Egress serves its queue in the order of arrival, so clones are served before the
//! packet they were cloned from. A resubmitted or recirculated packet waits until the queue is empty. Packets that are
//! resubmitted, recirculated or cloned too often are dropped. So are copies for which there is no room.

use super::copying::{
    CLONE, CLONE_LIST, RECIRCULATE, RECIRCULATE_LIST, RESUBMIT, RESUBMIT_LIST, TRUNCATE,
};
use super::{COMPUTE_CHECKSUM, DROP_PORT, EGRESS, INGRESS, InstanceType, VERIFY_CHECKSUM};

/// Point of the pipeline at which the fate of a packet is decided.
#[derive(Debug)]
pub struct Point {
    /// Blocks since the previous point, which end here.
    pub blocks: &'static [&'static str],
    /// Possible fates, in the order in which they are tried.
    pub steps: &'static [FateRule],
}

/// One possible fate of a packet, with its condition.
#[derive(Debug)]
pub struct FateRule {
    /// Condition of the step.
    pub when: When,
    /// Consequence of the step.
    pub then: Then,
}

/// Condition of a step.
#[derive(Clone, Copy, Debug)]
pub enum When {
    /// The program requested it: a flag of [`copying::REQUESTS`](super::copying::REQUESTS).
    Asked(&'static str),
    /// The field of `standard_metadata` is not 0.
    Set(&'static str),
    /// The field of `standard_metadata` has this value.
    Is(&'static str, u32),
    /// Always holds: the last step.
    Otherwise,
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug)]
pub enum Then {
    /// Copies are made for the group of a clone session and for the session itself, and the packet continues.
    Clones(&'static Instance),
    /// The packet is resubmitted or recirculated.
    Anew(&'static Instance),
    /// Copies are sent to a multicast group; the packet itself ends.
    Group(&'static Instance),
    /// The packet continues to its port.
    Sent(&'static Instance),
    /// It is dropped.
    Dropped,
    /// It leaves by its port.
    Leaves,
}

/// The packet or a copy of it, as it enters egress or the parser again: the state that it takes over from its original.
#[derive(Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its `instance_type`.
    pub kind: InstanceType,
    /// State that it is made from, which also determines the block that it enters.
    pub of: Made,
    /// True if it has the program's metadata and all of `standard_metadata`. Otherwise it has, of both, only the fields
    /// of its field list, and the fields that tell where the packet came from ([`origin`]).
    pub all_metadata: bool,
    /// Request that holds the number of its field list. Those fields keep the values they had when it was made.
    pub list: Option<&'static str>,
    /// Requests made before that are still to be carried out for it.
    pub carries: &'static [&'static str],
    /// True if it counts as one more round than its original.
    pub is_round: bool,
}

/// State that a packet or copy is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// The bytes that were received, for the parser.
    BytesAsReceived,
    /// The bytes that the deparser made, for the parser.
    BytesAsDeparsed,
    /// Headers and metadata as the parser left them, for egress.
    Parsed,
    /// Headers and metadata as they are, for egress.
    Current,
}

/// The end of ingress.
pub const INGRESS_ENDS: Point = Point {
    blocks: &[VERIFY_CHECKSUM, INGRESS],
    steps: &[
        FateRule {
            when: When::Asked(CLONE),
            then: Then::Clones(&INGRESS_CLONE),
        },
        FateRule {
            when: When::Asked(RESUBMIT),
            then: Then::Anew(&RESUBMITTED),
        },
        FateRule {
            when: When::Set("mcast_grp"),
            then: Then::Group(&REPLICA),
        },
        DROPPED,
        FateRule {
            when: When::Otherwise,
            then: Then::Sent(&UNICAST),
        },
    ],
};

/// The end of egress. A packet that is still there is deparsed.
pub const EGRESS_ENDS: Point = Point {
    blocks: &[EGRESS],
    steps: &[
        FateRule {
            when: When::Asked(CLONE),
            then: Then::Clones(&EGRESS_CLONE),
        },
        DROPPED,
    ],
};

/// The end of the pipeline.
pub const DEPARSED: Point = Point {
    blocks: &[COMPUTE_CHECKSUM, crate::DEPARSER],
    steps: &[
        FateRule {
            when: When::Asked(RECIRCULATE),
            then: Then::Anew(&RECIRCULATED),
        },
        FateRule {
            when: When::Otherwise,
            then: Then::Leaves,
        },
    ],
};

const DROPPED: FateRule = FateRule {
    when: When::Is("egress_spec", DROP_PORT),
    then: Then::Dropped,
};

/// A copy that ingress made.
pub const INGRESS_CLONE: Instance = Instance {
    kind: InstanceType::IngressClone,
    of: Made::Parsed,
    all_metadata: true,
    list: Some(CLONE_LIST),
    carries: &[],
    is_round: true,
};

/// A copy that egress made.
pub const EGRESS_CLONE: Instance = Instance {
    kind: InstanceType::EgressClone,
    of: Made::Current,
    all_metadata: false,
    list: Some(CLONE_LIST),
    carries: &[],
    is_round: true,
};

/// The packet, resubmitted.
pub const RESUBMITTED: Instance = Instance {
    kind: InstanceType::Resubmitted,
    of: Made::BytesAsReceived,
    all_metadata: false,
    list: Some(RESUBMIT_LIST),
    carries: &[],
    is_round: true,
};

/// The packet, recirculated.
pub const RECIRCULATED: Instance = Instance {
    kind: InstanceType::Recirculated,
    of: Made::BytesAsDeparsed,
    all_metadata: false,
    list: Some(RECIRCULATE_LIST),
    carries: &[],
    is_round: true,
};

/// A copy of a multicast group.
pub const REPLICA: Instance = Instance {
    kind: InstanceType::Replicated,
    of: Made::Current,
    all_metadata: true,
    list: None,
    carries: &[TRUNCATE],
    is_round: false,
};

/// The packet, sent to one port.
pub const UNICAST: Instance = Instance {
    kind: InstanceType::Normal,
    of: Made::Current,
    all_metadata: true,
    list: None,
    carries: &PENDING,
    is_round: false,
};

/// Requests of ingress that may still be pending after egress.
pub const PENDING: [&str; 2] = [RECIRCULATE, TRUNCATE];

/// Requests that are carried out at the end of the block that makes them. A packet that enters egress has none pending.
pub const AT_ONCE: [&str; 2] = [CLONE, RESUBMIT];

/// Value that the traffic manager assigns to a field of `standard_metadata`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// The number of [`Instance::kind`].
    InstanceType,
    /// The port by which the packet came in.
    IngressPort,
    /// Number of bytes that are parsed.
    Length,
    /// Time at which the packet came in, in microseconds.
    Came,
    /// Port that the packet is destined for.
    Port,
    /// Replication id; 0 if the packet is not replicated.
    Rid,
    /// Current time, in microseconds.
    Now,
    /// 0, for fields about a queue, since there is none.
    Zero,
}

/// Fields that are assigned as a packet enters the parser, whatever its preserved fields are.
pub const AT_PARSER: [(&str, Given); 5] = [
    ("instance_type", Given::InstanceType),
    ("ingress_port", Given::IngressPort),
    ("packet_length", Given::Length),
    // Overwritten by the parser if it rejects the packet.
    ("parser_error", Given::Zero),
    ("ingress_global_timestamp", Given::Came),
];

/// Fields that are assigned as a packet or copy enters egress, whatever its preserved fields are.
pub const AT_EGRESS: [(&str, Given); 9] = [
    ("egress_port", Given::Port),
    ("egress_rid", Given::Rid),
    ("instance_type", Given::InstanceType),
    ("egress_spec", Given::Zero),
    ("enq_qdepth", Given::Zero),
    ("deq_timedelta", Given::Zero),
    ("deq_qdepth", Given::Zero),
    ("enq_timestamp", Given::Now),
    ("egress_global_timestamp", Given::Now),
];

/// Returns the fields of `standard_metadata` that tell where the packet came from.
pub fn origin() -> impl Iterator<Item = &'static str> {
    let fields = AT_PARSER.into_iter();
    fields.filter_map(|(name, given)| (given != Given::InstanceType).then_some(name))
}

/// Most times that a packet, or a copy of it, may be resubmitted, recirculated or cloned, if memory does not set a
/// limit.
pub const MOST_ROUNDS: u32 = 4096;
/// Most runs of ingress and egress for one packet and all copies of it, if memory does not set a limit: clones of
/// clones multiply.
pub const MOST_RUNS: u32 = 16_384;

/// Limits that every traffic manager supports, and beyond which a target may stop.
#[derive(Debug)]
pub struct Limits {
    /// Number of times that a packet, or a copy of it, is resubmitted, recirculated or cloned.
    pub rounds: u32,
    /// Number of its copies that wait for egress, between its arrival and its departure or recirculation.
    pub waiting: u32,
    /// Number of distinct states of headers and metadata among them, including the packet's own and the one after the
    /// parser.
    pub states: u32,
    /// Number of copies of a multicast group or a clone session.
    pub replicas: u32,
}

/// Limits that programs may rely on everywhere.
pub const LIMITS: Limits = Limits {
    rounds: 32,
    waiting: 256,
    states: 64,
    replicas: 64,
};
