//! Errors for tables that a target cannot have. Codes E0725, E0726, E0736 to E0739, and E0769.

use diag::{Diagnostic, Span};
use layout::{Matching, Structure};

/// Reports a `@layout` with an unknown name.
pub(crate) fn unknown_layout(target: &str, table: &str, given: &str, at: Span) -> Diagnostic {
    Diagnostic::error("E0736",
        at,
        format!("the {target} target knows no layout `{given}`, which table `{table}` asks for"),
    )
    .help("write `@layout(\"bit_vectors\")` or `@layout(\"tuple_space\")` for ternary, range and optional keys, `@layout(\"trie\")` or `@layout(\"multibit_trie\")` for prefixes, `@layout(\"hash_map\")` or `@layout(\"buckets\")` for exact keys, or omit it: the compiler chooses by size")
}

/// Reports a `@layout` that the table cannot have.
pub(crate) fn layout_of_no_use(
    target: &str,
    table: &str,
    layout: Structure,
    at: Span,
) -> Diagnostic {
    let lacks = match layout.matching() {
        Matching::Prefixes => "is not one of prefixes alone",
        Matching::Overlapping => "has no ternary, range or optional key",
        Matching::Exact => "is no table of exact keys alone",
    };
    let layout = layout.name();
    Diagnostic::error(
        "E0737",
        at,
        format!("the {target} target has no layout `{layout}` for table `{table}`, which {lacks}"),
    )
    .help("omit `@layout`")
}

/// Reports bit vectors that would be too large.
pub(crate) fn too_large_for_bit_vectors(
    target: &str,
    table: &str,
    size: u64,
    at: Span,
) -> Diagnostic {
    Diagnostic::error("E0738",
        at,
        format!("the {target} target has no bit vectors for the {size} entries of `{table}`"),
    )
    .label("up to 16384 entries, and 4 MiB of rows: 32 bytes an entry for each byte of the key, for each of a range about 128; of ranges wider than 64 bits more than one only with up to 256 entries")
    .help("declare a smaller `size`, a shorter key or narrower ranges, or use `@layout(\"tuple_space\")`")
}

/// Reports a multibit trie that would be too large.
pub(crate) fn too_large_for_multibit_trie(
    target: &str,
    table: &str,
    size: u64,
    at: Span,
) -> Diagnostic {
    Diagnostic::error(
        "E0739",
        at,
        format!("the {target} target has no multibit trie for the {size} entries of `{table}`"),
    )
    .label("nodes take about 144 bytes an entry, and at most 4 GiB in all; so do entries")
    .help("declare a smaller `size`, or use `@layout(\"trie\")`")
}

/// Reports buckets that would be too large.
pub(crate) fn too_large_for_buckets(target: &str, table: &str, size: u64, at: Span) -> Diagnostic {
    Diagnostic::error("E0769",
        at,
        format!("the {target} target has no buckets for the {size} entries of `{table}`"),
    )
    .label("an entry takes about 4 bytes and twice its key and its action, and all of them at most 4 GiB")
    .help("declare a smaller `size`, or use `@layout(\"hash_map\")`")
}

/// Reports an `implementation`, counter or meter of a table that the target does not have.
pub(crate) fn table_property(target: &str, table: &str, property: &str, at: Span) -> Diagnostic {
    Diagnostic::error("E0725",
        at,
        format!("the {target} target does not know the property `{property}` of table `{table}`"),
    )
    .help(
        "`implementation` takes `hash_table(size)` or `array_table(size)`; count in the actions with a CounterArray, or a \
         `counter` of v1model, by an index that is the action's parameter",
    )
}

/// Reports a key too long for the target's memory.
pub(crate) fn key_too_long(
    target: &str,
    table: &str,
    bytes: u32,
    limit: u32,
    at: Span,
) -> Diagnostic {
    Diagnostic::error(
        "E0726",
        at,
        format!(
            "the key of `{table}` takes {bytes} bytes; the {target} target takes up to {limit}"
        ),
    )
    .help("look up fewer or narrower fields, or a hash of them")
}
