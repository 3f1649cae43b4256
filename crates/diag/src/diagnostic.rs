//! Diagnostics as data: the fault, its location and the remedy.

use crate::Span;

/// Severity of a diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// Error: the program is refused.
    Error,
    /// Warning: the program is accepted, but something in it is likely an error.
    Warning,
    /// Note: additional information.
    Note,
}

/// A stable name for one kind of diagnostic, such as `E0203`. Codes are never reused.
///
/// Ranges: E00xx preprocessor, E01xx lexer and parser, E02xx names and declarations, E03xx types,
/// E04xx statements and directions, E05xx compile-time evaluation and instantiation, E06xx
/// architectures, E07xx targets, E08xx entries and STF, E09xx bundles, E10xx message schemas, E11xx queries; warnings W0xxx
/// in the same ranges.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Code(pub &'static str);

/// A location in the source with a few words about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Location of the label.
    pub span: Span,
    /// Text of the label; may be empty.
    pub text: String,
}

/// One report to the user, as data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Code of its kind.
    pub code: Code,
    /// Severity of the report.
    pub severity: Severity,
    /// Statement of the fault, in one sentence without a full stop.
    pub message: String,
    /// The location it is about.
    pub primary: Label,
    /// Other locations that explain it.
    pub secondary: Vec<Label>,
    /// Advice on the remedy; every error has one.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Makes an error at `span`.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Error, span, message.into())
    }

    /// Makes an error at `span`, with advice on the remedy.
    pub fn refusal(
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::error(code, span, message).help(help)
    }

    /// Makes an error that is about no source text, with advice on the remedy. It is boxed, since a diagnostic is large
    /// beside the results that functions return on success.
    pub fn failure(
        code: &'static str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Box<Diagnostic> {
        Box::new(Diagnostic::refusal(code, Span::NONE, message, help))
    }

    /// Makes a warning at `span`.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, Severity::Warning, span, message.into())
    }

    fn new(code: &'static str, severity: Severity, span: Span, message: String) -> Diagnostic {
        let primary = Label {
            span,
            text: String::new(),
        };
        Diagnostic {
            code: Code(code),
            severity,
            message,
            primary,
            secondary: Vec::new(),
            help: None,
        }
    }

    /// Adds a short text under the primary location.
    pub fn label(mut self, text: impl Into<String>) -> Diagnostic {
        self.primary.text = text.into();
        self
    }

    /// Points at another location that explains the first.
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        if !span.is_none() {
            self.secondary.push(Label {
                span,
                text: text.into(),
            });
        }
        self
    }

    /// Adds advice on what to do.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }
}

/// The diagnostics of one run, in the order they were found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl From<Box<Diagnostic>> for Diagnostics {
    /// Makes a list of that diagnostic alone.
    fn from(diagnostic: Box<Diagnostic>) -> Diagnostics {
        Diagnostics {
            list: vec![*diagnostic],
        }
    }
}

impl Diagnostics {
    /// Returns an empty list.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds one diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// Adds all of `other`.
    pub fn append(&mut self, mut other: Diagnostics) {
        self.list.append(&mut other.list);
    }

    /// Returns true if any of them is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    /// Returns true if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the number of diagnostics.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Iterates over the diagnostics in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }
}
