//! Errors in the fields that a packet preserves when it is resubmitted, recirculated or cloned.

use diag::{Diagnostic, Span};

/// A header in a field list.
pub(crate) fn header_in_field_list(at: Span) -> Diagnostic {
    Diagnostic::error("E0584", at, "a field list has a header")
        .label("a packet keeps numbers, not headers")
        .help("annotate the fields that the next pass needs, as bits of the metadata's own")
}

/// Data of `clone3` and the like that is no list of metadata fields.
pub(crate) fn kept_by_value(at: Span, name: &str, instead: &str) -> Diagnostic {
    Diagnostic::error(
        "E0585",
        at,
        format!("`{name}` keeps fields of the metadata, and this is something else"),
    )
    .label("no field of the metadata that the block is given")
    .help(format!(
        "annotate the fields with `@field_list(1)`, and call `{instead}` with the list's number"
    ))
}

/// A field list without fields.
pub(crate) fn empty_field_list(at: Span, number: u32) -> Diagnostic {
    Diagnostic::warning("W0553",
        at,
        format!("no field of the metadata is in field list {number}"),
    )
    .label("the packet keeps nothing")
    .help(format!(
        "annotate fields of the metadata's type with `@field_list({number})`; list 0 is the one without fields"
    ))
}
