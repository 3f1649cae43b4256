//! Diagnostics for every kind of file, one function each.

use crate::kind::Misfit;
use crate::{FileFormat, Key, Keys};
use diag::{Diagnostic, Span, instead_of};

/// The text is not TOML. `marked` is the text at `span`.
pub(crate) fn syntax(form: &FileFormat, span: Span, what: &str, marked: &str) -> Diagnostic {
    let (message, help) = match what {
        "duplicate key" => (
            format!("`{marked}` is given twice"),
            "remove one of them".to_string(),
        ),
        _ => (
            format!("this is not TOML: {what}"),
            format!("{}; see https://toml.io", form.lines),
        ),
    };
    Diagnostic::refusal(form.codes.syntax, span, message, help)
}

/// A key that has no meaning here.
pub(crate) fn unknown_key(form: &FileFormat, span: Span, name: &str, keys: &Keys) -> Diagnostic {
    let message = format!("unknown key `{name}` in {}", keys.of);
    let help = instead_of(name, &keys.names(), "it may have");
    Diagnostic::refusal(form.codes.unknown, span, message, help)
}

/// A value of another kind than its key's.
pub(crate) fn wrong_kind(form: &FileFormat, span: Span, key: &Key, misfit: &Misfit) -> Diagnostic {
    let verb = if misfit.is_part { "holds" } else { "is" };
    let wanted = misfit.kind.described(misfit.is_part);
    let found = match misfit.value.get_ref().type_str() {
        _ if !misfit.is_other_type => String::new(),
        found if found.starts_with(['a', 'e', 'i', 'o', 'u']) => format!(", not an {found}"),
        found => format!(", not a {found}"),
    };
    let message = format!("`{}` {verb} {wanted}{found}", key.name);
    let help = format!("write it like `{}`: {}", key.example, key.meaning);
    Diagnostic::refusal(form.codes.kind, span, message, help)
}

/// A required key is missing.
pub(crate) fn missing_key(form: &FileFormat, span: Span, of: &str, key: &Key) -> Diagnostic {
    let message = format!("{of} has no `{}`", key.name);
    let help = format!("add `{}`: {}", key.example, key.meaning);
    Diagnostic::refusal(form.codes.missing, span, message, help)
}

/// More errors than anyone reads.
pub(crate) fn too_many(span: Span, limit: usize) -> Diagnostic {
    let message = format!("more than {limit} errors: Onpath skips the rest of the file");
    let help = "fix the first errors; later ones often follow from them";
    Diagnostic::refusal("E0124", span, message, help)
}
