//! Flows of a `flow_state`, read and removed while packets change them.
//!
//! ```text
//! let store = Store::new(memory, true);
//! let (state, data) = store.schema().flow_states().find(|(_, o)| o.name == "c.flows")...;
//! let ObjectKind::FlowState { key, value } = &data.kind ...;      // fields with names and types
//! for Flow { key, value, age } in store.flows(state)? { ... }           // Bits, in the order of the fields
//! ```
//!
//! A set is read under its lock, so that no value is torn. Different sets are read at different moments. One system
//! call reads many sets. A state of 64k flows takes some milliseconds.

use crate::encoding;
use crate::errors::refused;
use crate::memory::{Map, SetWay};
use control::{Flow, FlowRoom, StoreError};
use externs::flow_state::{key_bytes, place};
use layout::FlowStateAbi;
use schema::Bits;
use sketch::HashKey;
use std::io;

/// Most attempts to remove a flow that moves to another way of its set meanwhile.
const TRIES: u32 = 100;

/// Result of an attempt to remove a flow.
enum Removed {
    /// The flow was known, and is removed.
    Known,
    /// The flow was not known.
    Missing,
    /// The flow had moved to another way.
    Moved,
}

/// Flow state of a loaded program.
pub(super) struct Flows<'a> {
    pub abi: &'a FlowStateAbi,
    pub map: &'a dyn Map,
    pub key: HashKey,
    /// Current time in nanoseconds, by the clock that the program reads.
    pub now: u64,
}

impl Flows<'_> {
    /// Reads all flows, by set and way.
    pub(crate) fn all(&self) -> Result<Vec<Flow>, StoreError> {
        let mut flows = Vec::new();
        self.map
            .each_locked(&mut |set| {
                flows.extend((0..self.abi.ways).filter_map(|at| self.flow(set, at)))
            })
            .map_err(refused("read the flows"))?;
        Ok(flows)
    }

    /// Returns the capacity in flows, and the number of evicted flows if the state counts them.
    pub(crate) fn room(&self) -> Result<FlowRoom, StoreError> {
        let mut evicted = self.abi.evicted_offset.map(|_| 0u64);
        if let (Some(at), Some(sum)) = (self.abi.evicted_offset, &mut evicted) {
            let mut add = |set: &[u8]| {
                let counted = set.get(at as usize..).and_then(|set| set.first_chunk());
                *sum += counted.map_or(0, |bytes| u64::from_ne_bytes(*bytes));
            };
            self.map
                .each_locked(&mut add)
                .map_err(refused("read the flows"))?;
        }
        Ok(FlowRoom {
            capacity: u64::from(self.abi.sets) * u64::from(self.abi.ways),
            evicted,
        })
    }

    /// Reads the value of one flow.
    pub(crate) fn one(&self, key: &[Bits]) -> Result<Option<Vec<Bits>>, StoreError> {
        let found = self.find(key).map_err(refused("read the flow"))?;
        Ok(found.and_then(|(set, at)| Some(self.flow(&set, at)?.value)))
    }

    /// Removes a flow.
    pub(crate) fn remove(&self, key: &[Bits]) -> Result<(), StoreError> {
        for _ in 0..TRIES {
            match self
                .try_to_remove(key)
                .map_err(refused("remove the flow"))?
            {
                Removed::Known => return Ok(()),
                Removed::Missing => return Err(StoreError::Missing),
                Removed::Moved => {}
            }
        }
        Err(StoreError::System {
            what: "could not remove the flow: it keeps moving; try again".into(),
        })
    }

    fn try_to_remove(&self, key: &[Bits]) -> io::Result<Removed> {
        let Some((set, at)) = self.find(key)? else {
            return Ok(Removed::Missing);
        };
        let (index, tag) = self.set_and_tag(key);
        let way = SetWay {
            set: index,
            tag,
            tag_at: self.abi.tags_offset + 4 * at,
            key_at: self.abi.ways_offset + at * self.abi.way_size,
            key: &key_bytes(key),
        };
        Ok(match (self.map.empty_way(&way)?, self.flow(&set, at)) {
            (false, _) => Removed::Moved,
            (true, Some(_)) => Removed::Known,
            (true, None) => Removed::Missing,
        })
    }

    /// Removes all flows.
    pub(crate) fn clear(&self) -> Result<(), StoreError> {
        let emptied = self.map.empty_sets(self.abi.tags_offset, self.abi.ways);
        emptied.map_err(refused("remove the flows"))
    }

    fn set_and_tag(&self, key: &[Bits]) -> (u32, u32) {
        place(&key_bytes(key), self.key, self.abi.sets)
    }

    /// Reads the set of a key, and finds the key's way in it.
    fn find(&self, key: &[Bits]) -> io::Result<Option<(Vec<u8>, u32)>> {
        let (index, tag) = self.set_and_tag(key);
        let bytes = key_bytes(key);
        let Some(set) = self.map.get_locked(&index.to_ne_bytes())? else {
            return Ok(None);
        };
        let at = (0..self.abi.ways).find(|&at| {
            let own = self.way(&set, at).get(..bytes.len());
            self.tag(&set, at) == tag && own == Some(&bytes[..])
        });
        Ok(at.map(|at| (set, at)))
    }

    fn tag(&self, set: &[u8], at: u32) -> u32 {
        encoding::get_u32(set, (self.abi.tags_offset + 4 * at) as usize)
    }

    fn way<'s>(&self, set: &'s [u8], at: u32) -> &'s [u8] {
        let from = (self.abi.ways_offset + at * self.abi.way_size) as usize;
        set.get(from..from + self.abi.way_size as usize)
            .unwrap_or_default()
    }

    /// Decodes the flow in a way. `None` if the way is empty or the flow's idle time has passed.
    fn flow(&self, set: &[u8], at: u32) -> Option<Flow> {
        let way = self.way(set, at);
        if self.tag(set, at) == 0 || way.is_empty() {
            return None;
        }
        let mut age = None;
        if let Some(seen) = self.abi.seen_offset {
            let seen = way.get(seen as usize..)?.first_chunk().copied()?;
            let unused = self.now.wrapping_sub(u64::from_ne_bytes(seen));
            if self.abi.idle > 0 && unused.cast_signed() > self.abi.idle.cast_signed() {
                return None;
            }
            // A packet may use the flow after the clock was read.
            age = Some(unused.cast_signed().max(0).cast_unsigned());
        }
        let read = |field| encoding::get(field, way);
        Some(Flow {
            key: self.abi.key.fields.iter().map(read).collect(),
            value: self.abi.value.iter().map(read).collect(),
            age,
        })
    }
}
