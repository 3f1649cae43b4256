//! The diagnostics of this crate: one function per kind, grouped by subject.

pub(crate) mod calls;
pub(crate) mod constants;
pub(crate) mod declarations;
pub(crate) mod names;
pub(crate) mod statements;
pub(crate) mod tables;
pub(crate) mod types;
pub(crate) mod warnings;

mod codes;

pub use codes::CODES;

/// Returns ", did you mean `x`?" as help, or else `otherwise`.
fn did_you_mean(near: Option<&str>, otherwise: impl Into<String>) -> String {
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => otherwise.into(),
    }
}

/// Quotes a type's name in ticks; a description in words stays as it is.
fn tick(ty: &str) -> String {
    if ty.contains('`') || ty.contains(' ') && !ty.contains('<') {
        ty.to_owned()
    } else {
        format!("`{ty}`")
    }
}

/// Quotes a type's name in ticks, with its article: "a `bit<8>`", "an `int`".
pub(crate) fn a_type(ty: &str) -> String {
    let article = if ty.starts_with(['a', 'e', 'i', 'o']) {
        "an"
    } else {
        "a"
    };
    match tick(ty) {
        described if described == ty => described,
        ticked => format!("{article} {ticked}"),
    }
}

/// Formats a context: "in a parser state", "at the top level".
fn inside(context: &str) -> String {
    if context == "the top level" {
        format!("at {context}")
    } else {
        format!("in {context}")
    }
}

/// Lists names: "`a`, `b` and `c`".
pub(crate) fn quoted<S: AsRef<str>>(names: &[S]) -> String {
    match names {
        [] => String::new(),
        [one] => format!("`{}`", one.as_ref()),
        [all @ .., last] => {
            let all: Vec<String> = all.iter().map(|n| format!("`{}`", n.as_ref())).collect();
            format!("{} and `{}`", all.join(", "), last.as_ref())
        }
    }
}
