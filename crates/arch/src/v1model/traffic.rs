//! The traffic manager: what becomes of a packet when ingress and when egress has ended, as data. The interpreter executes
//! it, and what targets do is made from it. (bmv2, `docs/simple_switch.md`)
//!
//! At each [`Point`] the first step that holds is done, and ends what becomes of the packet; only where it is cloned, later steps
//! are looked at too. What waits for egress is served in the order in which it came, so clones come before what they were cloned
//! from; what begins anew waits for all of that. What begins anew or is cloned too often, and copies for which there is no room, are dropped.

use super::copying::{
    CLONE, CLONE_LIST, RECIRCULATE, RECIRCULATE_LIST, RESUBMIT, RESUBMIT_LIST, TRUNCATE,
};
use super::{COMPUTE_CHECKSUM, DROP_PORT, EGRESS, INGRESS, InstanceType, VERIFY_CHECKSUM};

/// A place of the pipeline where it is decided what becomes of a packet.
#[derive(Debug)]
pub struct Point {
    /// The blocks behind the last such place, which end here.
    pub blocks: &'static [&'static str],
    /// The possible fates, in the order in which they are tried.
    pub steps: &'static [Step],
}

/// One of the things that may become of a packet.
#[derive(Debug)]
pub struct Step {
    /// The condition.
    pub when: When,
    /// The consequence.
    pub then: Then,
}

/// A condition of what becomes of a packet.
#[derive(Clone, Copy, Debug)]
pub enum When {
    /// The program asked for it: a flag of [`copying::REQUESTS`](super::copying::REQUESTS).
    Asked(&'static str),
    /// A field of `standard_metadata` is not 0.
    Set(&'static str),
    /// A field of `standard_metadata` is this number.
    Is(&'static str, u32),
    /// Nothing else holds.
    Otherwise,
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug)]
pub enum Then {
    /// Copies are made, of the group of a clone session and of the session itself, and the packet goes on.
    Clones(&'static Instance),
    /// It begins anew.
    Anew(&'static Instance),
    /// Copies go to a multicast group, and the packet is gone.
    Group(&'static Instance),
    /// It goes on to its port.
    Sent(&'static Instance),
    /// It is dropped.
    Dropped,
    /// It leaves by its port.
    Leaves,
}

/// The packet or a copy, as it begins anew or enters egress: what it has of what it was made of.
#[derive(Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its `instance_type`.
    pub kind: InstanceType,
    /// The state that it is made of, and so the block that it enters.
    pub of: Made,
    /// It has the program's metadata, and all of `standard_metadata`. If not, it has of both what its field list names, and
    /// what says where the packet came from ([`origin`]).
    pub all_metadata: bool,
    /// The number of its field list, among what was asked for: these fields are as they were when it was made.
    pub list: Option<&'static str>,
    /// The requests made before that are still to be done for it.
    pub carries: &'static [&'static str],
    /// It has been around once more than what it was made of.
    pub is_round: bool,
}

/// The state that a packet or copy is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// The bytes that came in, for the parser.
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
        Step {
            when: When::Asked(CLONE),
            then: Then::Clones(&INGRESS_CLONE),
        },
        Step {
            when: When::Asked(RESUBMIT),
            then: Then::Anew(&RESUBMITTED),
        },
        Step {
            when: When::Set("mcast_grp"),
            then: Then::Group(&REPLICA),
        },
        DROPPED,
        Step {
            when: When::Otherwise,
            then: Then::Sent(&UNICAST),
        },
    ],
};

/// The end of egress. A packet that is still there is deparsed.
pub const EGRESS_ENDS: Point = Point {
    blocks: &[EGRESS],
    steps: &[
        Step {
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
        Step {
            when: When::Asked(RECIRCULATE),
            then: Then::Anew(&RECIRCULATED),
        },
        Step {
            when: When::Otherwise,
            then: Then::Leaves,
        },
    ],
};

const DROPPED: Step = Step {
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

/// The requests of ingress that may still be to be done behind egress.
pub const PENDING: [&str; 2] = [RECIRCULATE, TRUNCATE];

/// The requests that are done at the end of the block that makes them: a packet that enters egress has made none.
pub const AT_ONCE: [&str; 2] = [CLONE, RESUBMIT];

/// A value that is given to a field of `standard_metadata`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// The number of [`Instance::kind`].
    InstanceType,
    /// The port that the packet came in by.
    IngressPort,
    /// The bytes that are parsed.
    Length,
    /// The time at which the packet came in, in microseconds.
    Came,
    /// The port that it is for.
    Port,
    /// Its replication id; 0 of one that is not replicated.
    Rid,
    /// The time, in microseconds.
    Now,
    /// 0: of a queue, since there is none.
    Zero,
}

/// The fields that are set as a packet enters the parser, whatever it kept.
pub const AT_PARSER: [(&str, Given); 5] = [
    ("instance_type", Given::InstanceType),
    ("ingress_port", Given::IngressPort),
    ("packet_length", Given::Length),
    // The parser says otherwise of what it rejects.
    ("parser_error", Given::Zero),
    ("ingress_global_timestamp", Given::Came),
];

/// The fields that are set as a packet or copy enters egress, whatever it kept.
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

/// The fields of `standard_metadata` that say where the packet came from.
pub fn origin() -> impl Iterator<Item = &'static str> {
    let fields = AT_PARSER.into_iter();
    fields.filter_map(|(name, given)| (given != Given::InstanceType).then_some(name))
}

/// The most times that a packet, or a copy of it, may begin anew or be cloned, where nothing is short.
pub const MOST_ROUNDS: u32 = 4096;
/// The most runs of ingress and egress for one packet and all that became of it, where nothing is short: clones of clones multiply.
pub const MOST_RUNS: u32 = 16_384;

/// Numbers that every traffic manager reaches, and behind which a target may stop.
#[derive(Debug)]
pub struct Limits {
    /// Times that a packet, or a copy of it, begins anew or is cloned.
    pub rounds: u32,
    /// Its copies that wait for egress, from where it came in to where it leaves or begins anew.
    pub waiting: u32,
    /// Those of them that begin with headers and metadata of their own, with that of the packet and that which the parser left.
    pub states: u32,
    /// Copies of a multicast group or a clone session.
    pub replicas: u32,
}

/// The limits that programs may rely on everywhere.
pub const LIMITS: Limits = Limits {
    rounds: 32,
    waiting: 256,
    states: 64,
    replicas: 64,
};
