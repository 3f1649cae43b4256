//! Layout of buckets in memory ([`BucketsAbi`]).

use host::words::Words;
use layout::{BUCKET_PLACES, BucketsAbi};
use std::io;

/// Greatest value of a count. A count that has reached it is never decremented, since its true value is unknown.
const MOST: u16 = u16::MAX;

/// Slot of a bucket, which holds one entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct BucketSlot {
    pub bucket: u32,
    /// Index of the slot in its bucket.
    pub at: u32,
}

impl BucketSlot {
    /// Returns the slot with this number, counted over all buckets. `None` if the bytes are no number.
    pub(super) fn numbered(number: &[u8]) -> Option<BucketSlot> {
        let number = u32::from_ne_bytes(number.try_into().ok()?);
        Some(BucketSlot {
            bucket: number / BUCKET_PLACES,
            at: number % BUCKET_PLACES,
        })
    }

    /// Returns the slot's number, counted over all buckets.
    pub(super) fn number(self) -> [u8; 4] {
        (self.bucket * BUCKET_PLACES + self.at).to_ne_bytes()
    }
}

/// Location of an entry that is not in the first bucket of its key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Elsewhere {
    /// The second bucket of its key.
    Second,
    /// A bucket of other keys. The overflow map has its slot.
    Overflow,
}

/// Numbers of keys with this first bucket that are in their second bucket (low half) and in buckets of other keys
/// (high half).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Counts(u32);

impl Counts {
    pub(super) fn of(self, place: Elsewhere) -> u16 {
        match place {
            Elsewhere::Second => self.0 as u16,
            Elsewhere::Overflow => (self.0 >> 16) as u16,
        }
    }

    fn with(self, place: Elsewhere, count: u16) -> Counts {
        let count = u32::from(count);
        Counts(match place {
            Elsewhere::Second => self.0 & !0xffff | count,
            Elsewhere::Overflow => self.0 & 0xffff | count << 16,
        })
    }

    /// Returns the counts with one more.
    pub(super) fn plus(self, place: Elsewhere) -> Counts {
        self.with(place, self.of(place).saturating_add(1))
    }

    /// Returns the counts with one less.
    fn minus(self, place: Elsewhere) -> Counts {
        match self.of(place) {
            MOST => self,
            count => self.with(place, count.saturating_sub(1)),
        }
    }
}

/// Accessor to the memory that holds the buckets.
pub(super) struct Memory<'a> {
    pub memory: &'a Words,
    pub abi: &'a BucketsAbi,
}

impl Memory<'_> {
    fn head(&self, bucket: u32) -> u32 {
        bucket * self.abi.size
    }

    fn key_at(&self, place: BucketSlot) -> u32 {
        self.head(place.bucket) + self.abi.keys_offset + place.at * self.abi.key.size
    }

    fn value_at(&self, place: BucketSlot) -> u32 {
        self.head(place.bucket) + self.abi.values_offset + place.at * self.abi.value.size
    }

    fn used(&self, bucket: u32) -> io::Result<u32> {
        self.memory.u32(self.head(bucket))
    }

    /// Returns the slots of a bucket that are in use.
    pub(super) fn places(
        &self,
        bucket: u32,
    ) -> io::Result<impl Iterator<Item = BucketSlot> + use<>> {
        let used = self.used(bucket)?;
        let all = (0..BUCKET_PLACES).map(move |at| BucketSlot { bucket, at });
        Ok(all.filter(move |place| used >> place.at & 1 != 0))
    }

    /// Returns the slots of a bucket that are free.
    pub(super) fn vacant(
        &self,
        bucket: u32,
    ) -> io::Result<impl Iterator<Item = BucketSlot> + use<>> {
        let used = self.used(bucket)?;
        let all = (0..BUCKET_PLACES).map(move |at| BucketSlot { bucket, at });
        Ok(all.filter(move |place| used >> place.at & 1 == 0))
    }

    /// Returns true if the slot holds this key.
    pub(super) fn has(&self, place: BucketSlot, key: &[u8]) -> io::Result<bool> {
        let mut at = self.key_at(place);
        for word in key.chunks_exact(4) {
            let word = word.try_into().map_or(0, u32::from_ne_bytes);
            if self.memory.u32(at)? != word {
                return Ok(false);
            }
            at += 4;
        }
        Ok(true)
    }

    pub(super) fn key(&self, place: BucketSlot) -> io::Result<Vec<u8>> {
        self.memory.bytes(self.key_at(place), self.abi.key.size)
    }

    pub(super) fn value(&self, place: BucketSlot) -> io::Result<Vec<u8>> {
        self.memory.bytes(self.value_at(place), self.abi.value.size)
    }

    /// Writes an entry into a slot that no packet reads.
    pub(super) fn write(&self, place: BucketSlot, key: &[u8], value: &[u8]) -> io::Result<()> {
        self.memory.set_bytes(self.key_at(place), key)?;
        self.memory.set_bytes(self.value_at(place), value)
    }

    /// Makes one slot of a bucket visible to packets and hides another by one store. Either may be `None`.
    pub(super) fn show(
        &self,
        bucket: u32,
        shown: Option<BucketSlot>,
        hidden: Option<BucketSlot>,
    ) -> io::Result<()> {
        let bit = |place: Option<BucketSlot>| place.map_or(0, |place| 1 << place.at);
        let used = self.used(bucket)? & !bit(hidden) | bit(shown);
        self.memory.set_u32(self.head(bucket), used)
    }

    /// Returns the counts of keys with this first bucket that are stored elsewhere.
    pub(super) fn counts(&self, bucket: u32) -> io::Result<Counts> {
        Ok(Counts(self.memory.u32(self.head(bucket) + 4)?))
    }

    pub(super) fn set_counts(&self, bucket: u32, counts: Counts) -> io::Result<()> {
        self.memory.set_u32(self.head(bucket) + 4, counts.0)
    }

    /// Counts one more key with this first bucket that is stored elsewhere.
    pub(super) fn add(&self, bucket: u32, place: Elsewhere) -> io::Result<()> {
        self.set_counts(bucket, self.counts(bucket)?.plus(place))
    }

    /// Counts one key less with this first bucket that is stored elsewhere.
    pub(super) fn subtract(&self, bucket: u32, place: Elsewhere) -> io::Result<()> {
        self.set_counts(bucket, self.counts(bucket)?.minus(place))
    }

    /// Returns the number of entries in the table.
    pub(super) fn entries(&self) -> io::Result<u32> {
        self.memory.u32(self.head(self.abi.count) + 4)
    }

    pub(super) fn set_entries(&self, entries: u32) -> io::Result<()> {
        self.memory.set_u32(self.head(self.abi.count) + 4, entries)
    }
}
