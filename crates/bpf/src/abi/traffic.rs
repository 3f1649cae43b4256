//! Maps of a traffic manager that copies packets: the destinations of copies, and counts of lost packets.

use super::{MapAbi, MapKind};
use arch::v1model::traffic::LIMITS;
use serde::{Deserialize, Serialize};

/// Largest number of copies that a multicast group or a clone session makes, if copies may differ.
pub const MOST_REPLICAS: u32 = LIMITS.replicas;

/// Largest number of times that a packet, or a copy of it, may be resubmitted, recirculated or cloned again.
pub const MOST_ROUNDS: u32 = LIMITS.rounds;

/// Name of the map with the preserved fields of packets that re-enter the program. Only programs with such packets have
/// the map.
pub const ROUNDS_MAP: &str = "packet_rounds";

/// Number of reasons for which packets are lost; `control::DropReason` has their numbers.
pub const DROP_REASONS: u32 = 7;

/// Bytes of `struct replica_group`: `{u32 count, {u32 port, u32 rid} replica[MOST_REPLICAS]}`.
pub const GROUP_BYTES: u32 = 4 + 8 * MOST_REPLICAS;

/// Bytes of `struct clone_session`: `{u32 truncate, u32 group, struct replica_group to}`. Copies are truncated to
/// `truncate` bytes, unless that is 0. The copies of `group`, unless that is 0, are made before the session's own.
pub const SESSION_BYTES: u32 = 8 + GROUP_BYTES;

/// Largest number of multicast groups, and of clone sessions, at a time.
const MOST: u32 = 1 << 16;

/// The traffic manager's maps by name. User space fills all but `drops`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TrafficAbi {
    /// Map from a multicast group (`u32`) to its copies (hash, [`GROUP_BYTES`]). Absent if the program never sends to
    /// a group, or if its copies are equal: then [`PortsAbi::groups`](super::PortsAbi::groups) has them.
    pub groups: Option<String>,
    /// Map from a clone session (`u32`) to its copies (hash, [`SESSION_BYTES`]); absent if the program never clones.
    pub sessions: Option<String>,
    /// Map of the numbers of packets and copies that were lost for each reason (per-CPU array of `u64`); absent if the
    /// program has no traffic manager.
    pub drops: Option<String>,
}

/// Describes the map of multicast groups whose copies differ.
pub fn groups_map(name: &str) -> MapAbi {
    MapAbi {
        no_prealloc: true,
        ..MapAbi::new(name, MapKind::Hash, 4, GROUP_BYTES, MOST)
    }
}

/// Describes the map of clone sessions.
pub fn sessions_map(name: &str) -> MapAbi {
    MapAbi {
        value_size: SESSION_BYTES,
        ..groups_map(name)
    }
}

/// Describes the map that counts losses.
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
