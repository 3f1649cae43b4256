//! Destinations of packet copies: multicast groups and clone sessions.

pub mod text;

use crate::StoreError;
use std::fmt;

/// A copy that a multicast group or a clone session makes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Replica {
    /// Port that the copy goes to.
    pub port: u32,
    /// Replication id, which distinguishes it from other copies to the same port: `egress_rid` of `v1model`.
    pub rid: u16,
}

impl Replica {
    /// Makes copies to these ports, with replication id 0.
    pub fn to_ports(ports: impl IntoIterator<Item = u32>) -> Vec<Replica> {
        let to = |port| Replica { port, rid: 0 };
        ports.into_iter().map(to).collect()
    }
}

/// Formats `PORT`, or `PORT:RID` if the id is not 0.
impl fmt::Display for Replica {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rid {
            0 => write!(f, "{}", self.port),
            rid => write!(f, "{}:{rid}", self.port),
        }
    }
}

/// Destinations of the packets that a program clones in a session.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CloneSession {
    /// The copies, in the order in which they are made.
    pub replicas: Vec<Replica>,
    /// A multicast group whose copies are made before these.
    pub group: Option<u16>,
    /// Most bytes of a copy that are sent, headers included.
    pub truncate: Option<u32>,
}

/// Most copies that a multicast group or a clone session makes.
pub const MOST_REPLICAS: usize = 64;

/// Checks the limits on a multicast group that hold on every target.
///
/// # Errors As for [`Change::Group`](crate::Change::Group).
pub fn check_group(group: u16, replicas: &[Replica]) -> Result<(), StoreError> {
    if group == 0 {
        let what = "group 0 means that there is no group; groups begin at 1".to_string();
        return Err(StoreError::Invalid { what });
    }
    check_replicas("a multicast group", replicas)
}

/// Checks the limits on a clone session that hold on every target.
///
/// # Errors As for [`Change::Session`](crate::Change::Session).
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

/// Reason why the traffic manager dropped a packet or a copy of one. Targets count drops in an array, indexed by the
/// number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u32)]
pub enum DropReason {
    /// Cloned in a session that does not exist.
    CloneSession = 0,
    /// Sent to a multicast group that does not exist.
    MulticastGroup = 1,
    /// Resubmitted, recirculated or cloned too often.
    Rounds = 2,
    /// Sent to a port that has no interface.
    Port = 3,
    /// Sent by the program to the port that drops packets on purpose: no loss.
    DropPort = 4,
    /// A copy to be sent, resubmitted or recirculated, for which there was no room.
    Queue = 5,
    /// To be truncated to a length that the kernel does not allow.
    Cut = 6,
}

impl DropReason {
    /// All reasons, in the order of their numbers.
    pub const ALL: [DropReason; 7] = [
        DropReason::CloneSession,
        DropReason::MulticastGroup,
        DropReason::Rounds,
        DropReason::Port,
        DropReason::DropPort,
        DropReason::Queue,
        DropReason::Cut,
    ];

    /// Returns true if the drop is a loss, which the program did not ask for.
    pub fn is_loss(self) -> bool {
        self != DropReason::DropPort
    }

    /// Returns the name in JSON.
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
