//! Verdicts of lists, against the crate `adblock`: on random rules, and on lists that packages ship.
//!
//! The two differ on purpose in two cases. Of the rules that cover a name, the one with the longest name decides, while
//! to `adblock` any exception allows. A line of a hosts file covers the name alone, while to `adblock` it covers the
//! names below it too. In a third case `adblock` errs: of the places where a name has that of a rule, it compares the first one
//! with the labels, so that `||co.uk^` does not cover `xco.uk.co.uk`. These cases are counted, and any other difference is a failure.

use adblock::Engine;
use adblock::lists::{FilterFormat, FilterSet, ParseOptions, parse_filter};
use adblock::request::Request;
use domains::{NameRules, Scope};
use firewall::list::{self, Rule};
use firewall::rules::{ALLOWS, Listed, of};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Verdict on a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Passes,
    Blocked,
    Allowed,
}

/// Lists as both read them.
struct Both {
    ours: NameRules,
    theirs: Engine,
    /// Rules by their names.
    rules: HashMap<String, Vec<Rule>>,
}

/// Numbers of names by verdict, and of those that both decide otherwise on purpose.
#[derive(Default, Debug)]
struct Counts {
    blocked: usize,
    allowed: usize,
    passing: usize,
    /// A longer rule blocks, and `adblock` allows.
    longer: usize,
    /// A name is below that of a hosts file, and `adblock` blocks.
    below_host: usize,
    /// The name of a rule stands twice in a name, and `adblock` compares the first place.
    twice: usize,
}

impl Both {
    /// Reads a list; `adblock` gets its format.
    fn new(text: &str, format: FilterFormat) -> Both {
        let mut set = FilterSet::new(false);
        let options = ParseOptions {
            format,
            ..ParseOptions::default()
        };
        set.add_filter_list(text.to_owned(), options);
        let read = list::parse(text.as_bytes());
        assert_eq!(read.skipped, []);
        let mut rules: HashMap<String, Vec<Rule>> = HashMap::new();
        for rule in &read.rules {
            rules
                .entry(rule.name.to_string())
                .or_default()
                .push(rule.clone());
        }
        let listed = read.rules.into_iter().map(|rule| Listed {
            rule,
            list: 0,
            groups: 1,
        });
        let mut ours = NameRules::default();
        for rule in &of(listed.collect()).rules {
            assert!(ours.insert(rule), "{rule:?}");
        }
        Both {
            ours,
            theirs: Engine::new_with_filter_set(set),
            rules,
        }
    }

    /// Returns our verdict.
    fn ours(&self, name: &str) -> Verdict {
        let site = list::site(name).unwrap_or_else(|why| panic!("{name}: {why:?}"));
        match self.ours.look_up(site.as_bytes()) {
            None => Verdict::Passes,
            Some(rule) if rule.lists & ALLOWS != 0 => Verdict::Allowed,
            Some(_) => Verdict::Blocked,
        }
    }

    /// Returns the verdict of `adblock` on a request for a script of another site.
    fn theirs(&self, name: &str) -> Verdict {
        // It is given addresses as browsers have them.
        let address = format!("https://{}/", name.to_lowercase());
        let request = Request::new(&address, "https://page.invalid/", "script", "GET");
        let result = self
            .theirs
            .check_network_request(&request.expect("an address"));
        match (result.filter, result.exception) {
            (_, Some(_)) => Verdict::Allowed,
            (Some(_), None) => Verdict::Blocked,
            (None, None) => Verdict::Passes,
        }
    }

    /// Returns the length of the longest rule of a kind that covers a name, by a walk over its labels.
    fn longest(&self, name: &str, is_allowed: bool) -> Option<usize> {
        let folded = list::site(name).expect("a name");
        let mut rest = folded.as_str();
        loop {
            let scope_fits = |rule: &&Rule| rule.scope == Scope::Domain || rest == folded;
            let rules = self.rules.get(rest).into_iter().flatten();
            if rules
                .filter(scope_fits)
                .any(|rule| rule.is_allowed == is_allowed)
            {
                return Some(rest.len());
            }
            rest = rest.split_once('.')?.1;
        }
    }

    /// Returns true if the name of a rule stands at the end of a name, and before that too.
    fn stands_twice(&self, name: &str) -> bool {
        let folded = list::site(name).expect("a name");
        (1..folded.len()).any(|at| {
            let end = &folded[at..];
            folded.find(end) != Some(at) && self.rules.contains_key(end)
        })
    }

    /// Compares the verdicts on a name.
    fn compare(&self, name: &str, counts: &mut Counts) {
        let (ours, theirs) = (self.ours(name), self.theirs(name));
        // An exception where nothing blocks changes nothing, and `adblock` does not look for one.
        let is_blocked = |verdict: Verdict| verdict == Verdict::Blocked;
        if is_blocked(ours) == is_blocked(theirs) {
            match ours {
                Verdict::Blocked => counts.blocked += 1,
                Verdict::Allowed => counts.allowed += 1,
                Verdict::Passes => counts.passing += 1,
            }
            return;
        }
        let (blocks, allows) = (self.longest(name, false), self.longest(name, true));
        let is_below_host = || {
            let site = list::site(name).expect("a name");
            let mut above = site.match_indices('.').map(|(dot, _)| &site[dot + 1..]);
            above.any(|name| {
                self.rules
                    .get(name)
                    .is_some_and(|rules| rules[0].scope == Scope::Name)
            })
        };
        match (ours, theirs) {
            _ if self.stands_twice(name) => counts.twice += 1,
            (Verdict::Blocked, Verdict::Allowed) if allows.is_some() && blocks > allows => {
                counts.longer += 1;
            }
            (Verdict::Passes, Verdict::Blocked) if is_below_host() => counts.below_host += 1,
            _ => panic!("{name}: {ours:?}, adblock: {theirs:?}"),
        }
    }
}

/// Returns a name that is listed, names below and above it, and near misses.
fn around(name: &str) -> Vec<String> {
    let mut all = vec![
        name.to_owned(),
        format!("www.{name}"),
        format!("a.b.{name}"),
        format!("not{name}"),
        format!("{name}.example"),
        format!("{name}-x.example"),
        name.to_uppercase(),
        name[1..].trim_start_matches(['.', '-']).to_owned(),
    ];
    all.extend(name.split_once('.').map(|(_, above)| above.to_owned()));
    all.retain(|name| list::site(name).is_ok());
    all
}

/// Returns random rules for names that cover each other.
fn random_list(random: &mut ChaCha8Rng, count: usize) -> String {
    let labels = [
        "a",
        "b",
        "ads",
        "example",
        "com",
        "co",
        "uk",
        "x-y",
        "xn--bcher-kva",
        "t1",
    ];
    let line = |random: &mut ChaCha8Rng| {
        let name: Vec<&str> = (0..random.random_range(2..5))
            .map(|_| *labels.choose(random).expect("labels"))
            .collect();
        let exception = if random.random_range(0..4) == 0 {
            "@@"
        } else {
            ""
        };
        format!("{exception}||{}^\n", name.join("."))
    };
    (0..count).map(|_| line(random)).collect()
}

#[test]
fn random_rules_decide_as_in_adblock() {
    let mut counts = Counts::default();
    for seed in 0..15 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let text = random_list(&mut random, 60);
        let both = Both::new(&text, FilterFormat::Standard);
        let names: Vec<String> = both.rules.keys().cloned().collect();
        for name in names.iter().flat_map(|name| around(name)) {
            both.compare(&name, &mut counts);
        }
    }
    println!("{counts:?}");
    assert!(counts.blocked > 1_000 && counts.allowed > 500, "{counts:?}");
    assert!(counts.passing > 1_000 && counts.longer > 50, "{counts:?}");
}

/// The cases in which the two differ on purpose.
#[test]
fn a_longer_rule_blocks_and_a_host_is_one_name() {
    let both = Both::new(
        "@@||good.example^\n||ads.good.example^\n",
        FilterFormat::Standard,
    );
    assert_eq!(both.ours("ads.good.example"), Verdict::Blocked);
    assert_eq!(both.theirs("ads.good.example"), Verdict::Allowed);
    let both = Both::new("0.0.0.0 ads.example\n", FilterFormat::Hosts);
    assert_eq!(both.ours("www.ads.example"), Verdict::Passes);
    assert_eq!(both.theirs("www.ads.example"), Verdict::Blocked);
    for name in ["ads.example", "ADS.example"] {
        assert_eq!(
            (both.ours(name), both.theirs(name)),
            (Verdict::Blocked, Verdict::Blocked)
        );
    }
}

/// Returns the lists that `scripts/setup-lists` has fetched.
fn shipped() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/lists");
    let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut lists: Vec<PathBuf> = files.map(|file| file.path()).collect();
    lists.retain(|file| file.extension().is_some_and(|kind| kind == "txt"));
    lists.sort();
    assert!(
        !lists.is_empty(),
        "no lists: `scripts/setup-lists` fetches them"
    );
    lists
}

/// Returns the lines of a list that are rules for domains to both. The others are counted by what each says.
fn domain_rules(text: &str, unlike: &mut BTreeMap<String, usize>) -> String {
    let is_domain = |line: &&str| {
        let pattern = line.strip_prefix("@@").unwrap_or(line).strip_prefix("||");
        let name = pattern.and_then(|pattern| pattern.strip_suffix('^'));
        name.is_some_and(|name| !name.contains(['/', '*', '^', '$', '|', ':']))
    };
    let mut both = String::new();
    for line in text.lines().map(str::trim).filter(is_domain) {
        let ours = list::parse(line.as_bytes())
            .skipped
            .first()
            .map(|skipped| skipped.reason.clone());
        let theirs = parse_filter(line, false, ParseOptions::default()).is_ok();
        match (ours, theirs) {
            (None, true) => both += &format!("{line}\n"),
            (reason, _) => {
                *unlike
                    .entry(format!("{reason:?}, adblock takes it: {theirs}"))
                    .or_default() += 1;
            }
        }
    }
    both
}

#[test]
#[ignore = "long: make test-lists"]
fn lists_that_packages_ship_decide_as_in_adblock() {
    let (mut all, mut unlike) = (String::new(), BTreeMap::new());
    for file in shipped() {
        let text = std::fs::read_to_string(&file).expect("a list");
        let rules = domain_rules(&text, &mut unlike);
        println!(
            "{}: {} rules for domains",
            file.display(),
            rules.lines().count()
        );
        all += &rules;
    }
    println!("not taken: {unlike:?}");
    assert!(
        unlike.values().sum::<usize>() < all.lines().count() / 100,
        "{unlike:?}"
    );
    let mut random = ChaCha8Rng::seed_from_u64(1);
    // Lists have few exceptions, so some of their names become such.
    let lines: Vec<&str> = all.lines().filter(|line| !line.starts_with("@@")).collect();
    let exceptions: String = lines
        .choose_multiple(&mut random, lines.len() / 50)
        .map(|line| match line.len() % 2 == 0 {
            true => format!("@@{line}\n"),
            false => format!("@@||good.{}\n", &line[2..]),
        })
        .collect();
    let as_host = ParseOptions {
        format: FilterFormat::Hosts,
        ..ParseOptions::default()
    };
    // It takes no host without a dot.
    let hosts: String = lines
        .iter()
        .map(|line| format!("0.0.0.0 {}\n", line[2..].trim_end_matches('^')))
        .filter(|line| parse_filter(line, false, as_host).is_ok())
        .collect();
    for (what, text, format) in [
        ("as they are", all.clone(), FilterFormat::Standard),
        (
            "with more exceptions",
            all.clone() + &exceptions,
            FilterFormat::Standard,
        ),
        ("as a hosts file", hosts, FilterFormat::Hosts),
    ] {
        let both = Both::new(&text, format);
        let mut counts = Counts::default();
        let mut names: Vec<&String> = both.rules.keys().collect();
        names.sort();
        for (index, name) in names.into_iter().enumerate() {
            match index % 16 {
                0 => around(name)
                    .iter()
                    .for_each(|name| both.compare(name, &mut counts)),
                _ => both.compare(name, &mut counts),
            }
        }
        println!("{what}: {} names, {counts:?}", both.rules.len());
        assert!(
            both.rules.len() > 10_000 && counts.blocked > 10_000,
            "{what}: {counts:?}"
        );
        assert!(counts.passing > 10_000, "{what}: {counts:?}");
    }
}
