//! Contents of pattern sets ([`PatternSetAbi`]): the map is written as a whole, and never while packets read it.

use crate::errors::system;
use control::StoreError;
use control::name_set::{is_known, is_missing};
use host::words::Words;
use layout::PatternSetAbi;
use patterns::{Automata, BLOCK, Image, PatternRules};
use schema::{NameRule, ScopedName};

/// Map of a pattern set in a program's memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PatternSet<'a> {
    pub abi: &'a PatternSetAbi,
    pub blocks: &'a Words,
}

impl PatternSet<'_> {
    /// Returns the rules of the set as packets find them.
    pub(crate) fn read(self) -> Result<PatternRules, StoreError> {
        let failed = system("read a pattern set");
        let first = self.blocks.bytes(0u64, BLOCK).map_err(&failed)?;
        let (at, length) = Image::place_of_text(&first).unwrap_or_default();
        let text = self.blocks.bytes(at, length).map_err(&failed)?;
        Ok(Image::rules(&text))
    }
}

/// New rules of a pattern set.
pub(crate) struct Patterns<'a> {
    abi: &'a PatternSetAbi,
    rules: PatternRules,
    /// Bytes of the map, once they are made.
    bytes: Vec<u8>,
}

impl<'a> Patterns<'a> {
    /// Returns the new contents of a set, which begin with these rules.
    pub(crate) fn new(set: PatternSet<'a>, rules: PatternRules) -> Patterns<'a> {
        Patterns {
            abi: set.abi,
            rules,
            bytes: Vec::new(),
        }
    }

    /// Returns all rules in order.
    pub(crate) fn rules(&self) -> Vec<NameRule> {
        self.rules.iter().collect()
    }

    /// Adds a rule.
    pub(crate) fn insert(&mut self, rule: &NameRule) -> Result<(), StoreError> {
        match self.rules.insert(rule) {
            Ok(true) => Ok(()),
            Ok(false) => Err(is_known(&rule.name)),
            Err(what) => Err(StoreError::Name { what }),
        }
    }

    /// Removes a rule.
    pub(crate) fn remove(&mut self, name: &ScopedName) -> Result<(), StoreError> {
        let removed = self.rules.remove(name);
        removed.map(|_| ()).ok_or_else(|| is_missing(name))
    }

    /// Returns the map of the set.
    pub(crate) fn map(&self) -> &'a str {
        &self.abi.map
    }

    /// Makes the bytes of the map.
    pub(crate) fn prepare(&mut self) -> Result<(), StoreError> {
        let automata = Automata::of(&self.rules).map_err(|what| StoreError::Name { what })?;
        let image = Image::of(&self.rules, &automata);
        self.bytes = image.bytes(self.abi.block_count).map_err(|large| {
            let what = format!(
                "the patterns take the room of {} states, and the set has room for {}",
                large.states, self.abi.capacity
            );
            StoreError::Name { what }
        })?;
        Ok(())
    }

    /// Writes a map that no packet reads.
    pub(crate) fn write(self, set: PatternSet<'_>) -> Result<(), StoreError> {
        let failed = system("write a pattern set");
        set.blocks.set_bytes(0u64, &self.bytes).map_err(failed)
    }
}
