//! What a traffic manager that makes copies of packets has in the kernel: where copies go, and what was lost.

use super::{MapAbi, MapKind};
use arch::v1model::traffic::LIMITS;
use serde::{Deserialize, Serialize};

/// Copies that a multicast group or a clone session makes at most, where each may differ.
pub const MOST_REPLICAS: u32 = LIMITS.replicas;

/// How often a packet, or a copy of it, may begin anew or be cloned again.
pub const MOST_ROUNDS: u32 = LIMITS.rounds;

/// The name of the map of what packets keep that come in again; it exists in programs that have such.
pub const ROUNDS_MAP: &str = "packet_rounds";

/// Reasons for which packets are lost; `control::DropReason` has their numbers.
pub const DROP_REASONS: u32 = 7;

/// Bytes of `struct replica_group`: `{u32 count, {u32 port, u32 rid} replica[MOST_REPLICAS]}`.
pub const GROUP_BYTES: u32 = 4 + 8 * MOST_REPLICAS;

/// Bytes of `struct clone_session`: `{u32 truncate, u32 group, struct replica_group to}`. Copies have no more than `truncate` bytes
/// if that is not 0; those of `group`, if that is not 0, are made before the session's own.
pub const SESSION_BYTES: u32 = 8 + GROUP_BYTES;

/// Multicast groups, and clone sessions, that there may be at a time.
const MOST: u32 = 1 << 16;

/// The traffic manager's maps by name. User space fills all but `drops`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TrafficAbi {
    /// From a multicast group (`u32`) to its copies (hash, [`GROUP_BYTES`]); absent if the program never sends to a group, or
    /// its copies are equal, so that [`PortsAbi::groups`](super::PortsAbi::groups) has them.
    pub groups: Option<String>,
    /// From a clone session (`u32`) to its copies (hash, [`SESSION_BYTES`]); absent if the program never clones.
    pub sessions: Option<String>,
    /// How many packets and copies of packets were lost for each reason (per-CPU array of `u64`); absent if the program has no
    /// traffic manager.
    pub drops: Option<String>,
}

/// The map of multicast groups whose copies differ.
pub fn groups_map(name: &str) -> MapAbi {
    MapAbi {
        no_prealloc: true,
        ..MapAbi::new(name, MapKind::Hash, 4, GROUP_BYTES, MOST)
    }
}

/// The map of clone sessions.
pub fn sessions_map(name: &str) -> MapAbi {
    MapAbi {
        value_size: SESSION_BYTES,
        ..groups_map(name)
    }
}

/// The map that counts losses.
pub fn drops_map(name: &str) -> MapAbi {
    MapAbi::new(name, MapKind::PercpuArray, 4, 8, DROP_REASONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_stops_where_traffic_managers_may() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/include/onpath/traffic.h");
        let text = std::fs::read_to_string(path).unwrap();
        for (name, most) in [
            ("MOST_REPLICAS", LIMITS.replicas),
            ("MOST_WAITING", LIMITS.waiting),
            ("MOST_STATES", LIMITS.states),
            ("MOST_ROUNDS", LIMITS.rounds),
        ] {
            let (_, defined) = text.split_once(&format!("#define {name} ")).unwrap();
            let number = defined.split_whitespace().next();
            assert_eq!(number, Some(most.to_string().as_str()), "{name}");
        }
    }
}
