//! Declarations that an object must not have: a stranger may have put them into it.

use bpf::abi::Hook;
use diag::{Diagnostic, system_message};
use std::io;

/// libbpf cannot read the object.
pub fn unreadable(error: &io::Error, messages: &str) -> Box<Diagnostic> {
    let first = messages
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty());
    let why = system_message(error);
    let why = first.map_or_else(|| why.clone(), |line| format!("{why} ({line})"));
    Diagnostic::failure(
        "E0939",
        format!("the object is not one that clang makes for BPF: {why}"),
        "build it again from the P4 program: `onpath build PROGRAM.p4 -o DIR`",
    )
}

/// A map asks to be pinned. It would use whatever map is pinned there, or stay when the program is unloaded.
pub fn pinned(map: &str, path: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0940",
        format!("map `{map}` of the object is to be pinned at `{path}`"),
        "Onpath pins maps itself, and no object that it builds asks for that: remove `pinning` from the map's declaration, or do not run the object",
    )
}

/// A map is of a type that no program of Onpath has.
pub fn unknown_kind(map: &str, kind: u32) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0941",
        format!("map `{map}` of the object is of type {kind}, whose memory Onpath cannot tell"),
        "use an array, a hash, a trie or a ring buffer; the number is that of `enum bpf_map_type` in `linux/bpf.h`",
    )
}

/// A map or a program that the description lacks.
pub fn not_described(what: &str, name: &str) -> Box<Diagnostic> {
    other_contents(format!(
        "{what} `{name}` of the object is not in its description"
    ))
}

/// Two maps or programs of one name.
pub fn twice(what: &str, name: &str) -> Box<Diagnostic> {
    other_contents(format!("the object has several of the {what} `{name}`"))
}

/// A map that the description resizes more than once.
pub fn several_sizes(name: &str) -> Box<Diagnostic> {
    other_contents(format!("its description gives map `{name}` several sizes"))
}

/// A program of another type than runs at the hook.
pub fn other_hook(name: &str, hook: Hook) -> Box<Diagnostic> {
    other_contents(format!(
        "program `{name}` of the object is not one for {}",
        hook.name()
    ))
}

fn other_contents(message: String) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0942",
        message,
        "`onpath build` did not write these files as they are: build the program again, or do not run the object",
    )
}
