//! Figures by group that cannot become BPF. Codes E0743 and E0747.

use diag::{Diagnostic, Span};

/// A precision that there is not.
pub fn precision(name: &str, precision: u32, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0747",
        at,
        format!("`{name}` has a precision of {precision}; it can be 4 to 12"),
    )
    .help("10 has a standard error of 3.3 %; one more halves its square and doubles the memory")
}

/// More memory than a map may have. `group` is what one takes, `set` what eight of them take besides.
pub fn too_large(what: &str, name: &str, group: u32, set: u32, bytes: u64, at: Span) -> Diagnostic {
    Diagnostic::error("E0743",
        at,
        format!("the {what} `{name}` would take {bytes} bytes on each processor, {group} a group and {set} for each eight"),
    )
    .label("eight groups may take 64 KiB, all of them 1 GiB")
    .help("keep fewer groups")
}
