//! Errors for state that a target has no room for, or that cannot be compiled. Codes E0730, E0740 to E0743, E0746 and
//! E0747.
//!
//! `target` is the target's name in messages.

use diag::{Diagnostic, Span};
use ir::atomic::{Problem, Refusal};

/// Reports an atomic block for which no lock can be held.
pub(crate) fn atomic(target: &str, refusal: &Refusal) -> Diagnostic {
    let (message, help) = match &refusal.problem {
        Problem::Statement(what) => (
            format!("the {target} target cannot have {what} in an `@atomic` block"),
            "keep only computations, conditions and the calls of one flow_state or of registers in the block".to_string(),
        ),
        Problem::Extern(name) => (
            format!("the {target} target cannot call `{name}` in an `@atomic` block"),
            "call it before or after the block; only the methods of one flow_state or of registers run in it".to_string(),
        ),
        Problem::OfChanging(name) => (
            format!("`{name}` in an `@atomic` block reads what the block changes"),
            "call it before the block; in it, a call without an effect may only read what nothing in the block assigns".to_string(),
        ),
        Problem::OtherState(second, first) => (
            format!(
                "an `@atomic` block uses `{second}` and `{first}`: it can hold the lock of one"
            ),
            format!(
                "a program holds one lock at a time on the {target} target: keep what belongs together in one flow_state whose value is a \
                 struct (`flow_state<key_t, both_t>(64) both;`), or use a block for each; of registers a block may use several"
            ),
        ),
        Problem::OtherKey => (
            "the calls of a flow_state in an `@atomic` block have different keys".to_string(),
            format!(
                "a program holds one lock at a time on the {target} target: use the same variable as key in all of them, or a block for \
                 each; of a register a block may use several cells"
            ),
        ),
        Problem::KeyChanges => (
            "the key or index of an `@atomic` block changes in it".to_string(),
            "assign it before the first call in the block, and nowhere after it".to_string(),
        ),
    };
    let diagnostic = Diagnostic::error("E0740", refusal.at, message);
    let diagnostic = match refusal.problem {
        Problem::OtherState(..) | Problem::OtherKey | Problem::KeyChanges => {
            diagnostic.also(refusal.first, "the lock is that of what is used here")
        }
        Problem::Statement(_) | Problem::Extern(_) | Problem::OfChanging(_) => diagnostic.label(
            format!("the {target} target allows nothing like it while a lock is held"),
        ),
    };
    diagnostic.help(help)
}

/// Reports a flow state larger than a map may be. `flow` is the size of a flow, `set` that of the rest of a set, in
/// bytes.
pub(crate) fn too_many_flows(name: &str, flow: u32, set: u32, bytes: u64, at: Span) -> Diagnostic {
    Diagnostic::error("E0743",
        at,
        format!("the flow_state `{name}` would take {bytes} bytes, {flow} a flow and {set} for each eight"),
    )
    .label("a flow may take 8 KiB, all of them less than 4 GiB")
    .help("keep fewer flows or less of each")
}

/// Reports a varbit in a key or value.
pub(crate) fn varbit_in_key(what: &str, name: &str, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0741",
        at,
        format!("the {what} `{name}` has a varbit in its key or value"),
    )
    .help("keep fields of fixed width")
}

/// Reports a key that is too long for the stack.
pub(crate) fn key_too_long(
    target: &str,
    name: &str,
    bytes: u32,
    limit: u32,
    at: Span,
) -> Diagnostic {
    Diagnostic::error(
        "E0742",
        at,
        format!("the key of `{name}` takes {bytes} bytes; the {target} target takes up to {limit}"),
    )
    .help("use fewer or narrower fields as key, or a hash of them")
}

/// Reports a precision out of range.
pub(crate) fn precision(name: &str, precision: u32, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0747",
        at,
        format!("`{name}` has a precision of {precision}; it can be 4 to 12"),
    )
    .help("10 has a standard error of 3.3 %; one more halves its square and doubles the memory")
}

/// Reports metrics larger than a map may be. `group` is the size of a group, `set` that of the rest of a set, in bytes.
pub(crate) fn too_many_groups(
    what: &str,
    name: &str,
    group: u32,
    set: u32,
    bytes: u64,
    at: Span,
) -> Diagnostic {
    Diagnostic::error("E0743",
        at,
        format!("the {what} `{name}` would take {bytes} bytes on each processor, {group} a group and {set} for each eight"),
    )
    .label("eight groups may take 64 KiB, all of them 1 GiB")
    .help("keep fewer groups")
}

/// Reports a counter whose size no map can have.
pub(crate) fn counter_size(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0730",
        at,
        format!("the counter `{name}` needs a size from 1 to 4294967295"),
    )
    .help("give the number of indices as its first constructor argument")
}

/// Reports a register or meter whose size no map can have.
pub(crate) fn array_size(what: &str, name: &str, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0730",
        at,
        format!("the {what} `{name}` needs a size from 1 to 4294967295"),
    )
    .help("give the number of elements as its first constructor argument")
}

/// Reports a register whose cells have no fixed size.
pub(crate) fn register_of_varbit(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0746",
        at,
        format!("the register `{name}` keeps varbit values, which have no fixed size"),
    )
    .help("keep fields of fixed width")
}

/// Reports a digest whose records have no fixed size.
pub(crate) fn digest_of_varbit(target: &str, name: &str, at: Span) -> Diagnostic {
    Diagnostic::error(
        "E0746",
        at,
        format!("the {target} target cannot put varbit values into the digest `{name}`"),
    )
    .label("they have no fixed size")
    .help("hand over fields of fixed width")
}
