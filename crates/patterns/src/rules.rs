//! Rules of a pattern set, and those that a text matches.

use crate::pattern::{Pattern, Prefix};
use crate::text::UrlText;
use domains::{NameRule, RuleValue, Scope, ScopedName};
use std::collections::BTreeMap;

/// Lower bits of the fields of two bits that a rule's lists have.
const FIELDS: u32 = 0x5555_5555;

/// Returns all bits of the fields that are not 0.
pub(crate) fn fields(lists: u32) -> u32 {
    let any = (lists | lists >> 1) & FIELDS;
    any | any << 1
}

/// Values of what was found in a text.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Found {
    /// Of prefixes: the number of the longest one, and in each field of two bits that of the longest one in which it is not 0.
    pub prefix: RuleValue,
    /// Of words and expressions: the greatest number, and the bits of all.
    pub other: RuleValue,
}

/// Rules of a pattern set, in the order of their texts. This is the reference for what every target finds.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct PatternRules {
    rules: BTreeMap<ScopedName, (Pattern, RuleValue)>,
}

impl PatternRules {
    /// Returns the number of rules.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Returns true if there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Adds a rule. Returns false if there is one of the same pattern.
    ///
    /// # Errors
    /// The fault of its pattern.
    pub fn insert(&mut self, rule: &NameRule) -> Result<bool, String> {
        if self.rules.contains_key(&rule.name) {
            return Ok(false);
        }
        let pattern = Pattern::parse(&rule.name.name).map_err(|fault| fault.what)?;
        self.rules.insert(rule.name.clone(), (pattern, rule.value));
        Ok(true)
    }

    /// Returns the values of a rule.
    pub fn get(&self, name: &ScopedName) -> Option<RuleValue> {
        self.rules.get(name).map(|(_, value)| *value)
    }

    /// Removes a rule, and returns its values.
    pub fn remove(&mut self, name: &ScopedName) -> Option<RuleValue> {
        self.rules.remove(name).map(|(_, value)| value)
    }

    /// Returns all rules in order.
    pub fn iter(&self) -> impl Iterator<Item = NameRule> + '_ {
        self.rules.iter().map(|(name, (_, value))| NameRule {
            name: name.clone(),
            value: *value,
        })
    }

    /// Returns all patterns with their values, in order.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = (&Pattern, RuleValue)> {
        let all = self.rules.values();
        // A rule without lists is never found.
        all.filter(|(_, value)| value.lists != 0)
            .map(|(pattern, value)| (pattern, *value))
    }

    /// Returns the values of what is found in a text.
    pub fn find(&self, text: &UrlText) -> Found {
        let whole = text.bytes();
        let mut found = Found::default();
        let mut prefixes = Vec::new();
        for (pattern, value) in self.patterns() {
            if let Pattern::Prefix(prefix) = pattern {
                if let Some(length) = covered(prefix, &whole) {
                    prefixes.push((length, value));
                }
            } else if is_in(pattern, &whole) {
                found.other.number = found.other.number.max(value.number);
                found.other.lists |= value.lists;
            }
        }
        prefixes.sort_by_key(|(length, _)| *length);
        for (_, value) in prefixes {
            found.prefix.number = value.number;
            found.prefix.lists = found.prefix.lists & !fields(value.lists) | value.lists;
        }
        found
    }

    /// Returns the rule of each kind that decides for a text, of a set whose rules have bits of one field: the longest prefix, and a
    /// word or an expression that has all bits that are found, the one with the greatest number.
    pub fn find_rules(&self, text: &UrlText) -> [Option<NameRule>; 2] {
        let (whole, found) = (text.bytes(), self.find(text));
        let rules = self.rules.iter().filter(|(_, (_, value))| value.lists != 0);
        let of = |(name, (_, value)): (&ScopedName, &(Pattern, RuleValue))| NameRule {
            name: name.clone(),
            value: *value,
        };
        let prefix = rules.clone().find(|(_, (pattern, value))| match pattern {
            Pattern::Prefix(prefix) => {
                value.number == found.prefix.number && covered(prefix, &whole).is_some()
            }
            _ => false,
        });
        let others = rules.filter(|(_, (pattern, value))| {
            value.lists == found.other.lists && is_in(pattern, &whole)
        });
        let other = others.max_by_key(|(_, (_, value))| value.number);
        [prefix.map(of), other.map(of)]
    }
}

/// Tests whether a text has a word, or an expression is found in it.
fn is_in(pattern: &Pattern, text: &[u8]) -> bool {
    match pattern {
        Pattern::Prefix(_) => false,
        Pattern::Word(word) => text.windows(word.len()).any(|part| part == word),
        Pattern::Expression(expression) => expression.is_in(text),
    }
}

/// Returns the lengths of a prefix behind its host and of the host, if it covers a text.
fn covered(prefix: &Prefix, text: &[u8]) -> Option<(usize, usize, Scope)> {
    let (host, path) = text.split_at(text.iter().position(|byte| *byte == b'/')?);
    let name = prefix.host.name.as_bytes();
    let before = host.strip_suffix(name)?;
    let is_host = before.is_empty() || prefix.host.scope == Scope::Domain && before.ends_with(b".");
    let behind = prefix.behind();
    // The rule for the name alone comes behind the one for its domain.
    (is_host && path.starts_with(&behind)).then_some((behind.len(), name.len(), prefix.host.scope))
}
