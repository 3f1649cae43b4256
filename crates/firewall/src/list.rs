//! Lists of domain names, a rule a line.
//!
//! | line | blocks |
//! |---|---|
//! | `name`, `\|\|name^` | the name and all names below it |
//! | `=name`, `ADDRESS name...` (a hosts file) | the name alone |
//! | `*.name` | all names below it |
//! | `@@\|\|name^` | nothing: an exception |
//!
//! A line that begins with `#` or `!` is a comment, and so is text after white space and `#`. Names are compared by their
//! A-labels in lower case (RFC 5890), without the final dot. Addresses, and names of the local host that hosts files
//! have, are no rules.

use domains::{LONGEST_LABEL, LONGEST_NAME, Scope};
use std::net::IpAddr;
use url::Url;

/// Names of the local host and of its networks, as hosts files have them.
const LOCAL: [&str; 9] = [
    "localhost",
    "localhost.localdomain",
    "local",
    "broadcasthost",
    "ip6-localhost",
    "ip6-loopback",
    "ip6-localnet",
    "ip6-mcastprefix",
    "local.localdomain",
];

/// Rule of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Name in lower case, of A-labels, without the final dot.
    pub name: String,
    /// Names that the rule concerns.
    pub scope: Scope,
    /// True for an exception.
    pub is_allowed: bool,
    /// Number of its line, from 1.
    pub line: usize,
}

/// Line that is no rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skipped {
    /// Number of the line, from 1.
    pub line: usize,
    /// Fault of the line.
    pub reason: Reason,
}

/// Fault of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// A label is empty or longer than 63 bytes, or the name is longer than 253.
    Length,
    /// A name has a character that host names do not have.
    Character,
    /// A name is not valid as an internationalised name (UTS 46).
    Internationalised,
    /// The line has options, a path, a wildcard or another form that is not supported.
    Form,
    /// A name is an address.
    Address,
    /// A name is that of the local host.
    Local,
    /// The line is not UTF-8.
    Encoding,
}

impl Reason {
    /// Returns the fault as a phrase.
    pub fn describe(self) -> &'static str {
        match self {
            Reason::Length => "a label has 1 to 63 bytes, and a name 253 at most",
            Reason::Character => "a name has letters, digits, hyphens and underscores",
            Reason::Internationalised => "the name is not valid as an internationalised name",
            Reason::Form => {
                "the line is neither a name, `||name^`, `=name`, `*.name` nor a line of a hosts file"
            }
            Reason::Address => "an address is no name",
            Reason::Local => "the name is that of the local host",
            Reason::Encoding => "the line is not UTF-8",
        }
    }
}

/// Rules of a list, and the lines that are none.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct List {
    /// Rules in the order of their lines.
    pub rules: Vec<Rule>,
    /// Lines that are no rules, in order.
    pub skipped: Vec<Skipped>,
}

/// Reads a list.
pub fn parse(bytes: &[u8]) -> List {
    let mut list = List::default();
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let number = index + 1;
        let read = match std::str::from_utf8(line) {
            Ok(text) => read_line(text, number, &mut list.rules),
            Err(_) => Err(Reason::Encoding),
        };
        if let Err(reason) = read {
            list.skipped.push(Skipped {
                line: number,
                reason,
            });
        }
    }
    list
}

/// Appends the rules of a line. If one name of the line is wrong, it has none.
fn read_line(text: &str, line: usize, rules: &mut Vec<Rule>) -> Result<(), Reason> {
    let text = text.trim();
    if text.is_empty() || text.starts_with(['#', '!']) {
        return Ok(());
    }
    let words = text.split_ascii_whitespace();
    let mut words = words.take_while(|word| !word.starts_with('#'));
    let (Some(first), second) = (words.next(), words.next()) else {
        return Ok(());
    };
    let rule = |name: &str, scope: Scope, is_allowed: bool| {
        Ok(Rule {
            name: normalised(name)?,
            scope,
            is_allowed,
            line,
        })
    };
    if let Some(second) = second {
        first.parse::<IpAddr>().map_err(|_| Reason::Form)?;
        let names = std::iter::once(second).chain(words);
        let found: Result<Vec<Rule>, Reason> =
            names.map(|name| rule(name, Scope::Name, false)).collect();
        rules.extend(found?);
        return Ok(());
    }
    let (is_allowed, pattern) = match first.strip_prefix("@@") {
        Some(pattern) => (true, pattern),
        None => (false, first),
    };
    let found = match pattern.strip_prefix("||") {
        Some(domain) => {
            let name = domain.strip_suffix('^').ok_or(Reason::Form)?;
            rule(name, Scope::Domain, is_allowed)?
        }
        None if is_allowed => return Err(Reason::Form),
        None => match pattern.strip_prefix("*.") {
            Some(name) => rule(name, Scope::Subdomains, false)?,
            None => match pattern.strip_prefix('=') {
                Some(name) => rule(name, Scope::Name, false)?,
                None => rule(pattern, Scope::Domain, false)?,
            },
        },
    };
    rules.push(found);
    Ok(())
}

/// Returns a name as it is compared: A-labels in lower case, without the final dot.
pub fn normalised(name: &str) -> Result<String, Reason> {
    let is_of_host = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let mut name = name.to_ascii_lowercase();
    if name.parse::<IpAddr>().is_ok() {
        return Err(Reason::Address);
    }
    let other = name
        .bytes()
        .find(|byte| byte.is_ascii() && !is_of_host(*byte));
    if let Some(other) = other {
        let is_syntax = b"*/^$|,@=#:?".contains(&other);
        return Err(match is_syntax {
            true => Reason::Form,
            false => Reason::Character,
        });
    }
    if !name.is_ascii() || name.contains("xn--") {
        name = idna::domain_to_ascii(&name).map_err(|_| Reason::Internationalised)?;
    }
    let name = name.strip_suffix('.').unwrap_or(&name);
    let lengths_fit = name
        .split('.')
        .all(|label| (1..=LONGEST_LABEL).contains(&label.len()));
    match name {
        _ if !lengths_fit || name.len() > LONGEST_NAME => Err(Reason::Length),
        _ if LOCAL.contains(&name) || name.starts_with("ip6-all") => Err(Reason::Local),
        _ => Ok(name.to_owned()),
    }
}

/// Returns the name of a site: of a name, with a port or without, or of an address (`https://name/path`). It compares as
/// the names of rules do.
///
/// # Errors
///
/// Returns the fault of the name.
pub fn site(text: &str) -> Result<String, Reason> {
    let with_scheme = match text.contains("://") {
        true => text.to_owned(),
        false => format!("http://{text}"),
    };
    let address = Url::parse(&with_scheme).map_err(|_| Reason::Form)?;
    let host = address.host_str().ok_or(Reason::Form)?;
    normalised(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Vec<(String, Scope, bool)> {
        let list = parse(text.as_bytes());
        assert_eq!(list.skipped, []);
        let rules = list.rules.into_iter();
        rules.map(|r| (r.name, r.scope, r.is_allowed)).collect()
    }

    #[test]
    fn a_site_is_a_name_or_an_address() {
        for text in [
            "www.Ads.example",
            "www.ads.example.",
            "www.ads.example:443",
            "https://www.ads.example/path?x=1#y",
            "http://user:word@WWW.ads.example:8080",
            "www.ads.example/path",
        ] {
            assert_eq!(site(text).as_deref(), Ok("www.ads.example"), "{text}");
        }
        assert_eq!(
            site("https://bücher.example/").as_deref(),
            Ok("xn--bcher-kva.example")
        );
        assert_eq!(site("http://10.0.0.1/"), Err(Reason::Address));
        assert_eq!(site("https://"), Err(Reason::Form));
        assert_eq!(site("a..example"), Err(Reason::Length));
    }

    #[test]
    fn each_form_of_a_line_is_read() {
        let text = "\u{feff}# a list\n! another comment\nEvil.com.\n\n||bad.com^ # why\n=one.example\r\n\
                    *.sub.example\n@@||good.bad.com^\n0.0.0.0 a.example b.example\n::1 c.example\nbücher.example\nexample.org\u{3002} # one more";
        let expected = [
            ("evil.com", Scope::Domain, false),
            ("bad.com", Scope::Domain, false),
            ("one.example", Scope::Name, false),
            ("sub.example", Scope::Subdomains, false),
            ("good.bad.com", Scope::Domain, true),
            ("a.example", Scope::Name, false),
            ("b.example", Scope::Name, false),
            ("c.example", Scope::Name, false),
            ("xn--bcher-kva.example", Scope::Domain, false),
            ("example.org", Scope::Domain, false),
        ];
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, scope, allowed)| (name.to_string(), *scope, *allowed))
            .collect();
        assert_eq!(rules(text), expected);
    }

    #[test]
    fn other_lines_are_skipped_with_their_numbers_and_reasons() {
        let long = "a".repeat(64);
        let lines: [(&[u8], Reason); 20] = [
            (b"||ads.example^$third-party", Reason::Form),
            (b"||ads.example", Reason::Form),
            (b"@@good.example", Reason::Form),
            (b"ads.example/banner", Reason::Form),
            (b"ads*.example", Reason::Form),
            (b"one two", Reason::Form),
            (b"a..example", Reason::Length),
            (b".", Reason::Length),
            (long.as_bytes(), Reason::Length),
            (b"bad!name.example", Reason::Character),
            (b"\xff.example", Reason::Encoding),
            ("xn--\u{fc}.example".as_bytes(), Reason::Internationalised),
            (b"xn--zzzzzzzz99999.example", Reason::Internationalised),
            (b"example.com##.banner", Reason::Form),
            (b"example.com#@#.ad", Reason::Form),
            (b"https://ads.example", Reason::Form),
            (b"127.0.0.1", Reason::Address),
            (b"0.0.0.0 0.0.0.0", Reason::Address),
            (b"127.0.0.1 localhost", Reason::Local),
            (b"ff02::1 ip6-allnodes", Reason::Local),
        ];
        let text: Vec<u8> = lines
            .iter()
            .map(|(line, _)| *line)
            .collect::<Vec<_>>()
            .join(&b'\n');
        let list = parse(&text);
        assert_eq!(list.rules, []);
        let reasons: Vec<Reason> = list.skipped.iter().map(|s| s.reason).collect();
        assert_eq!(reasons, lines.map(|(_, reason)| reason));
        assert_eq!(list.skipped[11].line, 12);
    }

    #[test]
    fn a_hosts_line_with_a_wrong_name_has_no_rules() {
        let list = parse(b"0.0.0.0 a.example b..example");
        assert_eq!((list.rules.len(), list.skipped.len()), (0, 1));
    }

    #[test]
    fn names_are_as_long_as_dns_allows() {
        let label = "a".repeat(63);
        let longest = [&label[..], &label, &label, &label[..61]].join(".");
        assert_eq!(normalised(&longest), Ok(longest.clone()));
        assert_eq!(normalised(&format!("{longest}a")), Err(Reason::Length));
    }
}
