//! Metrics of packets by group (`p4include/telemetry.p4`).
//!
//! ```p4
//! extern tally<K>             { tally(bit<32> groups);          void add(in K key, in bit<64> value); }
//! extern histogram<K>         { histogram(bit<32> groups);      void add(in K key, in bit<64> value); }
//! extern distinct_count<K, T> { distinct_count(bit<32> groups); void add(in K key, in T item); }
//! extern top_keys<K>          { top_keys(bit<32> keys);         void add(in K key, in bit<64> weight); }
//! ```
//!
//! Groups are in sets of eight ways, chosen like those of a [`flow_state`](crate::flow_state). A group keeps its way
//! permanently. Only `top_keys` replaces a key in its way by another.

use crate::call::{Arg, Env, Fault, Reply, index, values};
use crate::flow_state::{KNOWN_KEY, WAYS, hash, key_bytes, place, sets};
use crate::{Extern, ExternState, Meaning};
use ir::{Bits, ExternData, Type};
use num_traits::ToPrimitive;
use sketch::{Histogram, HyperLogLog, Item, Metric, SpaceSaving, Tally};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The name of the extern that counts and adds up.
pub const TALLY: &str = "tally";
/// The name of the extern that keeps a distribution.
pub const HISTOGRAM: &str = "histogram";
/// The name of the extern that counts different items.
pub const DISTINCT: &str = "distinct_count";
/// The name of the extern that keeps the greatest keys.
pub const TOP: &str = "top_keys";

/// Precisions that a count of different items can have.
pub const PRECISIONS: RangeInclusive<u32> = 4..=12;
/// Precision of a count that names none.
const PRECISION: u32 = 10;
/// Detail of histograms: values that agree in their highest set bit and in this number of bits after it share a count.
pub const DETAIL: u32 = 3;

/// `tally`
pub const TALLIES: Extern = of(TALLY);
/// `histogram`
pub const HISTOGRAMS: Extern = of(HISTOGRAM);
/// `distinct_count`
pub const DISTINCT_COUNTS: Extern = of(DISTINCT);
/// `top_keys`
pub const TOP_KEYS: Extern = of(TOP);

const fn of(name: &'static str) -> Extern {
    Extern {
        name,
        meaning: Meaning::Object {
            create: |data| ExternState::Metrics(Metrics::new(data)),
            methods: &[("add", add)],
        },
    }
}

/// Returns the number of groups that a program asks for; larger numbers are clamped.
pub fn groups_of(data: &ExternData) -> u32 {
    let asked = data.int_arg("groups").or_else(|| data.int_arg("keys"));
    asked.map_or(0, |n| n.to_u32().unwrap_or(u32::MAX))
}

/// Returns the precision of a count of different items; larger numbers are clamped.
pub fn precision_of(data: &ExternData) -> u32 {
    data.int_arg("precision")
        .map_or(PRECISION, |n| n.to_u32().unwrap_or(u32::MAX))
}

/// Metrics by group; only sets that were used take memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Metrics {
    sets: u32,
    /// Metric of a new group; `None` if a set keeps its greatest keys.
    zero: Option<Metric>,
    /// Types of a key's scalars.
    key: Vec<Type>,
    groups: BTreeMap<u32, Vec<(Vec<Bits>, Metric)>>,
    greatest: BTreeMap<u32, SpaceSaving>,
    lost: u64,
}

/// A group's key and metric.
pub type Group = (Vec<Bits>, Metric);

impl Metrics {
    /// Makes an object without groups. A precision out of range, which targets refuse, is clamped to the range.
    pub fn new(data: &ExternData) -> Metrics {
        let zero = match data.ty.as_str() {
            TALLY => Some(Metric::Tally(Tally::default())),
            HISTOGRAM => Histogram::new(DETAIL).ok().map(Metric::Histogram),
            DISTINCT => {
                let precision = precision_of(data).clamp(*PRECISIONS.start(), *PRECISIONS.end());
                HyperLogLog::new(precision).ok().map(Metric::Distinct)
            }
            _ => None,
        };
        Metrics {
            sets: sets(groups_of(data)),
            zero,
            key: data.type_args.first().cloned().unwrap_or_default(),
            groups: BTreeMap::new(),
            greatest: BTreeMap::new(),
            lost: 0,
        }
    }

    /// Returns all groups, by set and way.
    pub fn all(&self) -> Vec<Group> {
        let greatest = self.greatest.values().flat_map(|set| set.top(WAYS));
        let greatest = greatest.map(|item| {
            let metric = Metric::Top {
                weight: item.count,
                error: item.error,
            };
            (self.key_of(&item), metric)
        });
        let groups = self.groups.values().flatten().cloned();
        groups.chain(greatest).collect()
    }

    /// Returns the number of additions that were lost because their group found no free way.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns the largest weight that a key may have that is not kept.
    pub fn greatest_unseen(&self) -> u64 {
        let bounds = self.greatest.values().map(SpaceSaving::greatest_unseen);
        bounds.max().unwrap_or(0)
    }

    fn key_of(&self, item: &Item) -> Vec<Bits> {
        let mut at = 0;
        let scalar = |ty: &Type| {
            let size = ty.width().div_ceil(8) as usize;
            let bytes = item.bytes.get(at..at + size).unwrap_or_default();
            at += size;
            Bits::from_bytes(ty.width(), bytes)
        };
        self.key.iter().map(scalar).collect()
    }

    /// Returns the metric of a key's group, which is added if there is a free way.
    fn group(&mut self, key: &[Bits]) -> Option<&mut Metric> {
        let zero = self.zero.as_ref()?;
        let (set, _) = place(&key_bytes(key), KNOWN_KEY, self.sets);
        let set = self.groups.entry(set).or_default();
        let at = match set.iter().position(|(own, _)| own == key) {
            Some(at) => at,
            None if set.len() < WAYS => {
                set.push((key.to_vec(), zero.clone()));
                set.len() - 1
            }
            None => {
                self.lost += 1;
                return None;
            }
        };
        Some(&mut set[at].1)
    }

    fn add_weight(&mut self, key: &[Bits], weight: u64) {
        let bytes = key_bytes(key);
        let (set, _) = place(&bytes, KNOWN_KEY, self.sets);
        let set = match self.greatest.entry(set) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(free) => {
                match SpaceSaving::new(KNOWN_KEY, 0, WAYS) {
                    Ok(empty) => free.insert(empty),
                    Err(_) => return,
                }
            }
        };
        set.add(&bytes, weight);
    }
}

fn add(state: &mut ExternState, args: &[Arg], _: &mut Env<'_>) -> Result<Reply, Fault> {
    let ExternState::Metrics(metrics) = state else {
        return Err(Fault::Malformed);
    };
    let key = values(args, 0)?;
    if metrics.zero.is_none() {
        metrics.add_weight(key, index(args, 1)?);
        return Ok(Reply::none());
    }
    match metrics.group(key) {
        Some(Metric::Tally(tally)) => tally.add(index(args, 1)?),
        Some(Metric::Histogram(histogram)) => histogram.add(index(args, 1)?),
        Some(Metric::Distinct(seen)) => seen.add(hash(&key_bytes(values(args, 1)?), KNOWN_KEY)),
        Some(Metric::Top { .. }) | None => {}
    }
    Ok(Reply::none())
}
