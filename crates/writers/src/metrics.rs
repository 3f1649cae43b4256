//! Metrics by group, read from memory that packets write meanwhile: no system call, no lock.
//!
//! A group's key is written before its tag, and never changes. The exception are sets that hold the greatest keys, in
//! which one key may replace another. The set's `changes` is odd during a replacement and has a new value after it, so
//! that a reader knows when to start again.

use crate::encoding;
use crate::errors::refused;
use control::{Group, Groups, StoreError};
use externs::flow_state::KNOWN_KEY;
use host::words::Words;
use layout::MetricsAbi;
use schema::{Bits, MetricKind};
use sketch::{Histogram, HyperLogLog, Item, Metric, SpaceSaving, Tally};
use std::io;

/// Most attempts to read a set without a concurrent change.
const TRIES: u32 = 10_000;

/// Metrics of one extern object of a loaded program.
pub(super) struct Metrics<'a> {
    pub abi: &'a MetricsAbi,
    pub kind: MetricKind,
    pub memory: &'a Words,
    /// Number of processors that have sets.
    pub processors: u32,
    /// Distance from one set to the next, in bytes.
    pub set_size: u32,
}

/// Way in use, as it is in memory.
struct Way {
    bytes: Vec<u8>,
}

/// Contents of one processor's set.
struct Set {
    ways: Vec<Way>,
    lost: u64,
}

impl Metrics<'_> {
    /// Reads the groups of all processors and merges those with the same key.
    pub(crate) fn all(&self) -> Result<Groups, StoreError> {
        let mut all = Groups::default();
        for set in 0..self.abi.sets {
            self.add_set(set, &mut all)
                .map_err(refused("read the metrics"))?;
        }
        Ok(all)
    }

    /// Adds the groups in one set, merged over all processors.
    fn add_set(&self, number: u32, all: &mut Groups) -> io::Result<()> {
        let mut groups: Vec<(Vec<u8>, Metric)> = Vec::new();
        let mut greatest: Option<SpaceSaving> = None;
        for processor in 0..self.processors {
            let set = self.set(processor * self.abi.sets + number)?;
            all.lost = all.lost.saturating_add(set.lost);
            if self.kind == MetricKind::Top {
                let items = set.ways.iter().map(|way| self.item(way)).collect();
                let own = SpaceSaving::from_sets(KNOWN_KEY, self.abi.ways as usize, vec![items]);
                let own = own.map_err(odd)?;
                match &mut greatest {
                    Some(sum) => sum.merge(&own).map_err(odd)?,
                    None => greatest = Some(own),
                }
                continue;
            }
            for way in set.ways {
                let key = self.key_bytes(&way).to_vec();
                let metric = self.metric(&way)?;
                match groups.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, sum)) => sum.merge(&metric).map_err(odd)?,
                    None => groups.push((key, metric)),
                }
            }
        }
        let kept = greatest.iter().flat_map(|set| set.top(usize::MAX));
        groups.extend(kept.map(|item| {
            let metric = Metric::Top {
                weight: item.count,
                error: item.error,
            };
            (item.bytes, metric)
        }));
        let unseen = greatest.map_or(0, |set| set.greatest_unseen());
        all.unseen = all.unseen.max(unseen);
        let read = groups.into_iter().map(|(key, metric)| Group {
            key: self.key(&key),
            metric,
        });
        all.groups.extend(read);
        Ok(())
    }

    /// Reads a set of one processor atomically.
    fn set(&self, index: u32) -> io::Result<Set> {
        // The sets of all processors may take more than 4 GiB.
        let at = u64::from(index) * u64::from(self.set_size);
        let own = |offset: u32| at + u64::from(offset);
        for _ in 0..TRIES {
            let before = self.memory.u32(at)?;
            if before % 2 == 1 {
                // A program in a test run may be waiting for this processor in the middle of a change.
                std::thread::yield_now();
                continue;
            }
            let lost = self.memory.u64(own(self.abi.lost_offset))?;
            let mut ways = Vec::new();
            for way in 0..self.abi.ways {
                if self.memory.u32(own(self.abi.tags_offset + 4 * way))? == 0 {
                    continue;
                }
                let from = own(self.abi.ways_offset + way * self.abi.way_size);
                let mut bytes = Vec::with_capacity(self.abi.way_size as usize);
                for word in (0..self.abi.way_size).step_by(8) {
                    bytes.extend(self.memory.u64(from + u64::from(word))?.to_ne_bytes());
                }
                ways.push(Way { bytes });
            }
            if self.memory.u32(at)? == before {
                return Ok(Set { ways, lost });
            }
        }
        Err(io::Error::other("its keys change too fast; try again"))
    }

    fn key_bytes<'w>(&self, way: &'w Way) -> &'w [u8] {
        way.bytes
            .get(..self.abi.key.size as usize)
            .unwrap_or_default()
    }

    fn key(&self, bytes: &[u8]) -> Vec<Bits> {
        let fields = self.abi.key.fields.iter();
        fields.map(|field| encoding::get(field, bytes)).collect()
    }

    /// Returns the words of a way's metric.
    fn words(&self, way: &Way) -> Vec<u64> {
        let bytes = way.bytes.get(self.abi.metric_offset as usize..);
        let words = bytes.unwrap_or_default().chunks_exact(8);
        words
            .filter_map(|word| word.try_into().ok())
            .map(u64::from_ne_bytes)
            .collect()
    }

    fn item(&self, way: &Way) -> Item {
        let words = self.words(way);
        let word = |at: usize| words.get(at).copied().unwrap_or(0);
        Item {
            count: word(0),
            error: word(1),
            bytes: self.key_bytes(way).to_vec(),
        }
    }

    fn metric(&self, way: &Way) -> io::Result<Metric> {
        let words = self.words(way);
        let word = |at: usize| words.get(at).copied().unwrap_or(0);
        Ok(match self.kind {
            MetricKind::Tally => Metric::Tally(Tally {
                count: word(0),
                sum: word(1),
                least: word(2),
                greatest: word(3),
            }),
            MetricKind::Histogram => {
                let values = Histogram::from_counts(externs::metrics::DETAIL, &words);
                Metric::Histogram(values.map_err(odd)?)
            }
            MetricKind::Distinct { precision } => {
                let from = self.abi.metric_offset as usize;
                let registers = way.bytes.get(from..from + (1 << precision));
                let seen = HyperLogLog::from_registers(precision, registers.unwrap_or_default());
                Metric::Distinct(seen.map_err(odd)?)
            }
            MetricKind::Top => Metric::Top {
                weight: word(0),
                error: word(1),
            },
        })
    }
}

/// Reports that the map's contents contradict the description.
fn odd(error: sketch::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use layout::KeyAbi;

    #[test]
    fn the_sets_of_many_processors_take_more_than_four_gigabytes() {
        // Never written but at its end, the file takes next to no memory.
        const SET_SIZE: u32 = 0x9000_0000;
        let length = 3 * u64::from(SET_SIZE);
        let memory = crate::memory_for_tests::words(length);
        let abi = MetricsAbi {
            index: 0,
            name: "seen".into(),
            map: "seen".into(),
            sets: 1,
            ways: 1,
            lost_offset: 8,
            tags_offset: 16,
            ways_offset: 24,
            way_size: 40,
            metric_offset: 8,
            key: KeyAbi {
                size: 8,
                fields: Vec::new(),
            },
        };
        let last = 2 * u64::from(SET_SIZE);
        memory.set_u32(last + 16, 1).expect("a tag");
        memory.set_u64(last + 32, 7).expect("a count");
        let metrics = Metrics {
            abi: &abi,
            kind: MetricKind::Tally,
            memory: &memory,
            processors: 3,
            set_size: SET_SIZE,
        };
        let all = metrics.all().expect("metrics");
        let [group] = &all.groups[..] else {
            panic!("{all:?}");
        };
        assert!(matches!(&group.metric, Metric::Tally(tally) if tally.count == 7));
    }
}
