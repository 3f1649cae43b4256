//! Name sets ([`NameSetAbi`]): the maps are written as a whole, and never while packets read them.

use crate::errors::system;
use control::StoreError;
use control::name_set::{is_missing, is_there};
use host::words::Words;
use layout::{
    NAME_BELOW, NAME_IN_FRONT, NAME_ITSELF, NAME_RECORD, NAME_SLOTS, NameHash, NameSetAbi,
    name_records,
};
use schema::{NameRule, RuleValue, Scope, ScopedName};

/// Record number of a slot whose rule was removed.
const REMOVED: u32 = u32::MAX;
/// Size of a record in bytes.
const RECORD: usize = NAME_RECORD as usize;
/// Offset of the name's first bytes in a rule's first record.
const NAME_AT: usize = RECORD - NAME_IN_FRONT as usize;

/// Offset of the name's length in it.
const LENGTH_AT: usize = 8;

/// Slot of a bucket: the number of a rule's first record, or 0, and its tag.
type Slot = [u32; 2];

/// Maps of a name set in a program's memory.
#[derive(Clone, Copy)]
pub(crate) struct NameSet<'a> {
    pub abi: &'a NameSetAbi,
    pub buckets: &'a Words,
    pub records: &'a Words,
    /// Seed of the program's hash.
    pub seed: u64,
}

/// Contents of a name set's maps.
pub(crate) struct Image<'a> {
    abi: &'a NameSetAbi,
    hash: NameHash,
    slots: Vec<Slot>,
    /// Records in use, of which the first one is none of a rule.
    records: Vec<u8>,
    rules: u32,
    /// Greatest number of labels of a rule.
    labels: u8,
    /// Number of removed rules whose slots and records are among the others.
    gaps: usize,
}

impl<'a> Image<'a> {
    /// Returns the image of a set without rules.
    pub(crate) fn empty(set: NameSet<'a>) -> Image<'a> {
        let slots = set.abi.bucket_count as usize * NAME_SLOTS as usize;
        Image {
            abi: set.abi,
            hash: NameHash::new(set.seed),
            slots: vec![[0; 2]; slots],
            records: vec![0; RECORD],
            rules: 0,
            labels: 0,
            gaps: 0,
        }
    }

    /// Returns the image of a set as packets find it.
    pub(crate) fn read(set: NameSet<'a>) -> Result<Image<'a>, StoreError> {
        let mut image = Image::empty(set);
        let failed = system("read a name set");
        let used = set.records.u32(0u64).map_err(&failed)?.max(1);
        image.rules = set.records.u32(4u64).map_err(&failed)?;
        let size = used.min(set.abi.record_count) * NAME_RECORD;
        image.records = set.records.bytes(0u64, size).map_err(&failed)?;
        image.labels = image.records.get(LENGTH_AT).copied().unwrap_or(0);
        let size = set.abi.bucket_count * NAME_SLOTS * 8;
        let slots = set.buckets.bytes(0u64, size).map_err(&failed)?;
        let word = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_ne_bytes);
        let slots = slots.chunks_exact(8);
        image.slots = slots.map(|s| [word(&s[..4]), word(&s[4..])]).collect();
        Ok(image)
    }

    /// Adds a rule.
    pub(crate) fn insert(&mut self, rule: &NameRule) -> Result<(), StoreError> {
        let name = rule.name.name.as_bytes();
        if self.rules >= self.abi.capacity {
            let capacity = self.abi.capacity.into();
            return Err(StoreError::Full { capacity });
        }
        // Half of the free slots may be those of removed rules, so that a search still ends soon.
        let spare = self.slots.len() - self.abi.capacity as usize;
        let needed = name_records(name.len() as u32) as usize;
        let room = (self.abi.record_count as usize).saturating_sub(self.records.len() / RECORD);
        if self.gaps > spare / 2 || self.gaps > 0 && room < needed {
            self.compact()?;
        }
        let (at, tag) = match self.find(name, |scope| scope & scope_bits(rule.name.scope) != 0) {
            Found::Rule(_) => return Err(is_there(&rule.name)),
            Found::Free(at, tag) => (at, tag),
            Found::Nowhere => return Err(self.crowded()),
        };
        let number = self.records.len() / RECORD;
        if number + needed > self.abi.record_count as usize {
            return Err(self.crowded());
        }
        let RuleValue {
            number: given,
            lists,
        } = rule.value;
        self.records.extend(given.to_ne_bytes());
        self.records.extend(lists.to_ne_bytes());
        self.records.push(name.len() as u8);
        self.records.push(scope_bits(rule.name.scope));
        self.records.extend(name);
        let filled = self.records.len().max((number + 1) * RECORD);
        self.records.resize(filled.next_multiple_of(RECORD), 0);
        self.slots[at] = [number as u32, tag];
        self.rules += 1;
        let dots = name.iter().filter(|c| **c == b'.').count();
        self.labels = self.labels.max(1 + dots as u8);
        Ok(())
    }

    /// Removes a rule.
    pub(crate) fn remove(&mut self, name: &ScopedName) -> Result<(), StoreError> {
        let bits = scope_bits(name.scope);
        match self.find(name.name.as_bytes(), |scope| scope == bits) {
            Found::Rule(at) => {
                self.slots[at] = [REMOVED, 0];
                self.rules -= 1;
                self.gaps += 1;
                Ok(())
            }
            _ => Err(is_missing(name)),
        }
    }

    /// Returns all rules, in the order of their names.
    pub(crate) fn rules(&self) -> Vec<NameRule> {
        let used = self
            .slots
            .iter()
            .filter(|slot| ![0, REMOVED].contains(&slot[0]));
        let mut rules: Vec<NameRule> = used.map(|slot| self.rule(slot[0])).collect();
        rules.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        rules
    }

    /// Writes maps that no packet reads.
    pub(crate) fn write(mut self, set: NameSet<'_>) -> Result<(), StoreError> {
        if self.gaps > 0 {
            self.compact()?;
        }
        let used = (self.records.len() / RECORD) as u32;
        self.records[..4].copy_from_slice(&used.to_ne_bytes());
        self.records[4..8].copy_from_slice(&self.rules.to_ne_bytes());
        self.records[LENGTH_AT] = self.labels;
        let failed = system("write a name set");
        let wrote = set.records.set_bytes(0u64, &self.records);
        wrote.map_err(&failed)?;
        let bytes: Vec<u8> = self
            .slots
            .iter()
            .flatten()
            .flat_map(|word| word.to_ne_bytes())
            .collect();
        set.buckets.set_bytes(0u64, &bytes).map_err(&failed)
    }

    /// Frees the slots and records of removed rules.
    fn compact(&mut self) -> Result<(), StoreError> {
        let rules = self.rules();
        self.slots.fill([0; 2]);
        self.records.truncate(RECORD);
        (self.rules, self.labels, self.gaps) = (0, 0, 0);
        rules.iter().try_for_each(|rule| self.insert(rule))
    }

    /// Returns the maps of the set.
    pub(crate) fn maps(&self) -> [&'a str; 2] {
        self.abi.maps()
    }

    /// Finds the slot of a name's rule whose scope, in bits, fits; or the first free one.
    fn find(&self, name: &[u8], fits: impl Fn(u8) -> bool) -> Found {
        let (bucket, tag) = self.hash.of(name, self.abi.bucket_count);
        let first = bucket as usize * NAME_SLOTS as usize;
        let all = (first..self.slots.len()).chain(0..first);
        for at in all {
            let [record, of_name] = self.slots[at];
            if record == 0 {
                return Found::Free(at, tag);
            }
            if record != REMOVED && of_name == tag {
                let rule = self.rule(record);
                if rule.name.name.as_bytes() == name && fits(scope_bits(rule.name.scope)) {
                    return Found::Rule(at);
                }
            }
        }
        Found::Nowhere
    }

    fn rule(&self, number: u32) -> NameRule {
        let at = number as usize * RECORD;
        let record = self.records.get(at..).unwrap_or_default();
        let word = |at: usize| {
            let bytes = record
                .get(at..at + 4)
                .and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u32::from_ne_bytes)
        };
        let byte = |at: usize| record.get(at).copied().unwrap_or(0);
        let name = record.get(NAME_AT..NAME_AT + usize::from(byte(LENGTH_AT)));
        NameRule {
            name: ScopedName {
                name: String::from_utf8_lossy(name.unwrap_or_default()).into(),
                scope: match byte(9) {
                    NAME_ITSELF => Scope::Name,
                    NAME_BELOW => Scope::Subdomains,
                    _ => Scope::Domain,
                },
            },
            value: RuleValue {
                number: word(0),
                lists: word(4),
            },
        }
    }

    fn crowded(&self) -> StoreError {
        StoreError::Name {
            what: format!(
                "the names are so long that {} of them fill the set of {}",
                self.rules, self.abi.capacity
            ),
        }
    }
}

/// Place of a name's rule.
enum Found {
    /// Index of the rule's slot.
    Rule(usize),
    /// There is none; index of the slot for it, and its tag.
    Free(usize, u32),
    /// There is none, and no slot is free.
    Nowhere,
}

fn scope_bits(scope: Scope) -> u8 {
    let bit = |covers: bool, bit: u8| if covers { bit } else { 0 };
    bit(scope.covers_itself(), NAME_ITSELF) | bit(scope.covers_below(), NAME_BELOW)
}
