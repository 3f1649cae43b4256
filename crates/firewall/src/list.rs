//! Lists of domain names and of patterns for URLs, a rule a line.
//!
//! | line | blocks |
//! |---|---|
//! | `name`, `\|\|name^` | the name and all names below it |
//! | `=name`, `ADDRESS name...` (a hosts file) | the name alone |
//! | `*.name` | all names below it |
//! | `name/path`, `\|\|name/path` | URLs of the name and of all names below it that begin with the path |
//! | `=name/path` | URLs of the name alone that begin with the path |
//! | `*word*` | URLs and names that contain the word |
//! | `/expression/` | URLs and names in which a regular expression is found |
//! | `@@\|\|name^`, `@@\|\|name/path`, `@@/expression/` | nothing: an exception |
//!
//! A line that begins with `#` or `!` is a comment, and so is text after white space and `#`. Names are compared by their
//! A-labels in lower case (RFC 5890), without the final dot. Addresses, and names of the local host that hosts files
//! have, are no rules.

use domains::{LONGEST_LABEL, LONGEST_NAME, Scope};
use patterns::{Fault, Pattern, UrlText};
use smol_str::SmolStr;
use std::borrow::Cow;
use std::net::IpAddr;
use std::panic::resume_unwind;
use std::thread;
use url::Url;

/// Bytes of a list that are read by one thread at least.
const LEAST_PART: usize = 1 << 20;

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
    pub name: SmolStr,
    /// Names that the rule concerns.
    pub scope: Scope,
    /// True for an exception.
    pub is_allowed: bool,
    /// Number of its line, from 1.
    pub line: usize,
}

/// Rule of a list for URLs.
#[derive(Clone, PartialEq, Debug)]
pub struct UrlRule {
    /// Pattern of the URLs.
    pub pattern: Pattern,
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
#[derive(Clone, PartialEq, Eq, Debug)]
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
    /// An expression looks for the scheme of a URL, which no request has.
    Scheme,
    /// A path, a word or an expression is no pattern.
    Pattern(Fault),
}

impl Reason {
    /// Returns the fault as a phrase.
    pub fn describe(&self) -> Cow<'static, str> {
        let what = match self {
            Reason::Length => "a label has 1 to 63 bytes, and a name 253 at most",
            Reason::Character => "a name has letters, digits, hyphens and underscores",
            Reason::Internationalised => "the name is not valid as an internationalised name",
            Reason::Form => {
                "the line is neither a name, `||name^`, `=name`, `*.name`, a line of a hosts file, a prefix of URLs, `*word*` nor an expression"
            }
            Reason::Address => "an address is no name",
            Reason::Local => "the name is that of the local host",
            Reason::Encoding => "the line is not UTF-8",
            Reason::Scheme => "an expression is found in the host and the path, without `https://`",
            Reason::Pattern(Fault { what, .. }) => return Cow::Owned(what.clone()),
        };
        Cow::Borrowed(what)
    }

    /// Returns the column, from 1, at which an expression has a fault because of which it has no automaton.
    pub fn column(&self) -> Option<usize> {
        match self {
            Reason::Pattern(Fault { place, .. }) => place.as_ref().map(|place| place.start + 1),
            _ => None,
        }
    }
}

/// Rules of a list, and the lines that are none.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct List {
    /// Rules in the order of their lines.
    pub rules: Vec<Rule>,
    /// Rules for URLs in the order of their lines.
    pub urls: Vec<UrlRule>,
    /// Lines that are no rules, in order.
    pub skipped: Vec<Skipped>,
}

/// Reads a list, by several threads if it is long.
pub fn parse(bytes: &[u8]) -> List {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let parts = parts(bytes, threads.min(bytes.len() / LEAST_PART));
    let Some((last, others)) = parts.split_last() else {
        return List::default();
    };
    thread::scope(|scope| {
        let others: Vec<_> = others
            .iter()
            .map(|part| thread::Builder::new().spawn_scoped(scope, || parse_part(part)))
            .collect();
        let last = parse_part(last);
        let mut lists = others.into_iter().zip(&parts).map(|(reader, part)| {
            let list = match reader {
                // A fault of a reader is one of this function.
                Ok(reader) => reader.join().unwrap_or_else(|fault| resume_unwind(fault)),
                // The system has no thread left.
                Err(_) => parse_part(part),
            };
            (list, *part)
        });
        let Some((mut list, part)) = lists.next() else {
            return last;
        };
        let mut lines = line_count(part);
        for (next, part) in lists {
            list.append(next, lines);
            lines += line_count(part);
        }
        list.append(last, lines);
        list
    })
}

/// Cuts a list behind lines, into some parts of about the same size.
fn parts(bytes: &[u8], count: usize) -> Vec<&[u8]> {
    let (mut parts, mut rest) = (Vec::new(), bytes);
    for left in (2..=count).rev() {
        let middle = rest.len() / left;
        let Some(end) = rest[middle..].iter().position(|byte| *byte == b'\n') else {
            break;
        };
        let (part, behind) = rest.split_at(middle + end + 1);
        parts.push(part);
        rest = behind;
    }
    parts.push(rest);
    parts
}

fn line_count(part: &[u8]) -> usize {
    part.iter().filter(|byte| **byte == b'\n').count()
}

impl List {
    /// Appends the rules of a list that is found behind a number of lines.
    fn append(&mut self, other: List, lines: usize) {
        let List {
            mut rules,
            mut urls,
            mut skipped,
        } = other;
        rules.iter_mut().for_each(|rule| rule.line += lines);
        urls.iter_mut().for_each(|rule| rule.line += lines);
        skipped.iter_mut().for_each(|line| line.line += lines);
        self.rules.append(&mut rules);
        self.urls.append(&mut urls);
        self.skipped.append(&mut skipped);
    }
}

fn parse_part(bytes: &[u8]) -> List {
    let mut list = List::default();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let number = index + 1;
        let read = match std::str::from_utf8(line) {
            Ok(text) => match url_rule(text.trim(), number) {
                Some(Ok(rule)) => {
                    list.urls.push(rule);
                    Ok(())
                }
                Some(Err(reason)) => Err(reason),
                None => read_line(text, number, &mut list.rules),
            },
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

/// Reads keywords, one a line.
pub fn parse_keywords(bytes: &[u8]) -> List {
    let mut list = List::default();
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let word = line.trim_ascii();
        if !word.is_empty() && !word.starts_with(b"#") {
            list.urls.push(UrlRule {
                pattern: Pattern::word(word),
                is_allowed: false,
                line: index + 1,
            });
        }
    }
    list
}

/// Reads a line that is a rule for URLs; `None` for any other line.
fn url_rule(text: &str, line: usize) -> Option<Result<UrlRule, Reason>> {
    let (is_allowed, rest) = match text.strip_prefix("@@") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let pattern = match rest.as_bytes() {
        [b'/', ..] => expression(rest, text.len() - rest.len()),
        [b'*', _, .., b'*'] => Pattern::parse(&escaped(rest)).map_err(Reason::Pattern),
        [b'#' | b'!', ..] => return None,
        _ => {
            // A comment may follow.
            let mut words = rest.split_ascii_whitespace();
            let (first, second) = (words.next()?, words.next());
            let is_alone = second.is_none_or(|word| word.starts_with('#'));
            if !is_alone || !first.contains('/') || first.contains("://") {
                return None;
            }
            prefix(first, is_allowed)
        }
    };
    Some(pattern.map(|pattern| UrlRule {
        pattern,
        is_allowed,
        line,
    }))
}

/// Returns a regular expression between slashes, before which the line has some bytes.
fn expression(text: &str, before: usize) -> Result<Pattern, Reason> {
    let inner = text[1..].strip_suffix('/').ok_or(Reason::Form)?;
    match inner.replace('\\', "").contains("://") {
        true => Err(Reason::Scheme),
        false => Pattern::parse(text).map_err(|mut fault| {
            fault.place = fault.place.map(|at| at.start + before..at.end + before);
            Reason::Pattern(fault)
        }),
    }
}

/// Returns a prefix of URLs. Characters by which AdBlock means more are none of a prefix.
fn prefix(text: &str, is_allowed: bool) -> Result<Pattern, Reason> {
    let domain = text.strip_prefix("||");
    if is_allowed && domain.is_none()
        || text[domain.map_or(0, |_| 2)..].contains(['*', '^', '|', '$'])
    {
        return Err(Reason::Form);
    }
    let rest = domain.unwrap_or(text);
    let (mark, rest) = match rest.strip_prefix('=') {
        Some(rest) if domain.is_none() => ("=", rest),
        _ => ("", rest),
    };
    let (name, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let name = normalised(name)?;
    Pattern::parse(&format!("{mark}{name}{}", escaped(path))).map_err(Reason::Pattern)
}

/// Returns a text with `%XX` for each byte that is not printable ASCII.
fn escaped(text: &str) -> String {
    let byte = |byte: u8| match byte.is_ascii_graphic() {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02x}"),
    };
    text.bytes().map(byte).collect()
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
pub fn normalised(name: &str) -> Result<SmolStr, Reason> {
    let is_of_host = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_of_address = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':');
    // Most names have a letter that no address has, and an address is expensive to read.
    if name.bytes().all(is_of_address) && name.parse::<IpAddr>().is_ok() {
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
    let mut name = Cow::Borrowed(name);
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        name.to_mut().make_ascii_lowercase();
    }
    if !name.is_ascii() || name.contains("xn--") {
        let converted = idna::domain_to_ascii(&name).map_err(|_| Reason::Internationalised)?;
        name = Cow::Owned(converted);
    }
    let name = name.strip_suffix('.').unwrap_or(&name);
    let lengths_fit = name
        .split('.')
        .all(|label| (1..=LONGEST_LABEL).contains(&label.len()));
    match name {
        _ if !lengths_fit || name.len() > LONGEST_NAME => Err(Reason::Length),
        _ if LOCAL.contains(&name) || name.starts_with("ip6-all") => Err(Reason::Local),
        _ => Ok(name.into()),
    }
}

/// Returns the name of a site, and what a firewall sees of its URL: all of it in a request of HTTP, the host alone in any other
/// message.
///
/// # Errors
///
/// Returns the fault of the name.
pub fn seen(text: &str) -> Result<(String, UrlText), Reason> {
    let name = site(text)?;
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    let seen = match rest.find(['/', '?']) {
        Some(at) if scheme.eq_ignore_ascii_case("http") => {
            let target = &rest.as_bytes()[at..];
            let path = target.iter().position(|byte| *byte == b'?');
            UrlText::of_request(name.as_bytes(), target, path.unwrap_or(target.len()))
        }
        _ => UrlText::of_host(name.as_bytes()),
    };
    Ok((name, seen))
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
    normalised(host).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Vec<(String, Scope, bool)> {
        let list = parse(text.as_bytes());
        assert_eq!(list.skipped, []);
        let rules = list.rules.into_iter();
        rules
            .map(|r| (r.name.into(), r.scope, r.is_allowed))
            .collect()
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
    fn parts_of_a_list_read_as_the_whole() {
        let lines = [
            "a.example",
            "",
            "b.example/path",
            "# why",
            "wrong line",
            "0.0.0.0 c d.e",
        ];
        let text = lines.join("\n");
        let whole = parse_part(text.as_bytes());
        assert_eq!((whole.rules.len(), whole.urls.len()), (3, 1));
        assert_eq!(whole.skipped.len(), 1);
        for count in 0..9 {
            let (mut read, mut before) = (List::default(), 0);
            let parts = parts(text.as_bytes(), count);
            assert_eq!(parts.concat(), text.as_bytes());
            for part in parts {
                read.append(parse_part(part), before);
                before += line_count(part);
            }
            assert_eq!(read, whole, "{count} parts");
        }
    }

    #[test]
    fn a_long_list_has_the_numbers_of_its_lines() {
        let count = 5 * LEAST_PART / "100000.example\n".len();
        let text: String = (0..count).map(|n| format!("{n:06}.example\n")).collect();
        let list = parse(format!("{text}wrong line").as_bytes());
        assert_eq!(list.rules.len(), count);
        let numbered = list.rules.iter().zip(0..);
        let mut wrong = numbered.filter(|(rule, n)| {
            rule.line != n + 1 || rule.name != format!("{n:06}.example").as_str()
        });
        assert_eq!(wrong.next(), None);
        assert_eq!(list.skipped[0].line, count + 1);
    }

    #[test]
    fn other_lines_are_skipped_with_their_numbers_and_reasons() {
        let long = "a".repeat(64);
        let lines: [(&[u8], Reason); 23] = [
            (b"||ads.example^$third-party", Reason::Form),
            (b"||ads.example", Reason::Form),
            (b"@@good.example", Reason::Form),
            (b"ads.example/banner*", Reason::Form),
            (b"@@ads.example/banner", Reason::Form),
            (b"/banner/$script", Reason::Form),
            (b"/^https?:\\/\\/ads/", Reason::Scheme),
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
        let reasons: Vec<Reason> = list.skipped.iter().map(|s| s.reason.clone()).collect();
        assert_eq!(reasons, lines.map(|(_, reason)| reason));
        assert_eq!(list.skipped[14].line, 15);
    }

    #[test]
    fn rules_for_urls_are_read() {
        let text = "A.example/Ads # why\n||b.example/x?y\n=c.example/\n@@||a.example/ads/ok\n*Free Movie*\n\
                    /^ads[0-9]+\\./\n@@/good/\nb\u{fc}cher.example/\u{fc}\n";
        let list = parse(text.as_bytes());
        assert_eq!((&list.rules, &list.skipped), (&vec![], &vec![]));
        let urls = list.urls.iter();
        let urls: Vec<_> = urls
            .map(|rule| (rule.pattern.to_string(), rule.is_allowed, rule.line))
            .collect();
        let expected = [
            ("a.example/ads", false, 1),
            ("b.example/x?y", false, 2),
            ("=c.example/", false, 3),
            ("a.example/ads/ok", true, 4),
            ("*free%20movie*", false, 5),
            ("/^ads[0-9]+\\./", false, 6),
            ("/good/", true, 7),
            ("xn--bcher-kva.example/%c3%bc", false, 8),
        ];
        let expected = expected.map(|(text, allows, line)| (text.to_owned(), allows, line));
        assert_eq!(urls, expected);
        let words = parse_keywords(b"# words\n Casino \n\nfree movie\r\n").urls;
        let words: Vec<_> = words.iter().map(|rule| rule.pattern.to_string()).collect();
        assert_eq!(words, ["*casino*", "*free%20movie*"]);
    }

    #[test]
    fn an_expression_without_an_automaton_has_its_column() {
        let list = parse(b"@@/a(?=b)/\n/a b/\n");
        let columns = list.skipped.iter().map(|skipped| skipped.reason.column());
        assert_eq!(columns.collect::<Vec<_>>(), [Some(5), None]);
    }

    #[test]
    fn of_a_url_that_is_encrypted_the_name_is_seen() {
        let of = |text: &str| {
            let (name, seen) = seen(text).expect(text);
            assert_eq!(name, "a.example");
            String::from_utf8(seen.bytes()).expect("ASCII")
        };
        assert_eq!(of("A.example"), "a.example");
        assert_eq!(of("https://a.example/x"), "a.example");
        assert_eq!(of("http://a.example:80/%58?y#z"), "a.example/x?y");
        assert_eq!(of("a.example/x/../y"), "a.example/y");
        assert_eq!(of("a.example?y"), "a.example/?y");
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
        assert_eq!(normalised(&longest).as_deref(), Ok(longest.as_str()));
        assert_eq!(normalised(&format!("{longest}a")), Err(Reason::Length));
    }
}
