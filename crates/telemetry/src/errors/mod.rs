//! Diagnostics of queries, captures and plots, one function each.

pub mod capture;
pub(crate) mod meaning;
pub mod plot;
pub(crate) mod program;
pub(crate) mod syntax;

use diag::{Diagnostic, Span};

fn refuse(
    code: &'static str,
    span: Span,
    what: impl Into<String>,
    label: impl Into<String>,
    help: impl Into<String>,
) -> Box<Diagnostic> {
    Box::new(Diagnostic::refusal(code, span, what, help).label(label))
}

/// Joins items: `a`, `b` or `c`.
fn or_list<S: AsRef<str>>(items: &[S]) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_string(),
        [rest @ .., last] => {
            let rest: Vec<&str> = rest.iter().map(AsRef::as_ref).collect();
            format!("{} or {}", rest.join(", "), last.as_ref())
        }
    }
}

/// Puts names in backquotes.
fn quoted<S: AsRef<str>>(names: &[S]) -> Vec<String> {
    names.iter().map(|n| format!("`{}`", n.as_ref())).collect()
}

/// Asks "did you mean `x`?" if a similar name exists.
fn did_you_mean<'a>(names: impl Iterator<Item = &'a str>, wanted: &str) -> Option<String> {
    let similar = control::names::similar(names, wanted);
    (!similar.is_empty()).then(|| format!("did you mean {}?", or_list(&quoted(&similar))))
}
