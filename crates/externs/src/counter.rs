//! `v1model`: indexed counters.
//!
//! ```p4
//! extern counter {
//!     counter(bit<32> size, CounterType type);
//!     void count(in bit<32> index);
//! }
//! ```
//!
//! Bytes are those of the packet as it came in.

use crate::call::{Arg, Env, Fault, Reply, index};
use crate::{Extern, ExternState, Meaning};
use ir::{CtorValue, ExternData};
use num_traits::ToPrimitive;
use std::collections::HashMap;

/// `counter`
pub(crate) const EXTERN: Extern = Extern {
    name: "counter",
    meaning: Meaning::Object {
        create: |data| {
            ExternState::Counters(Counters::new(size_of(data, "size"), Counted::of(data)))
        },
        methods: &[("count", count)],
    },
};

/// Unit of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Counted {
    /// Packets, or whatever the program adds up.
    #[default]
    Packets,
    /// Their bytes.
    Bytes,
    /// Both.
    PacketsAndBytes,
}

impl Counted {
    /// Returns the unit that a counter's constructor asks for by a member of `CounterType`.
    pub fn of(data: &ExternData) -> Counted {
        let member = data.args.iter().find_map(|(_, value)| match value {
            CtorValue::Member(_, member) => Some(*member),
            _ => None,
        });
        match member {
            Some(1) => Counted::Bytes,
            Some(2) => Counted::PacketsAndBytes,
            _ => Counted::Packets,
        }
    }

    /// Returns the packets and bytes that a packet of this size adds.
    pub fn by_packet(self, bytes: u64) -> (u64, u64) {
        match self {
            Counted::Packets => (1, 0),
            Counted::Bytes => (0, bytes),
            Counted::PacketsAndBytes => (1, bytes),
        }
    }
}

/// Counters by index; only those that were incremented take memory.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Counters {
    size: u64,
    counted: Counted,
    cells: HashMap<u64, (u64, u64)>,
}

impl Counters {
    /// Makes `size` counters at 0.
    pub fn new(size: u64, counted: Counted) -> Counters {
        Counters {
            size,
            counted,
            cells: HashMap::new(),
        }
    }

    /// Returns the number of counters.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the packets (or units) and bytes counted at an index; `None` out of range.
    pub fn get(&self, index: u64) -> Option<(u64, u64)> {
        (index < self.size).then(|| self.cells.get(&index).copied().unwrap_or_default())
    }

    /// Sets one counter to zero, or all. Returns false if there is none at the index.
    pub fn reset(&mut self, index: Option<u64>) -> bool {
        match index {
            Some(index) if index >= self.size => return false,
            Some(index) => drop(self.cells.remove(&index)),
            None => self.cells.clear(),
        }
        true
    }

    /// Raises a counter, wrapping at 64 bits; does nothing out of range.
    pub fn add(&mut self, index: u64, units: u64, bytes: u64) {
        if index < self.size {
            let cell = self.cells.entry(index).or_default();
            cell.0 = cell.0.wrapping_add(units);
            cell.1 = cell.1.wrapping_add(bytes);
        }
    }
}

/// Returns a constructor's argument for the number of elements.
pub(crate) fn size_of(data: &ExternData, name: &str) -> u64 {
    data.int_arg(name).and_then(|n| n.to_u64()).unwrap_or(0)
}

fn count(state: &mut ExternState, args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let ExternState::Counters(counters) = state else {
        return Err(Fault::Malformed);
    };
    let (packets, bytes) = counters.counted.by_packet(env.packet.len() as u64);
    counters.add(index(args, 0)?, packets, bytes);
    Ok(Reply::none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::{arg, with_env};

    #[test]
    fn packets_and_bytes_are_counted_inside_only() {
        let counts = [
            (Counted::Packets, (2, 0)),
            (Counted::Bytes, (0, 120)),
            (Counted::PacketsAndBytes, (2, 120)),
        ];
        for (counted, expected) in counts {
            let mut state = ExternState::Counters(Counters::new(2, counted));
            for at in [1, 1, 2] {
                let reply = with_env(&[0; 60], 14, |env| count(&mut state, &[arg(32, at)], env)).0;
                assert_eq!(reply, Ok(Reply::none()));
            }
            let ExternState::Counters(counters) = state else {
                unreachable!()
            };
            assert_eq!(counters.get(0), Some((0, 0)));
            assert_eq!(counters.get(1), Some(expected));
            assert_eq!(counters.get(2), None);
        }
    }

    #[test]
    fn one_or_all_are_reset() {
        let mut counters = Counters::new(2, Counted::PacketsAndBytes);
        counters.add(0, 1, 1);
        counters.add(1, 1, 1);
        assert!(counters.reset(Some(1)));
        assert_eq!(
            (counters.get(0), counters.get(1)),
            (Some((1, 1)), Some((0, 0)))
        );
        assert!(!counters.reset(Some(2)));
        assert!(counters.reset(None));
        assert_eq!(counters.get(0), Some((0, 0)));
    }
}
