//! State that packets write: one value per flow.
//!
//! ```p4
//! extern flow_state<K, V> {
//!     flow_state(bit<32> size);
//!     flow_state(bit<32> size, bit<64> idle);
//!     bool lookup(in K key, out V value);
//!     void update(in K key, in V value);
//!     bool remove(in K key);
//! }
//! ```
//!
//! A set-associative table: a key's [`hash`] chooses a set of [`WAYS`] ways. A set has an LRU counter, and a way keeps
//! the counter's value at its last use, so that a new flow in a full set replaces the least recently used way. With
//! `idle`, a flow whose last use was more than `idle` nanoseconds ago counts as absent. Its way is taken like an empty
//! one, and by its own key first.

mod hash;

pub use hash::{KNOWN_KEY, WAYS, hash, key_bytes, place, sets};

use crate::call::{Arg, Env, Fault, Reply, values};
use crate::{Extern, ExternState, Meaning};
use ir::{Bits, ExternData, Value};
use num_traits::ToPrimitive;
use std::collections::BTreeMap;

/// `flow_state`
pub const EXTERN: Extern = Extern {
    name: ir::atomic::FLOW_STATE,
    meaning: Meaning::Object {
        create: |data| ExternState::Flows(Flows::new(data)),
        methods: &[("lookup", lookup), ("update", update), ("remove", remove)],
    },
};

/// Returns the size that a program gave a state; larger values are clamped.
pub fn size_of(data: &ExternData) -> u32 {
    data.int_arg("size")
        .map_or(0, |n| n.to_u32().unwrap_or(u32::MAX))
}

/// Returns the nanoseconds after which a state's unused flows end; 0 is never.
pub fn idle_of(data: &ExternData) -> u64 {
    data.int_arg("idle")
        .map_or(0, |n| n.to_u64().unwrap_or(u64::MAX))
        .min(i64::MAX as u64)
}

/// A flow: the scalars of its key and of its value.
pub type FlowScalars = (Vec<Bits>, Vec<Bits>);

/// Values by flow; only sets that were used take memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Flows {
    sets: u32,
    idle: u64,
    zero: Vec<Bits>,
    used: BTreeMap<u32, Set>,
    /// Number of flows that others have replaced.
    evicted: u64,
}

#[derive(Clone, Debug, PartialEq, Default)]
struct Set {
    lru: u32,
    ways: [Option<Way>; WAYS],
}

#[derive(Clone, Debug, PartialEq)]
struct Way {
    used: u32,
    seen: u64,
    key: Vec<Bits>,
    value: Vec<Bits>,
}

impl Flows {
    /// Makes an empty state.
    pub fn new(data: &ExternData) -> Flows {
        let scalars = data.type_args.get(1).map_or(&[][..], Vec::as_slice);
        Flows {
            sets: sets(size_of(data)),
            idle: idle_of(data),
            zero: scalars
                .iter()
                .map(|&ty| Value::zero(ty).to_bits())
                .collect(),
            used: BTreeMap::new(),
            evicted: 0,
        }
    }

    /// Returns the flows that are known at a time, by set and way.
    pub fn flows(&self, now: u64) -> Vec<FlowScalars> {
        self.used
            .values()
            .flat_map(|set| set.ways.iter().flatten())
            .filter(|way| !aged(way, now, self.idle))
            .map(|way| (way.key.clone(), way.value.clone()))
            .collect()
    }

    /// Returns the nanoseconds since the last use of each of [`flows`](Self::flows), if unused flows end.
    pub fn ages(&self, now: u64) -> Vec<Option<u64>> {
        let ways = self.used.values().flat_map(|set| set.ways.iter().flatten());
        let ways = ways.filter(|way| !aged(way, now, self.idle));
        ways.map(|way| (self.idle > 0).then(|| now.saturating_sub(way.seen)))
            .collect()
    }

    /// Returns the number of flows that there is room for.
    pub fn capacity(&self) -> u64 {
        u64::from(self.sets) * WAYS as u64
    }

    /// Returns the number of flows that were replaced by others, because their sets had no free way.
    pub fn evicted(&self) -> u64 {
        self.evicted
    }

    /// Returns a flow's value, which counts as a use.
    pub fn lookup(&mut self, key: &[Bits], now: u64) -> Option<&[Bits]> {
        let idle = self.idle;
        let set = self.set(key);
        let at = set.find(key)?;
        let way = set.ways[at].as_mut().filter(|way| !aged(way, now, idle))?;
        set.lru = set.lru.wrapping_add(1);
        way.used = set.lru;
        way.seen = now;
        Some(&way.value)
    }

    /// Stores a flow's value.
    pub fn update(&mut self, key: &[Bits], value: &[Bits], now: u64) {
        let idle = self.idle;
        let set = self.set(key);
        let (at, evicts) = match set.find(key) {
            Some(at) => (at, false),
            None => set.victim(now, idle),
        };
        set.lru = set.lru.wrapping_add(1);
        set.ways[at] = Some(Way {
            used: set.lru,
            seen: now,
            key: key.to_vec(),
            value: value.to_vec(),
        });
        self.evicted += u64::from(evicts);
    }

    /// Removes a flow. Returns true if it was known.
    pub fn remove(&mut self, key: &[Bits], now: u64) -> bool {
        let idle = self.idle;
        let set = self.set(key);
        let gone = set.find(key).and_then(|at| set.ways[at].take());
        gone.is_some_and(|way| !aged(&way, now, idle))
    }

    /// Removes all flows.
    pub fn clear(&mut self) {
        self.used.clear();
    }

    fn set(&mut self, key: &[Bits]) -> &mut Set {
        let (set, _) = place(&key_bytes(key), KNOWN_KEY, self.sets);
        self.used.entry(set).or_default()
    }
}

impl Set {
    fn find(&self, key: &[Bits]) -> Option<usize> {
        let has = |way: &Option<Way>| way.as_ref().is_some_and(|way| way.key == key);
        self.ways.iter().position(has)
    }

    /// Returns the way for a new flow: the first free one, else the least recently used. The second result is true if
    /// that evicts a flow.
    fn victim(&self, now: u64, idle: u64) -> (usize, bool) {
        let mut oldest = (0, 0);
        for (at, way) in self.ways.iter().enumerate() {
            match way {
                Some(way) if !aged(way, now, idle) => {
                    let age = self.lru.wrapping_sub(way.used);
                    if age > oldest.1 {
                        oldest = (at, age);
                    }
                }
                _ => return (at, false),
            }
        }
        (oldest.0, true)
    }
}

/// Returns true if a flow counts as absent, because it was idle too long.
fn aged(way: &Way, now: u64, idle: u64) -> bool {
    idle != 0 && now.wrapping_sub(way.seen).cast_signed() > idle.cast_signed()
}

fn flows(state: &mut ExternState) -> Result<&mut Flows, Fault> {
    match state {
        ExternState::Flows(flows) => Ok(flows),
        _ => Err(Fault::Malformed),
    }
}

fn lookup(state: &mut ExternState, args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let flows = flows(state)?;
    let zero = flows.zero.clone();
    let found = flows.lookup(values(args, 0)?, env.now);
    Ok(Reply {
        result: vec![Bits::from_bool(found.is_some())],
        outs: vec![(1, found.map_or(zero, <[Bits]>::to_vec))],
    })
}

fn update(state: &mut ExternState, args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    flows(state)?.update(values(args, 0)?, values(args, 1)?, env.now);
    Ok(Reply::none())
}

fn remove(state: &mut ExternState, args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let known = flows(state)?.remove(values(args, 0)?, env.now);
    Ok(Reply::value(Bits::from_bool(known)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::{CtorValue, Declared, Type};

    fn state(size: u32, idle: u64) -> Flows {
        Flows::new(&ExternData {
            name: "flows".into(),
            ty: EXTERN.name.into(),
            type_args: vec![vec![Type::bit(32)], vec![Type::bit(8), Type::Bool]],
            type_arg_names: Vec::new(),
            type_arg_declared: vec![vec![Declared::default()], vec![Declared::default(); 2]],
            args: vec![
                ("size".into(), CtorValue::Int(size.into())),
                ("idle".into(), CtorValue::Int(idle.into())),
            ],
            implementations: Vec::new(),
            annotations: Vec::new(),
            span: Default::default(),
        })
    }

    fn key(n: u32) -> Vec<Bits> {
        vec![Bits::new(32, n)]
    }

    fn value(n: u32) -> Vec<Bits> {
        vec![Bits::new(8, n), Bits::from_bool(true)]
    }

    #[test]
    fn what_was_stored_is_found_until_it_is_removed() {
        let mut flows = state(8, 0);
        assert_eq!(flows.lookup(&key(1), 0), None);
        flows.update(&key(1), &value(7), 0);
        flows.update(&key(1), &value(8), 0);
        assert_eq!(flows.lookup(&key(1), 0), Some(&value(8)[..]));
        assert_eq!(flows.flows(0), [(key(1), value(8))]);
        assert!(flows.remove(&key(1), 0));
        assert!(!flows.remove(&key(1), 0));
        assert_eq!(flows.lookup(&key(1), 0), None);
    }

    #[test]
    fn the_flow_that_was_used_longest_ago_makes_room() {
        let mut flows = state(8, 0);
        (0..8).for_each(|n| flows.update(&key(n), &value(n), 0));
        // Looking up is a use, and so is storing.
        assert!(flows.lookup(&key(0), 0).is_some());
        flows.update(&key(1), &value(1), 0);
        flows.update(&key(8), &value(8), 0);
        assert_eq!(flows.lookup(&key(2), 0), None);
        let known = (0..9).filter(|&n| flows.lookup(&key(n), 0).is_some());
        assert_eq!(known.count(), 8);
        // A free way is taken first.
        assert!(flows.remove(&key(5), 0));
        flows.update(&key(9), &value(9), 0);
        assert_eq!(flows.flows(0).len(), 8);
    }

    #[test]
    fn counts_of_use_may_wrap() {
        let mut flows = state(8, 0);
        flows.set(&key(0)).lru = u32::MAX - 4;
        (0..8).for_each(|n| flows.update(&key(n), &value(n), 0));
        flows.update(&key(8), &value(8), 0);
        assert_eq!(flows.lookup(&key(0), 0), None);
        assert!(flows.lookup(&key(7), 0).is_some());
    }

    #[test]
    fn unused_flows_end_and_their_ways_are_free() {
        let mut flows = state(8, 100);
        (0..8).for_each(|n| flows.update(&key(n), &value(n), u64::from(n)));
        assert!(flows.lookup(&key(0), 100).is_some());
        assert_eq!(flows.lookup(&key(1), 102), None);
        assert_eq!(flows.flows(102).len(), 7);
        assert!(!flows.remove(&key(1), 102));
        flows.update(&key(9), &value(9), 102);
        assert_eq!(flows.flows(102).len(), 8);
        // An aged flow that comes back takes its own way, not another's as well.
        flows.update(&key(2), &value(2), 1000);
        assert_eq!(flows.flows(1000), [(key(2), value(2))]);
        // A clock that is behind ages nothing.
        assert!(flows.lookup(&key(2), 0).is_some());
    }

    #[test]
    fn a_key_stays_in_its_set() {
        let mut flows = state(64, 0);
        (0..1000).for_each(|n| flows.update(&key(n), &value(1), 0));
        assert_eq!(flows.used.len(), 8);
        assert_eq!(flows.flows(0).len(), 64);
        flows.clear();
        assert!(flows.flows(0).is_empty());
    }
}
