//! Regular expressions as deterministic automata of bounded size.

mod table;
mod union;

pub use table::Table;
pub use union::{UNION_LIMIT, Union};

use regex_automata::Input;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_syntax::ast::{self, Ast};
use regex_syntax::hir::{self, Hir};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Greatest memory of an automaton, in bytes.
pub const PATTERN_LIMIT: usize = 256 << 10;

/// Regular expression on bytes. It matches anywhere in a text unless `^` and `$` anchor it. Classes such as `\w` are
/// those of ASCII.
#[derive(Clone)]
pub struct Pattern {
    text: String,
    automaton: Arc<dense::DFA<Vec<u32>>>,
}

/// Reason why an expression has no automaton.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PatternError {
    /// Syntax error, or a construct that no automaton supports: a description, and the range of bytes.
    Syntax(String, Range<usize>),
    /// An automaton of more than [`PATTERN_LIMIT`] bytes.
    TooLarge,
    /// Another feature that no automaton supports.
    NoAutomaton(String),
}

impl Pattern {
    /// Compiles an expression.
    ///
    /// # Errors
    /// The expression has no automaton, or none that is small enough.
    pub fn new(text: &str) -> Result<Pattern, PatternError> {
        Pattern::of(text, &tree(text, false)?)
    }

    /// Compiles an expression whose letters match in both cases.
    ///
    /// # Errors
    /// As of [`Pattern::new`].
    pub fn ignoring_case(text: &str) -> Result<Pattern, PatternError> {
        Pattern::of(text, &tree(text, true)?)
    }

    fn of(text: &str, tree: &Hir) -> Result<Pattern, PatternError> {
        let config = thompson::Config::new()
            .utf8(false)
            .nfa_size_limit(Some(PATTERN_LIMIT));
        let nfa = thompson::Compiler::new()
            .configure(config)
            .build_from_hir(tree)
            .map_err(|error| match error.size_limit() {
                Some(_) => PatternError::TooLarge,
                None => PatternError::NoAutomaton(error.to_string()),
            })?;
        let config = dense::Config::new()
            .start_kind(StartKind::Unanchored)
            .dfa_size_limit(Some(PATTERN_LIMIT))
            .determinize_size_limit(Some(4 * PATTERN_LIMIT));
        let automaton = dense::Builder::new()
            .configure(config)
            .build_from_nfa(&nfa)
            .map_err(|error| match error.is_size_limit_exceeded() {
                true => PatternError::TooLarge,
                false => PatternError::NoAutomaton(error.to_string()),
            })?;
        Ok(Pattern {
            text: text.to_string(),
            automaton: Arc::new(automaton),
        })
    }

    /// Returns the text of the expression.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the automaton in the form that programs in the data plane run.
    ///
    /// # Errors
    /// The automaton has more transitions than such a program supports. The error has its number of states and its
    /// number of byte classes.
    pub fn table(&self) -> Result<Table, (usize, usize)> {
        Table::new(&self.automaton)
    }

    /// Returns the size of the automaton, in bytes.
    pub fn memory(&self) -> usize {
        self.automaton.memory_usage()
    }

    /// Returns true if the expression matches in a text.
    pub fn is_in(&self, text: &[u8]) -> bool {
        // The automaton has no quit bytes, so the search does not fail.
        let input = Input::new(text).earliest(true);
        matches!(self.automaton.try_search_fwd(&input), Ok(Some(_)))
    }
}

/// Returns the syntax tree of an expression, whose letters may match in both cases.
fn tree(text: &str, ignores_case: bool) -> Result<Hir, PatternError> {
    let written = ast::parse::Parser::new().parse(text);
    let written = written.map_err(|e| syntax(&e.kind().to_string(), e.span()))?;
    // The classes of Unicode would depend on the tables that the library was built with.
    if asks_for_unicode(&written) {
        let what = "the flag `u` asks for classes of Unicode";
        return Err(PatternError::NoAutomaton(what.to_string()));
    }
    let mut translator = hir::translate::TranslatorBuilder::new()
        .unicode(false)
        .utf8(false)
        .case_insensitive(ignores_case)
        .build();
    let tree = translator.translate(text, &written);
    tree.map_err(|e| syntax(&untranslated(e.kind()), e.span()))
}

/// Builds a syntax error at a span of the expression.
fn syntax(what: &str, at: &ast::Span) -> PatternError {
    PatternError::Syntax(what.to_string(), at.start.offset..at.end.offset)
}

/// Describes why an expression that parses cannot be translated to bytes. The library's own message is about Unicode.
fn untranslated(kind: &hir::ErrorKind) -> String {
    match kind {
        hir::ErrorKind::UnicodeNotAllowed => {
            r"a class has ASCII characters and bytes only, such as `[a-z\x80-\xff]`".to_string()
        }
        other => other.to_string(),
    }
}

/// Returns true if an expression turns on Unicode anywhere.
fn asks_for_unicode(written: &Ast) -> bool {
    struct Asks;

    impl ast::Visitor for Asks {
        type Output = ();
        type Err = ();

        fn finish(self) -> Result<(), ()> {
            Ok(())
        }

        fn visit_pre(&mut self, part: &Ast) -> Result<(), ()> {
            let flags = match part {
                Ast::Flags(set) => Some(&set.flags),
                Ast::Group(group) => group.flags(),
                _ => None,
            };
            let unicode = flags.and_then(|flags| flags.flag_state(ast::Flag::Unicode));
            match unicode {
                Some(true) => Err(()),
                _ => Ok(()),
            }
        }
    }

    ast::visit(written, Asks).is_err()
}

/// Patterns are equal if their texts are.
impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.text == other.text
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Pattern({:?})", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_found_anywhere_in_any_bytes() {
        let pattern = Pattern::new(r"^\w+\.example\.(com|org)$").unwrap();
        assert!(pattern.is_in(b"www.example.org"));
        assert!(!pattern.is_in(b"www.example.org.") && !pattern.is_in(b".example.org"));
        assert!(Pattern::new("(?i)b.d").unwrap().is_in(b"\xff\x00B\xffD"));
        assert!(Pattern::new("").unwrap().is_in(b""));
    }

    #[test]
    fn what_no_automaton_can_do_is_refused() {
        let refused = |text| Pattern::new(text).unwrap_err();
        assert!(matches!(refused("a(b"), PatternError::Syntax(_, at) if at == (1..2)));
        assert!(matches!(refused(r"(a)\1"), PatternError::Syntax(_, at) if at == (3..5)));
        assert!(matches!(refused("(?=a)"), PatternError::Syntax(..)));
        assert_eq!(refused("(a|b)*a(a|b){14}"), PatternError::TooLarge);
        assert_eq!(refused("(a{1000}){1000}"), PatternError::TooLarge);
    }
    /// The result does not depend on the tables that the library was built with.
    #[test]
    fn characters_beyond_ascii_are_in_no_class_and_have_no_case() {
        let refused = |text| match Pattern::new(text) {
            Err(PatternError::Syntax(what, at)) => (what, at),
            other => panic!("{text}: {other:?}"),
        };
        for (text, place) in [("[é]", 1..3), (r"a\p{L}", 1..6)] {
            let (what, at) = refused(text);
            assert!(what.starts_with("a class has ASCII"), "{text}: {what}");
            assert_eq!(at, place, "{text}");
        }
        for text in [r"(?u)\w", "a(?iu:k)", r"x|(?u)\b", "(?u:[a-z])"] {
            let why = Pattern::new(text).unwrap_err();
            assert!(
                matches!(why, PatternError::NoAutomaton(_)),
                "{text}: {why:?}"
            );
        }
        assert!(Pattern::new("é(?-u:é)").unwrap().is_in("éé".as_bytes()));
    }
}
