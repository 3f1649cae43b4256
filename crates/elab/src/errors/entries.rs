//! Tables, keys and entries.

use diag::{Diagnostic, Span, counted};

/// A match kind that no target knows.
pub(crate) fn match_kind(at: Span, name: &str) -> Diagnostic {
    Diagnostic::error(
        "E0572",
        at,
        format!("match kind `{name}` has no meaning to any target"),
    )
    .help("use exact, lpm, ternary, range, optional or selector")
}

/// A mask that is no prefix where a prefix is wanted.
pub(crate) fn not_a_prefix(at: Span, key: &str) -> Diagnostic {
    Diagnostic::error(
        "E0574",
        at,
        format!("the mask for key `{key}` is not a prefix: after its first 0 come more ones"),
    )
    .help("make the key ternary, or use a mask of ones followed by zeros")
}

/// A range without members.
pub(crate) fn empty_range(at: Span) -> Diagnostic {
    Diagnostic::error("E0562", at, "the range ends before it begins")
        .help("write the smaller bound first")
}

/// A priority that is out of range.
pub(crate) fn priority(at: Span, value: &str) -> Diagnostic {
    Diagnostic::error("E0575",
        at,
        format!("the entry's priority is {value}"),
    )
    .help(
        "priorities go from 0 to 4294967295; an entry without one gets that of the entry before, less \
         `priority_delta` (more, if `largest_priority_wins = false`)",
    )
}

/// A key of variable size.
pub(crate) fn varbit_key(at: Span) -> Diagnostic {
    Diagnostic::error("E0576", at, "a varbit cannot be matched on")
        .help("match on a field of fixed width")
}

/// A prefix of a signed number.
pub(crate) fn signed_prefix(at: Span) -> Diagnostic {
    Diagnostic::error("E0557", at, "the bits of a signed number form no prefix")
        .help("cast the key to `bit`")
}

/// A second `lpm` key: which of two entries has the longer prefix would be undecided.
pub(crate) fn several_prefixes(at: Span) -> Diagnostic {
    Diagnostic::error("E0579", at, "a table has at most one `lpm` key")
        .label("a second one")
        .help("match this key by `ternary`, and give the entries priorities")
}

/// More entries in the program than the table's size.
pub(crate) fn entries_beyond_size(at: Span, table: &str, entries: usize, size: u64) -> Diagnostic {
    Diagnostic::warning(
        "W0551",
        at,
        format!(
            "the table `{table}` has {} but a size of {size}",
            counted(entries, "entry")
        ),
    )
    .label("too small for the program's own entries")
    .help("make `size` large enough for these and what the control plane adds, or omit it")
}

/// A table property that has no meaning here.
pub(crate) fn property_ignored(at: Span, name: &str) -> Diagnostic {
    Diagnostic::warning(
        "W0550",
        at,
        format!("the table property `{name}` has no meaning here and is ignored"),
    )
    .help("remove it")
}

/// A number or the like where a property names an extern object.
pub(crate) fn property_not_an_object(at: Span, name: &str) -> Diagnostic {
    Diagnostic::error("E0567",
        at,
        format!("the table property `{name}` is not an extern object"),
    )
    .help("give it an object of the architecture, such as `hash_table(64)`, or remove it; the number of entries is `size`")
}

/// An entry that matches on an action selector's input.
pub(crate) fn selector_keyset(at: Span, key: &str) -> Diagnostic {
    Diagnostic::error(
        "E0568",
        at,
        format!("key `{key}` feeds an action selector; entries do not match it"),
    )
    .help("write `_` for it, or make the key exact")
}
