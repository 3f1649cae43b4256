//! Text form of a pattern.

use crate::text::{decoded, resolved};
use domains::{Scope, ScopedName};
use payload::PatternError;
use std::fmt;
use std::ops::Range;

/// Longest prefix, word or expression, in bytes.
const LONGEST: usize = 1024;

/// Pattern of a rule. Text form: a prefix of URLs is `NAME/PATH` or `=NAME/PATH`, a word is `*WORD*`, and a regular expression is
/// `/EXPRESSION/`.
#[derive(Clone, PartialEq, Debug)]
pub enum Pattern {
    /// URLs that begin with a host and a path.
    Prefix(Prefix),
    /// Texts that contain these bytes, which are in lower case.
    Word(Vec<u8>),
    /// Texts in which an expression is found.
    Expression(payload::Pattern),
}

/// Prefix of URLs. Its scope is the name and the names below it, or the name alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Prefix {
    /// Host.
    pub host: ScopedName,
    /// Path, as in the text of a URL. It begins with a slash.
    path: Vec<u8>,
    /// Query, without its question mark.
    query: Option<Vec<u8>>,
}

impl Prefix {
    /// Returns the bytes behind the host.
    pub fn behind(&self) -> Vec<u8> {
        let mut bytes = self.path.clone();
        if let Some(query) = &self.query {
            bytes.push(b'?');
            bytes.extend(query);
        }
        bytes
    }

    fn parse(text: &str) -> Option<Result<Prefix, Fault>> {
        let (name, behind) = text.split_at(text.find('/')?);
        let host = match ScopedName::parse(name) {
            Ok(host) if host.scope != Scope::Subdomains => host,
            Ok(_) => return Some(Err(Fault::form("a prefix begins with `NAME/` or `=NAME/`"))),
            Err(why) => return Some(Err(Fault::form(why))),
        };
        if behind.contains('#') {
            return Some(Err(Fault::form("no request has a fragment (`#`)")));
        }
        let (path, query) = match behind.split_once('?') {
            Some((path, query)) => (resolved(&decoded(path.as_bytes())), Some(query)),
            // The last segment may go on.
            None => {
                let last = behind.rfind('/').map_or(0, |at| at + 1);
                let mut path = resolved(&decoded(&behind.as_bytes()[..last]));
                path.extend(decoded(&behind.as_bytes()[last..]));
                (path, None)
            }
        };
        let query = query.map(|query| decoded(query.as_bytes()));
        Some(Ok(Prefix { host, path, query }))
    }
}

/// Reason why a text is no pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Fault as a phrase.
    pub what: String,
    /// Range of bytes of the text that it is about, if the text is a regular expression without an automaton.
    pub place: Option<Range<usize>>,
}

impl Fault {
    fn form(what: &str) -> Fault {
        Fault {
            what: what.to_owned(),
            place: None,
        }
    }

    fn expression(error: &PatternError) -> Fault {
        let (what, place) = match error {
            // In front of the expression is a slash.
            PatternError::Syntax(what, at) => (what.clone(), at.start + 1..at.end + 1),
            PatternError::NoAutomaton(what) => (what.clone(), 1..1),
            PatternError::TooLarge => {
                let limit = payload::PATTERN_LIMIT >> 10;
                (format!("its automaton takes more than {limit} KB"), 1..1)
            }
        };
        Fault {
            what,
            place: Some(place),
        }
    }
}

impl Pattern {
    /// Reads the text form.
    ///
    /// # Errors
    /// The fault of the text.
    pub fn parse(text: &str) -> Result<Pattern, Fault> {
        if text.len() > LONGEST {
            return Err(Fault::form("a pattern has 1024 bytes at most"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Fault::form(
                "bytes that are not printable ASCII are written `%XX`, and `\\xXX` in an expression",
            ));
        }
        let between = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
        if let Some(expression) = between('/') {
            let made = payload::Pattern::ignoring_case(expression);
            return made
                .map(Pattern::Expression)
                .map_err(|error| Fault::expression(&error));
        }
        if let Some(word) = between('*') {
            return match decoded(word.as_bytes()) {
                word if word.is_empty() => Err(Fault::form("a word has no bytes")),
                word => Ok(Pattern::Word(word)),
            };
        }
        match Prefix::parse(text) {
            Some(prefix) => prefix.map(Pattern::Prefix),
            None => Err(Fault::form(
                "a pattern is `NAME/PATH`, `=NAME/PATH`, `*WORD*` or `/EXPRESSION/`",
            )),
        }
    }

    /// Returns the pattern of a word.
    pub fn word(text: &[u8]) -> Pattern {
        Pattern::Word(text.to_ascii_lowercase())
    }
}

/// The text form, equal for patterns that mean the same bytes.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Expression(expression) => write!(f, "/{}/", expression.text()),
            Pattern::Word(word) => {
                f.write_str("*")?;
                encoded(f, word, b"%")?;
                f.write_str("*")
            }
            Pattern::Prefix(prefix) => {
                write!(f, "{}", prefix.host)?;
                encoded(f, &prefix.path, b"%#?")?;
                if let Some(query) = &prefix.query {
                    f.write_str("?")?;
                    encoded(f, query, b"%#")?;
                }
                Ok(())
            }
        }
    }
}

/// Writes bytes, of which some and those that are not printable are escaped.
fn encoded(f: &mut fmt::Formatter<'_>, bytes: &[u8], escaped: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(
        |byte| match byte.is_ascii_graphic() && !escaped.contains(byte) {
            true => write!(f, "{}", char::from(*byte)),
            false => write!(f, "%{byte:02x}"),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_written_as_it_is_read() {
        for (text, written) in [
            ("A.com/%41d/../X%20y", "a.com/x%20y"),
            ("=a.com/.well", "=a.com/.well"),
            ("a.com/..", "a.com/.."),
            ("a.com/a/..?q=%41", "a.com/?q=a"),
            ("a.com/%3f?%23%25", "a.com/%3f?%23%25"),
            ("*Free%20Movie*", "*free%20movie*"),
            ("/^[a-z]+\\.gif$/", "/^[a-z]+\\.gif$/"),
        ] {
            let pattern = Pattern::parse(text).expect(text);
            assert_eq!(pattern.to_string(), written);
            assert_eq!(Pattern::parse(written), Ok(pattern), "{written}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let refused = |text: &str| Pattern::parse(text).expect_err(text);
        for text in [
            "a.com",
            "*.a.com/x",
            "a..com/x",
            "a.com/x#y",
            "**",
            "",
            "a.com/\u{e9}",
        ] {
            assert_eq!(refused(text).place, None, "{text}");
        }
        assert_eq!(refused("/a(?=b)/").place, Some(2..5));
        assert_eq!(refused("/(a)\\1/").place, Some(4..6));
        assert!(refused("/(a|b)*a(a|b){14}/").what.contains("256 KB"));
    }
}
