//! Where copies of packets go: multicast groups and clone sessions.

pub mod text;

use crate::StoreError;
use std::fmt;

/// A copy that a multicast group or a clone session makes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Replica {
    /// The port it goes to.
    pub port: u32,
    /// What tells it from other copies to the same port: `egress_rid` of `v1model`.
    pub rid: u16,
}

impl Replica {
    /// Copies to these ports, with replication id 0.
    pub fn to_ports(ports: impl IntoIterator<Item = u32>) -> Vec<Replica> {
        let to = |port| Replica { port, rid: 0 };
        ports.into_iter().map(to).collect()
    }
}

/// `PORT`, or `PORT:RID` where the id is not 0.
impl fmt::Display for Replica {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rid {
            0 => write!(f, "{}", self.port),
            rid => write!(f, "{}:{rid}", self.port),
        }
    }
}

/// What becomes of the packets that a program clones in a session.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CloneSession {
    /// The copies, in the order in which they are made.
    pub replicas: Vec<Replica>,
    /// A multicast group whose copies are made before these.
    pub group: Option<u16>,
    /// At most so many bytes of a copy leave, headers included.
    pub truncate: Option<u32>,
}

/// Copies that a multicast group or a clone session makes at most.
pub const MOST_REPLICAS: usize = 64;

/// Whether there can be such a multicast group on any target.
///
/// # Errors
/// As for [`Change::Group`](crate::Change::Group).
pub fn check_group(group: u16, replicas: &[Replica]) -> Result<(), StoreError> {
    if group == 0 {
        let what = "group 0 means that there is no group; groups begin at 1".to_string();
        return Err(StoreError::Invalid { what });
    }
    check_replicas("a multicast group", replicas)
}

/// Whether there can be such a clone session on any target.
///
/// # Errors
/// As for [`Change::Session`](crate::Change::Session).
pub fn check_session(session: &CloneSession) -> Result<(), StoreError> {
    if session.group == Some(0) {
        let what = "a clone session cannot send to group 0, which means that there is no group";
        let what = what.to_string();
        return Err(StoreError::Invalid { what });
    }
    if session.truncate == Some(0) {
        let what = "a clone session cannot cut its copies to 0 bytes".to_string();
        return Err(StoreError::Invalid { what });
    }
    check_replicas("a clone session", &session.replicas)
}

fn check_replicas(subject: &str, replicas: &[Replica]) -> Result<(), StoreError> {
    if replicas.len() > MOST_REPLICAS {
        let what = format!(
            "{subject} has {MOST_REPLICAS} ports at most, and this one has {}",
            replicas.len()
        );
        return Err(StoreError::Invalid { what });
    }
    Ok(())
}

/// Why the traffic manager dropped a packet or a copy of one. Targets that count in an array have each at its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u32)]
pub enum DropReason {
    /// Cloned in a session that nobody has made.
    CloneSession = 0,
    /// Sent to a multicast group that nobody has made.
    MulticastGroup = 1,
    /// It went round too often: resubmitted, recirculated or cloned again.
    Rounds = 2,
    /// Sent to a port that has no interface.
    Port = 3,
    /// The program sent it to the port that means to drop it: no loss.
    DropPort = 4,
    /// A copy that was to be sent, or to begin anew, for which there was no room.
    Queue = 5,
    /// To be cut to a length that the kernel does not let it have.
    Cut = 6,
}

impl DropReason {
    /// Each, in the order of the numbers.
    pub const ALL: [DropReason; 7] = [
        DropReason::CloneSession,
        DropReason::MulticastGroup,
        DropReason::Rounds,
        DropReason::Port,
        DropReason::DropPort,
        DropReason::Queue,
        DropReason::Cut,
    ];

    /// Whether the program wanted something else.
    pub fn is_loss(self) -> bool {
        self != DropReason::DropPort
    }

    /// As JSON names it.
    pub fn name(self) -> &'static str {
        match self {
            DropReason::CloneSession => "clone_session",
            DropReason::MulticastGroup => "multicast_group",
            DropReason::Rounds => "rounds",
            DropReason::Port => "port",
            DropReason::DropPort => "drop_port",
            DropReason::Queue => "queue",
            DropReason::Cut => "cut",
        }
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DropReason::CloneSession => "no such clone session",
            DropReason::MulticastGroup => "no such multicast group",
            DropReason::Rounds => "too many rounds",
            DropReason::Port => "no such port",
            DropReason::DropPort => "dropped by the program",
            DropReason::Queue => "no room for a copy",
            DropReason::Cut => "cut too short",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::DropReason;

    #[test]
    fn reasons_are_in_the_order_of_their_numbers() {
        for (number, reason) in DropReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, number, "{reason:?}");
        }
    }
}
