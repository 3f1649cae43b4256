//! Flow states and atomic blocks that cannot become BPF. Codes E0740 and E0743.

use crate::abi::Hook;
use diag::{Diagnostic, Span};
use ir::atomic::{Problem, Refusal};

/// An atomic block that no lock can be held for.
pub fn atomic(hook: Hook, refusal: &Refusal) -> Diagnostic {
    let target = hook.target();
    let (message, help) = match &refusal.problem {
        Problem::Statement(what) => (
            format!("the {target} target cannot have {what} in an `@atomic` block"),
            "keep only computations, conditions and the calls of one flow_state or of registers in the block",
        ),
        Problem::Extern(name) => (
            format!("the {target} target cannot call `{name}` in an `@atomic` block"),
            "call it before or after the block; only the methods of one flow_state or of registers run in it",
        ),
        Problem::OfChanging(name) => (
            format!("`{name}` in an `@atomic` block reads what the block changes"),
            "call it before the block; in it, a call without an effect may only read what nothing in the block assigns",
        ),
        Problem::OtherState(second, first) => (
            format!(
                "an `@atomic` block uses `{second}` and `{first}`: it can hold the lock of one"
            ),
            "the kernel lets a program hold one lock at a time: keep what belongs together in one flow_state whose value is a \
             struct (`flow_state<key_t, both_t>(64) both;`), or use a block for each; of registers a block may use several",
        ),
        Problem::OtherKey => (
            "the calls of a flow_state in an `@atomic` block have different keys".to_string(),
            "the kernel lets a program hold one lock at a time: use the same variable as key in all of them, or a block for \
             each; of a register a block may use several cells",
        ),
        Problem::KeyChanges => (
            "the key or index of an `@atomic` block changes in it".to_string(),
            "assign it before the first call in the block, and nowhere after it",
        ),
    };
    let diagnostic = Diagnostic::error("E0740", refusal.at, message);
    let diagnostic = match refusal.problem {
        Problem::OtherState(..) | Problem::OtherKey | Problem::KeyChanges => {
            diagnostic.also(refusal.first, "the lock is that of what is used here")
        }
        Problem::Statement(_) | Problem::Extern(_) | Problem::OfChanging(_) => {
            diagnostic.label("the kernel allows nothing like it while a lock is held")
        }
    };
    diagnostic.help(help)
}

/// A state or value larger than a map may be. `flow` is what one takes, `set` what eight of them take besides.
pub fn too_large(name: &str, flow: u32, set: u32, bytes: u64, at: Span) -> Diagnostic {
    Diagnostic::error("E0743",
        at,
        format!("the flow_state `{name}` would take {bytes} bytes, {flow} a flow and {set} for each eight"),
    )
    .label("a flow may take 8 KiB, all of them less than 4 GiB")
    .help("keep fewer flows or less of each")
}
