//! Rules for domain names, and the rule that decides for a name. Name sets (`p4include/payload.p4`) and lists have them.

use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::fmt;

/// Longest name in bytes, without the final dot (RFC 1035, 2.3.4).
pub const LONGEST_NAME: usize = 253;
/// Longest label of a name in bytes (RFC 1035, 2.3.4).
pub const LONGEST_LABEL: usize = 63;
/// Most digits of a port behind a name.
const PORT_DIGITS: usize = 5;

/// Names that a rule covers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scope {
    /// The name and all names below it.
    Domain,
    /// The name alone.
    Name,
    /// All names below it.
    Subdomains,
}

impl Scope {
    /// Returns true if a rule covers the name itself.
    pub fn covers_itself(self) -> bool {
        self != Scope::Subdomains
    }

    /// Returns true if a rule covers the names below it.
    pub fn covers_below(self) -> bool {
        self != Scope::Name
    }

    /// Returns true if some name is covered by both scopes of one name.
    pub fn overlaps(self, other: Scope) -> bool {
        self.covers_itself() && other.covers_itself() || self.covers_below() && other.covers_below()
    }
}

/// Domain name with its scope, which identifies a rule of a set. Text form: `NAME`, `=NAME` or `*.NAME`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ScopedName {
    /// Name in lower case, without the final dot.
    pub name: SmolStr,
    /// Names that the rule covers.
    pub scope: Scope,
}

impl ScopedName {
    /// Reads the text form. Letters may be upper case, and a final dot is ignored.
    ///
    /// # Errors
    /// The fault, as a phrase.
    pub fn parse(text: &str) -> Result<ScopedName, &'static str> {
        let (scope, name) = match text.as_bytes() {
            [b'=', ..] => (Scope::Name, &text[1..]),
            [b'*', b'.', ..] => (Scope::Subdomains, &text[2..]),
            _ => (Scope::Domain, text),
        };
        let name = name.strip_suffix('.').unwrap_or(name);
        let of_name = |c: u8| c.is_ascii_alphanumeric() || c == b'-' || c == b'_';
        if !name.is_ascii() {
            return Err("a name that is not ASCII is written by its A-labels (xn--)");
        }
        if !name.split('.').all(|label| label.bytes().all(of_name)) {
            return Err("a name has letters, digits, hyphens, underscores and dots");
        }
        let fits = |label: &str| (1..=LONGEST_LABEL).contains(&label.len());
        if name.len() > LONGEST_NAME || !name.split('.').all(fits) {
            return Err("a label has 1 to 63 bytes, and a name 253 at most");
        }
        Ok(ScopedName {
            name: name.to_ascii_lowercase().into(),
            scope,
        })
    }
}

impl fmt::Display for ScopedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = match self.scope {
            Scope::Domain => "",
            Scope::Name => "=",
            Scope::Subdomains => "*.",
        };
        write!(f, "{before}{}", self.name)
    }
}

/// Values that a rule gives the packets whose name it covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RuleValue {
    /// Number of the rule.
    pub number: u32,
    /// Lists that the rule is on, a bit each.
    pub lists: u32,
}

/// Rule of a name set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NameRule {
    /// Name and scope.
    pub name: ScopedName,
    /// Values of the rule.
    pub value: RuleValue,
}

/// Returns a name as rules are compared with it: in lower case, without a port (`:` and up to five digits) and then
/// without a final dot.
pub fn folded_name(name: &[u8]) -> Vec<u8> {
    let digits = name.iter().rev().take_while(|c| c.is_ascii_digit()).count();
    let before = name.len() - digits;
    let name = match name[..before].split_last() {
        Some((b':', host)) if digits <= PORT_DIGITS => host,
        _ => name,
    };
    name.strip_suffix(b".").unwrap_or(name).to_ascii_lowercase()
}

/// Rules of a name set, in the order of their names. This is the reference for what every target finds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NameRules {
    rules: BTreeMap<ScopedName, RuleValue>,
}

impl NameRules {
    /// Returns the number of rules.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Returns true if there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Adds a rule. Returns false if another rule of the same name covers some of its names.
    pub fn insert(&mut self, rule: &NameRule) -> bool {
        let name = &rule.name.name;
        let taken = [Scope::Domain, Scope::Name, Scope::Subdomains]
            .into_iter()
            .filter(|scope| scope.overlaps(rule.name.scope))
            .any(|scope| self.of(name, scope).is_some());
        if !taken {
            self.rules.insert(rule.name.clone(), rule.value);
        }
        !taken
    }

    /// Returns the values of a rule.
    pub fn get(&self, name: &ScopedName) -> Option<RuleValue> {
        self.rules.get(name).copied()
    }

    /// Removes a rule, and returns its values.
    pub fn remove(&mut self, name: &ScopedName) -> Option<RuleValue> {
        self.rules.remove(name)
    }

    /// Removes all rules.
    pub fn clear(&mut self) {
        self.rules.clear();
    }

    /// Returns all rules in order.
    pub fn iter(&self) -> impl Iterator<Item = NameRule> + '_ {
        self.rules.iter().map(|(name, value)| NameRule {
            name: name.clone(),
            value: *value,
        })
    }

    /// Returns the values of the rule that decides for a name as a packet has it.
    pub fn look_up(&self, name: &[u8]) -> Option<RuleValue> {
        self.look_up_rule(name).map(|rule| rule.value)
    }

    /// Returns the rule that decides for a name as a packet has it: of those that cover it, the one with the longest name.
    pub fn look_up_rule(&self, name: &[u8]) -> Option<NameRule> {
        let name = folded_name(name);
        let dots = name.iter().enumerate().filter(|(_, c)| **c == b'.');
        let borders = dots.map(|(dot, _)| dot + 1);
        std::iter::once(0).chain(borders).find_map(|start| {
            let covering = match start {
                0 => Scope::Name,
                _ => Scope::Subdomains,
            };
            // Rules are ASCII.
            let rest = std::str::from_utf8(&name[start..]).ok()?;
            let mut scopes = [covering, Scope::Domain].into_iter();
            scopes.find_map(|scope| self.of(rest, scope))
        })
    }

    fn of(&self, name: &str, scope: Scope) -> Option<NameRule> {
        let name = name.into();
        let name = ScopedName { name, scope };
        let value = *self.rules.get(&name)?;
        Some(NameRule { name, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(all: &[&str]) -> NameRules {
        let mut rules = NameRules::default();
        for (number, text) in all.iter().enumerate() {
            let name = ScopedName::parse(text).expect(text);
            let value = RuleValue {
                number: number as u32,
                lists: 1,
            };
            assert!(rules.insert(&NameRule { name, value }), "{text}");
        }
        rules
    }

    fn decides(rules: &NameRules, name: &str) -> Option<u32> {
        rules.look_up(name.as_bytes()).map(|value| value.number)
    }

    #[test]
    fn the_longest_name_that_covers_decides() {
        let rules = rules(&[
            "example.com",
            "=www.example.com",
            "*.shop.example.com",
            "org",
        ]);
        for (name, number) in [
            ("example.com", Some(0)),
            ("a.example.com", Some(0)),
            ("www.example.com", Some(1)),
            ("a.www.example.com", Some(0)),
            ("shop.example.com", Some(0)),
            ("a.shop.example.com", Some(2)),
            ("notexample.com", None),
            ("com", None),
            ("example.org", Some(3)),
            ("example.com.net", None),
        ] {
            assert_eq!(decides(&rules, name), number, "{name}");
        }
    }

    #[test]
    fn case_port_and_final_dot_do_not_matter() {
        let rules = rules(&["example.com"]);
        for name in [
            "EXAMPLE.com",
            "example.com.",
            "example.com:443",
            "example.com.:80",
        ] {
            assert_eq!(decides(&rules, name), Some(0), "{name}");
        }
        for name in [
            "",
            ".",
            ":80",
            "example.com:",
            "example.com:123456",
            "example.com..",
        ] {
            let expected = (name == "example.com:").then_some(0);
            assert_eq!(decides(&rules, name), expected, "{name}");
        }
        let long = format!("{}.example.com", "a".repeat(242));
        assert_eq!(decides(&rules, &long), Some(0), "254 bytes");
    }

    #[test]
    fn any_bytes_may_stand_in_front() {
        let rules = rules(&["example.com"]);
        let found = rules.look_up(b"\xff\0.example.com");
        assert_eq!(found.map(|value| value.number), Some(0));
    }

    #[test]
    fn rules_of_one_name_do_not_overlap() {
        let mut known = rules(&["=a.com", "*.a.com"]);
        let rule = |text: &str| NameRule {
            name: ScopedName::parse(text).expect(text),
            value: RuleValue::default(),
        };
        for taken in ["a.com", "A.com.", "=a.com", "*.a.com"] {
            assert!(!known.insert(&rule(taken)), "{taken}");
        }
        assert!(known.remove(&rule("=a.com").name).is_some());
        assert!(known.insert(&rule("=a.com")));
    }

    #[test]
    fn names_are_checked() {
        let long = format!("{}.com", "a".repeat(64));
        for wrong in [
            "",
            "=",
            "*.",
            "a..com",
            ".com",
            "a b.com",
            "m\u{fc}nchen.de",
            "||a.com^",
            &long,
        ] {
            assert!(ScopedName::parse(wrong).is_err(), "{wrong}");
        }
    }
}
