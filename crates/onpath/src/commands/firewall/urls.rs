//! Rules of a firewall for URLs, and the automata that they take.

use crate::output::{Stop, refused};
use diag::counted;
use firewall::errors;
use firewall::rules::{ListedUrl, of_urls};
use patterns::{Automata, BLOCK, Image, MOST_STATES, Pattern, PatternRules, blocks};
use schema::NameRule;

/// Control-plane name of the program's set.
pub(super) const SET: &str = "patterns";
/// States for which a set has room besides those of the lists, at least.
const MORE_STATES: u32 = 4096;

/// Rules for URLs.
pub(super) struct Urls {
    /// Rules in the order of their patterns.
    pub rules: Vec<NameRule>,
    /// Numbers of prefixes, words and expressions.
    pub counts: [usize; 3],
}

/// Automata of rules for URLs.
pub(super) struct Made {
    /// Numbers of states of the automata of prefixes, words and expressions.
    pub states: [usize; 3],
    /// States for which a set has room that takes more rules later.
    pub size: u32,
}

impl Made {
    /// Returns the numbers of states as text.
    pub(super) fn text(&self) -> String {
        let [prefixes, words, expressions] = self.states;
        let states = counted(prefixes, "state");
        format!("{states} for prefixes, {words} for keywords and {expressions} for expressions")
    }

    /// Returns the memory of the set in the kernel, in bytes.
    pub(super) fn memory(&self) -> u64 {
        u64::from(blocks(self.size)) * u64::from(BLOCK)
    }
}

impl Urls {
    /// Makes the rules of lists.
    pub(super) fn of(listed: Vec<ListedUrl>) -> Urls {
        let rules = of_urls(listed);
        let mut counts = [0; 3];
        for rule in &rules {
            let kind = match Pattern::parse(&rule.name.name) {
                Ok(Pattern::Prefix(_)) => 0,
                Ok(Pattern::Word(_)) => 1,
                _ => 2,
            };
            counts[kind] += 1;
        }
        Urls { rules, counts }
    }

    /// Returns the rules as a set that tells what a packet finds.
    pub(super) fn set<'r>(rules: impl IntoIterator<Item = &'r NameRule>) -> PatternRules {
        let mut set = PatternRules::default();
        for rule in rules {
            // Their patterns were read before.
            let _ = set.insert(rule);
        }
        set
    }

    /// Makes the automata; `None` without rules.
    ///
    /// # Errors
    ///
    /// They are too large.
    pub(super) fn automata(&self) -> Result<Option<Made>, Stop> {
        if self.rules.is_empty() {
            return Ok(None);
        }
        let set = Urls::set(&self.rules);
        let automata = Automata::of(&set).map_err(|why| refused(errors::too_many_states(&why)))?;
        let needed = Image::of(&set, &automata).states();
        if needed > MOST_STATES {
            let why = format!(
                "the patterns of the lists take the room of {needed} states, and a set has room for {MOST_STATES}"
            );
            return Err(refused(errors::too_many_states(&why)));
        }
        let size = (needed + needed / 4 + MORE_STATES).next_multiple_of(MORE_STATES);
        Ok(Some(Made {
            states: automata.states(),
            size: size.min(MOST_STATES),
        }))
    }
}
