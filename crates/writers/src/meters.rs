//! Meters: token buckets that packets drain under a lock of the meter. The control plane sets their rates under the
//! same lock.

use crate::encoding;
use crate::errors::{refused, system, unsupported};
use crate::memory::Map;
use crate::state::ProgramState;
use crate::steps::ChangeStep;
use crate::transaction::Transaction;
use control::{EntryKey, MeterRef, Rates, StoreError};
use schema::{Object, ObjectKind, Table};

/// Number of millionths in a token.
const TOKEN: u64 = 1_000_000;

/// Offsets of the members of `struct packet_meter`: `{lock, u32 limited, u64 last, bucket committed, bucket peak}`,
/// where a bucket is `{u64 whole, parts, burst, tokens, part}`. In bytes.
const LIMITED: usize = 4;
const LAST: usize = 8;
const BUCKETS: [usize; 2] = [16, 56];
const PARTS: usize = 8;
const BURST: usize = 16;
const TOKENS: usize = 24;
const SIZE: usize = 96;

/// Encodes a meter whose buckets are full at the time `now`, in nanoseconds. Without rates it is all zeros.
fn begin(rates: Option<Rates>, now: u64) -> Vec<u8> {
    let mut bytes = vec![0; SIZE];
    let Some(rates) = rates else {
        return bytes;
    };
    let mut put = |at: usize, word: u64| bytes[at..at + 8].copy_from_slice(&word.to_ne_bytes());
    put(LAST, now / 1_000);
    let limits = [
        (rates.committed, rates.committed_burst),
        (rates.peak, rates.peak_burst),
    ];
    for (bucket, (rate, burst)) in BUCKETS.into_iter().zip(limits) {
        put(bucket, rate / TOKEN);
        put(bucket + PARTS, rate % TOKEN);
        put(bucket + BURST, burst);
        put(bucket + TOKENS, burst);
    }
    encoding::put_u32(&mut bytes, LIMITED, 1);
    bytes
}

/// Decodes the rates of a meter.
fn rates(bytes: &[u8]) -> Option<Rates> {
    if encoding::get_u32(bytes, LIMITED) == 0 {
        return None;
    }
    let word = |at: usize| {
        let word = bytes
            .get(at..)
            .and_then(|bytes| bytes.first_chunk().copied());
        word.map_or(0, u64::from_ne_bytes)
    };
    let rate = |bucket: usize| word(bucket) * TOKEN + word(bucket + PARTS);
    let [committed, peak] = BUCKETS;
    Some(Rates {
        committed: rate(committed),
        committed_burst: word(committed + BURST),
        peak: rate(peak),
        peak_burst: word(peak + BURST),
    })
}

/// Reads the rates of the meter at an index.
fn read(map: &dyn Map, index: u32) -> Result<Option<Rates>, StoreError> {
    let found = map.get_locked(&index.to_ne_bytes());
    let found = found.map_err(refused("read the meter"))?;
    Ok(found.and_then(|bytes| rates(&bytes)))
}

impl ProgramState<'_> {
    /// Returns the map of a meter. `None` if no packet uses it. Fails for an index that the meter does not have.
    fn meter_map(&self, meter: Object, index: u64) -> Result<Option<&str>, StoreError> {
        let ObjectKind::Meter { size, .. } = self.schema.objects[meter].kind else {
            return Err(unsupported("this extern object has no meters"));
        };
        if index >= size {
            return Err(StoreError::OutOfRange { size });
        }
        let mut all = self.memory.contents().meters.iter();
        let known = all.find(|known| known.index == meter.as_u32());
        Ok(known.map(|known| known.map.as_str()))
    }

    /// Reads the rates of an indexed meter.
    pub(super) fn read_meter(
        &self,
        meter: Object,
        index: u64,
    ) -> Result<Option<Rates>, StoreError> {
        match self.meter_map(meter, index)? {
            Some(map) => read(self.map(map)?, index as u32),
            None => Ok(None),
        }
    }

    /// Reads the rates of all elements that have some, with their indices.
    pub(super) fn read_meters(&self, meter: Object) -> Result<Vec<(u64, Rates)>, StoreError> {
        let Some(map) = self.meter_map(meter, 0)? else {
            return Ok(Vec::new());
        };
        let (mut at, mut found) = (0, Vec::new());
        let read = self.map(map)?.each_locked(&mut |bytes| {
            found.extend(rates(bytes).map(|rates| (at, rates)));
            at += 1;
        });
        read.map_err(refused("read the meters"))?;
        Ok(found)
    }

    /// Returns the map of a table's direct meter. `None` if no packet uses the meter of an entry.
    fn direct_meter_map(&self, table: Table) -> Result<Option<&str>, StoreError> {
        let objects = self.schema.tables[table].objects.iter();
        let mut kinds = objects.map(|(_, object)| &self.schema.objects[*object].kind);
        if !kinds.any(|kind| matches!(kind, ObjectKind::DirectMeter { .. })) {
            return Err(unsupported("the entries of the table have no meters"));
        }
        let direct = self.table_abi(table)?.direct.as_ref();
        Ok(direct.and_then(|direct| direct.meter.as_deref()))
    }

    /// Reads the rates of an entry's direct meter.
    pub(super) fn read_direct_meter(
        &self,
        table: Table,
        key: &EntryKey,
    ) -> Result<Option<Rates>, StoreError> {
        let map = self.direct_meter_map(table)?;
        let number = self.number_of(table, &key.keys, key.priority)?;
        match map {
            Some(map) => read(self.map(map)?, number.wrapping_sub(1)),
            None => Ok(None),
        }
    }

    /// Returns the step that sets a meter's rates.
    fn limit(
        &self,
        map: &str,
        index: u32,
        rates: Option<Rates>,
        origin: u32,
    ) -> Result<ChangeStep, StoreError> {
        let now = self.memory.now()?;
        let key = index.to_ne_bytes();
        let old = self.map(map)?.get_locked(&key);
        let old = old.map_err(system("read the meter"))?;
        Ok(ChangeStep::Locked {
            map: map.to_string(),
            key: key.to_vec(),
            old: old.unwrap_or_else(|| vec![0; SIZE]),
            new: begin(rates, now),
            origin,
        })
    }
}

/// Staged rates of an entry's direct meter. A new entry gets its number only when the batch is written.
pub(super) struct DirectMeter {
    pub table: Table,
    pub key: EntryKey,
    pub rates: Option<Rates>,
    pub origin: u32,
}

impl Transaction<'_> {
    /// Sets the rates of a meter, or removes them.
    pub(super) fn set_meter(
        &mut self,
        meter: &MeterRef,
        rates: Option<Rates>,
        origin: u32,
    ) -> Result<(), StoreError> {
        rates.map_or(Ok(()), |rates| rates.check())?;
        match meter {
            MeterRef::Indexed(meter, index) => {
                self.store.meter_map(*meter, *index)?;
                self.meters.insert((*meter, *index), (rates, origin));
            }
            MeterRef::OfEntry(table, key) => {
                self.store.direct_meter_map(*table)?;
                if self.entry_number(*table, key)?.is_none() {
                    return Err(StoreError::Missing);
                }
                self.direct_meters.push(DirectMeter {
                    table: *table,
                    key: EntryKey {
                        keys: self.store.schema.tables[*table].canonical(&key.keys),
                        priority: key.priority,
                    },
                    rates,
                    origin,
                });
            }
        }
        Ok(())
    }

    /// Returns the steps that set the rates of meters. Entries must have their numbers.
    pub(super) fn meter_steps(&mut self) -> Result<Vec<ChangeStep>, StoreError> {
        let store = self.store;
        let mut steps = Vec::new();
        for ((meter, index), (rates, origin)) in std::mem::take(&mut self.meters) {
            if let Some(map) = store.meter_map(meter, index)? {
                steps.push(store.limit(map, index as u32, rates, origin)?);
            }
        }
        for wanted in std::mem::take(&mut self.direct_meters) {
            let map = store.direct_meter_map(wanted.table)?;
            let number = self.entry_number(wanted.table, &wanted.key)?;
            if let (Some(map), Some(number)) = (map, number) {
                let index = number.wrapping_sub(1);
                steps.push(store.limit(map, index, wanted.rates, wanted.origin)?);
            }
        }
        Ok(steps)
    }
}
