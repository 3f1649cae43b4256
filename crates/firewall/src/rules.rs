//! Rules of a name set, from lists.
//!
//! For each name that lists have, it is known if the name itself, and the names below it, are blocked or allowed. Of
//! rules for one name, one that allows wins. Rules that a shorter name makes needless are left out.
//!
//! Each group of sources has lists of its own, and one set serves all: two bits of a rule tell for each group what the
//! longest name of its lists says. So a rule has bits of groups on whose lists shorter names are.

use crate::list::{Rule, UrlRule};
use domains::{NameRule, RuleValue, Scope, ScopedName};
use indexmap::IndexMap;
use patterns::Pattern;
use smol_str::SmolStr;
use std::collections::BTreeMap;

/// Bit of the rules that block, for the first group.
pub const BLOCKS: u32 = 1;
/// Bit of the rules that allow, for the first group.
pub const ALLOWS: u32 = 2;
/// Most groups, the first one included.
pub const MOST_GROUPS: usize = 16;
/// Bits of the rules that block, for all groups.
const ALL_BLOCK: u32 = 0x5555_5555;

/// Tests whether a rule's bits allow for any group, and block for none.
pub fn only_allows(lists: u32) -> bool {
    lists & ALL_BLOCK == 0
}

/// Returns a group's part of a rule's bits, which is `BLOCKS`, `ALLOWS` or 0.
pub fn of_group(lists: u32, group: usize) -> u32 {
    lists >> (2 * group) & (BLOCKS | ALLOWS)
}

/// Most lists that rules come from.
pub const MOST_LISTS: usize = 32;
/// Bits of an origin's number that are the line's.
const LINE_BITS: u32 = 27;

/// List and line that a rule comes from. A rule's number is that of its origin, so that who reads the rules of a running
/// program knows their lines: the first five bits are the index of the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin(u32);

impl Origin {
    /// Returns the origin in a list, by its index below [`MOST_LISTS`], at a line, from 1. Lines that are further down
    /// than a number has room for have the last one.
    pub fn new(list: usize, line: usize) -> Origin {
        let last = (1 << LINE_BITS) - 1;
        Origin((list as u32) << LINE_BITS | line.min(last) as u32)
    }

    /// Returns the origin of the rule with this number.
    pub fn of(number: u32) -> Origin {
        Origin(number)
    }

    /// Returns the number of its rule.
    pub fn number(self) -> u32 {
        self.0
    }

    /// Returns the index of its list.
    pub fn list(self) -> usize {
        (self.0 >> LINE_BITS) as usize
    }

    /// Returns its line, from 1.
    pub fn line(self) -> usize {
        (self.0 & ((1 << LINE_BITS) - 1)) as usize
    }
}

/// Rule of a list, with its origin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed {
    /// The rule.
    pub rule: Rule,
    /// Index of its list.
    pub list: usize,
    /// Groups whose list it is, each by the bit of its index.
    pub groups: u16,
}

/// Rule of a list for URLs, with its origin.
#[derive(Clone, PartialEq, Debug)]
pub struct ListedUrl {
    /// The rule.
    pub rule: UrlRule,
    /// Index of its list.
    pub list: usize,
    /// Groups whose list it is, each by the bit of its index.
    pub groups: u16,
}

/// Rules of a set.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Rules in the order of their origins, each with the number of its origin.
    pub rules: Vec<NameRule>,
    /// Number of rules of lists that are left out, since another one says the same.
    pub needless: usize,
}

/// Verdict of a rule, with its origin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Verdict {
    /// Two bits for each group.
    lists: u32,
    origin: Origin,
}

impl Verdict {
    fn of(is_allowed: bool, groups: u16, origin: Origin) -> Verdict {
        let bit = if is_allowed { ALLOWS } else { BLOCKS };
        let groups = (0..MOST_GROUPS).filter(|group| groups >> group & 1 == 1);
        Verdict {
            lists: groups.fold(0, |lists, group| lists | bit << (2 * group)),
            origin,
        }
    }

    /// Returns the verdict of two rules for one name. One that allows wins, and names the origin.
    fn with(self, other: Verdict) -> Verdict {
        let lists = self.lists | other.lists;
        let allows = lists & !ALL_BLOCK;
        let origin = if self.lists & !ALL_BLOCK == allows {
            self.origin
        } else {
            other.origin
        };
        Verdict {
            lists: lists & !(allows >> 1),
            origin,
        }
    }
}

/// Adds to a rule's bits those of a shorter name, for groups for which the rule says nothing.
fn with_shorter(lists: u32, shorter: u32) -> u32 {
    let said = (lists | lists >> 1) & ALL_BLOCK;
    lists | shorter & !(said | said << 1)
}

/// Verdicts on a name itself, and on the names below it.
type Verdicts = [Option<Verdict>; 2];

/// Returns the rules of a set that decides as lists do.
pub fn of(listed: Vec<Listed>) -> Rules {
    let given = listed.len();
    // In the order of the lists, so that the rules are almost in order too.
    let mut names: IndexMap<SmolStr, Verdicts> = IndexMap::with_capacity(given);
    for listed in listed {
        let origin = Origin::new(listed.list, listed.rule.line);
        let verdict = Verdict::of(listed.rule.is_allowed, listed.groups, origin);
        let rule = listed.rule;
        let known = names.entry(rule.name).or_default();
        let covered = [rule.scope.covers_itself(), rule.scope.covers_below()];
        for (known, _) in known.iter_mut().zip(covered).filter(|(_, covers)| *covers) {
            *known = Some(known.map_or(verdict, |known| known.with(verdict)));
        }
    }
    let mut made = Rules::default();
    for (name, verdicts) in &names {
        let inherited = inherited(&names, name);
        let needed = verdicts.map(|verdict| {
            let whole = verdict.map(|verdict| Verdict {
                lists: with_shorter(verdict.lists, inherited),
                ..verdict
            });
            whole.filter(|whole| whole.lists != inherited)
        });
        let scopes = match needed {
            [Some(itself), Some(below)] if itself.lists == below.lists => {
                [Some((Scope::Domain, itself)), None]
            }
            [itself, below] => [
                itself.map(|verdict| (Scope::Name, verdict)),
                below.map(|verdict| (Scope::Subdomains, verdict)),
            ],
        };
        for (scope, verdict) in scopes.into_iter().flatten() {
            let name = ScopedName {
                name: name.clone(),
                scope,
            };
            let value = RuleValue {
                number: verdict.origin.number(),
                lists: verdict.lists,
            };
            made.rules.push(NameRule { name, value });
        }
    }
    let order = |rule: &NameRule| (rule.value.number, rule.name.scope);
    made.rules.sort_by(|one, other| {
        let names = || one.name.name.cmp(&other.name.name);
        order(one).cmp(&order(other)).then_with(names)
    });
    made.needless = given.saturating_sub(made.rules.len());
    made
}

/// Returns the rules of a pattern set that decides as lists do: of prefixes the longest one, and of words and expressions one that
/// allows. These have both bits of a group where they allow, so that all bits together tell.
pub fn of_urls(listed: Vec<ListedUrl>) -> Vec<NameRule> {
    let mut patterns: BTreeMap<String, (Verdict, bool)> = BTreeMap::new();
    for ListedUrl { rule, list, groups } in listed {
        let origin = Origin::new(list, rule.line);
        let verdict = Verdict::of(rule.is_allowed, groups, origin);
        let is_prefix = matches!(rule.pattern, Pattern::Prefix(_));
        let known = patterns.entry(rule.pattern.to_string());
        let known = known.or_insert((verdict, is_prefix));
        known.0 = known.0.with(verdict);
    }
    let rule = |(pattern, (verdict, is_prefix)): (String, (Verdict, bool))| {
        let both = if is_prefix {
            0
        } else {
            verdict.lists >> 1 & ALL_BLOCK
        };
        NameRule {
            name: ScopedName {
                name: pattern.into(),
                scope: Scope::Domain,
            },
            value: RuleValue {
                number: verdict.origin.number(),
                lists: verdict.lists | both,
            },
        }
    };
    patterns.into_iter().map(rule).collect()
}

/// Returns the bits that the rules for the names above a name have for it: for each group those of the longest one.
fn inherited(names: &IndexMap<SmolStr, Verdicts>, name: &str) -> u32 {
    let above = name
        .match_indices('.')
        .filter_map(|(dot, _)| names.get(&name[dot + 1..])?[1]);
    above.fold(0, |lists, verdict| with_shorter(lists, verdict.lists))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domains::NameRules;

    fn made(text: &str) -> Rules {
        let list = crate::list::parse(text.as_bytes());
        assert_eq!(list.skipped, []);
        let listed = list.rules.into_iter().map(|rule| Listed {
            rule,
            list: 0,
            groups: 1,
        });
        of(listed.collect())
    }

    fn shown(rules: &Rules) -> Vec<String> {
        let all = rules.rules.iter();
        all.map(|rule| format!("{} {}", rule.name, rule.value.lists))
            .collect()
    }

    #[test]
    fn what_a_shorter_name_covers_is_left_out() {
        let rules = made("a.com\nb.a.com\n0.0.0.0 c.a.com\n*.a.com\nA.com\nother.com");
        assert_eq!(shown(&rules), ["a.com 1", "other.com 1"]);
        assert_eq!(rules.needless, 4);
    }

    #[test]
    fn a_rule_knows_its_list_and_line() {
        let list = |text: &str, list| {
            let rules = crate::list::parse(text.as_bytes()).rules.into_iter();
            rules.map(move |rule| Listed {
                rule,
                list,
                groups: 1,
            })
        };
        let all = list("# names\na.com\n", 0).chain(list("\n\n@@||b.a.com^\n", 31));
        let found = of(all.collect()).rules;
        let origins = found.iter().map(|rule| Origin::of(rule.value.number));
        let origins: Vec<_> = origins.map(|at| (at.list(), at.line())).collect();
        assert_eq!(origins, [(0, 2), (31, 3)]);
        let last = Origin::new(31, usize::MAX);
        assert_eq!((last.list(), last.number()), (31, u32::MAX));
    }

    #[test]
    fn an_exception_wins_at_its_name_and_below() {
        let rules = made(
            "a.com\n@@||good.a.com^\nbad.good.a.com\n@@||a.org^\na.org\n0.0.0.0 c.net\n@@||d.c.net^",
        );
        assert_eq!(
            shown(&rules),
            [
                "a.com 1",
                "good.a.com 2",
                "bad.good.a.com 1",
                "a.org 2",
                "=c.net 1",
                "d.c.net 2"
            ]
        );
    }

    #[test]
    fn both_parts_of_a_domain_may_differ() {
        let rules = made("=a.com\n*.a.com\n=b.com\n@@||c.b.com^\n*.c.com");
        assert_eq!(
            shown(&rules),
            ["a.com 1", "=b.com 1", "c.b.com 2", "*.c.com 1"]
        );
    }

    #[test]
    fn of_rules_for_one_pattern_one_that_allows_wins() {
        let of = |text: &str, list, groups| {
            let urls = crate::list::parse(text.as_bytes()).urls.into_iter();
            urls.map(move |rule| ListedUrl { rule, list, groups })
        };
        let all = of("a.com/%58\n*word*\n@@/x/", 0, 1).chain(of("@@||a.com/x\n\n/x/", 1, 3));
        let rules = of_urls(all.collect());
        let shown: Vec<_> = rules
            .iter()
            .map(|rule| {
                let origin = Origin::of(rule.value.number);
                (
                    rule.name.to_string(),
                    rule.value.lists,
                    origin.list(),
                    origin.line(),
                )
            })
            .collect();
        let expected = [
            ("*word*", 1, 0, 2),
            ("/x/", 0b0111, 0, 3),
            ("a.com/x", 0b1010, 1, 1),
        ];
        let expected =
            expected.map(|(text, lists, list, line)| (text.to_owned(), lists, list, line));
        assert_eq!(shown, expected);
    }

    /// Compares sets of random lists with the lists read one rule after the other.
    #[test]
    fn random_lists_decide_as_their_rules_do() {
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        let labels = ["a", "b", "c"];
        for round in 0..500 {
            let name = |random: &mut dyn FnMut(u64) -> u64| -> String {
                let count = 1 + random(4);
                let all = (0..count).map(|_| labels[random(3) as usize]);
                all.collect::<Vec<_>>().join(".")
            };
            let listed: Vec<Listed> = (0..random(8))
                .map(|line| Listed {
                    rule: Rule {
                        name: name(&mut random).into(),
                        scope: [Scope::Domain, Scope::Name, Scope::Subdomains][random(3) as usize],
                        is_allowed: random(3) == 0,
                        line: line as usize,
                    },
                    list: 0,
                    groups: 1 + random(15) as u16,
                })
                .collect();
            let mut set = NameRules::default();
            for rule in of(listed.clone()).rules {
                assert!(set.insert(&rule), "round {round}: {listed:?}");
            }
            for _ in 0..30 {
                let name = name(&mut random);
                let covers = |rule: &Rule| match name.strip_suffix(rule.name.as_str()) {
                    Some("") => rule.scope.covers_itself(),
                    Some(before) => before.ends_with('.') && rule.scope.covers_below(),
                    None => false,
                };
                let found = set.look_up(name.as_bytes());
                let found = found.map_or(0, |value| value.lists);
                for group in 0..4 {
                    let own = listed.iter().filter(|one| one.groups >> group & 1 == 1);
                    let decides = own
                        .map(|one| &one.rule)
                        .filter(|rule| covers(rule))
                        .max_by_key(|rule| (rule.name.len(), rule.is_allowed));
                    let expected = match decides {
                        None => 0,
                        Some(rule) if rule.is_allowed => ALLOWS,
                        Some(_) => BLOCKS,
                    };
                    let found = of_group(found, group);
                    assert_eq!(
                        found, expected,
                        "round {round}: {name}, {group} by {listed:?}"
                    );
                }
            }
        }
    }
}
