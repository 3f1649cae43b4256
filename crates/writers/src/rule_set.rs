//! Name sets and pattern sets, which change alike: in memory first, and then as a whole.

use crate::errors::unsupported;
use crate::name_set::{Image, NameSet};
use crate::pattern_set::{PatternSet, Patterns};
use control::StoreError;
use patterns::PatternRules;
use schema::{NameRule, ScopedName};

/// Maps of a set.
#[derive(Clone, Copy)]
pub(crate) enum RuleSet<'a> {
    Names(NameSet<'a>),
    Patterns(PatternSet<'a>),
}

/// New contents of a set.
pub(crate) enum Contents<'a> {
    Names(Image<'a>),
    Patterns(Patterns<'a>),
}

impl<'a> Contents<'a> {
    /// Returns the contents of a set without rules.
    pub(crate) fn empty(set: RuleSet<'a>) -> Contents<'a> {
        match set {
            RuleSet::Names(set) => Contents::Names(Image::empty(set)),
            RuleSet::Patterns(set) => {
                Contents::Patterns(Patterns::new(set, PatternRules::default()))
            }
        }
    }

    /// Returns the contents of a set as packets find them.
    pub(crate) fn read(set: RuleSet<'a>) -> Result<Contents<'a>, StoreError> {
        Ok(match set {
            RuleSet::Names(set) => Contents::Names(Image::read(set)?),
            RuleSet::Patterns(set) => Contents::Patterns(Patterns::new(set, set.read()?)),
        })
    }

    /// Returns all rules in order.
    pub(crate) fn rules(&self) -> Vec<NameRule> {
        match self {
            Contents::Names(image) => image.rules(),
            Contents::Patterns(patterns) => patterns.rules(),
        }
    }

    /// Adds a rule.
    pub(crate) fn insert(&mut self, rule: &NameRule) -> Result<(), StoreError> {
        match self {
            Contents::Names(image) => image.insert(rule),
            Contents::Patterns(patterns) => patterns.insert(rule),
        }
    }

    /// Removes a rule.
    pub(crate) fn remove(&mut self, name: &ScopedName) -> Result<(), StoreError> {
        match self {
            Contents::Names(image) => image.remove(name),
            Contents::Patterns(patterns) => patterns.remove(name),
        }
    }

    /// Makes all that can fail, before anything is written.
    pub(crate) fn prepare(&mut self) -> Result<(), StoreError> {
        match self {
            Contents::Names(_) => Ok(()),
            Contents::Patterns(patterns) => patterns.prepare(),
        }
    }

    /// Returns the maps of the set.
    pub(crate) fn maps(&self) -> Vec<&'a str> {
        match self {
            Contents::Names(image) => image.maps().to_vec(),
            Contents::Patterns(patterns) => vec![patterns.map()],
        }
    }

    /// Writes maps that no packet reads.
    pub(crate) fn write(self, set: RuleSet<'_>) -> Result<(), StoreError> {
        match (self, set) {
            (Contents::Names(image), RuleSet::Names(set)) => image.write(set),
            (Contents::Patterns(patterns), RuleSet::Patterns(set)) => patterns.write(set),
            _ => Err(unused()),
        }
    }
}

/// Makes the error for a change of a set in which packets look nothing up.
pub(crate) fn unused() -> StoreError {
    unsupported("the program looks nothing up in this set")
}
