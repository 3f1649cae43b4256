//! Largest users of a program's stack, by the names of the P4 program.

use diag::{Diagnostic, Span, counted};
use ir::{HeaderData, Program, Type};

/// Number of variables and headers that a diagnostic names.
const NAMED: usize = 4;

/// A variable or header, with the bytes that it takes unless it is in a register or in the packet.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Taker {
    bytes: u32,
    name: String,
    span: Span,
}

/// Adds to a diagnostic of a too large stack the largest variables and headers of an optimised program. `copied`
/// names the headers that live in variables; all others stay in the packet.
pub(crate) fn explain(
    mut diagnostic: Diagnostic,
    program: &Program,
    copied: &[String],
) -> Diagnostic {
    let takers = takers(program, copied);
    let Some(largest) = takers.first() else {
        return diagnostic;
    };
    let all: u32 = takers.iter().map(|taker| taker.bytes).sum();
    let named: Vec<String> = takers
        .iter()
        .take(NAMED)
        .map(|taker| format!("`{}` ({})", taker.name, counted(taker.bytes, "byte")))
        .collect();
    let others = match takers.len().saturating_sub(NAMED) {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    diagnostic.message += &format!(
        "; its variables and headers take {}: {}{others}",
        counted(all, "byte"),
        named.join(", ")
    );
    diagnostic.primary.span = largest.span;
    diagnostic.label("one of the largest")
}

/// Returns the variables and copied headers, the largest first, and one for each declaration.
fn takers(program: &Program, copied: &[String]) -> Vec<Taker> {
    let variables = program.vars.values().map(|var| Taker {
        bytes: bytes(var.ty),
        name: var.name.to_string(),
        span: var.span,
    });
    let is_copied = |header: &&HeaderData| copied.iter().any(|name| *name == header.name);
    let headers = program.headers.values().filter(is_copied);
    let headers = headers.map(|header| Taker {
        bytes: program.header_types[header.ty]
            .fields
            .iter()
            .map(|field| bytes(field.ty))
            .sum(),
        name: header.name.to_string(),
        span: header.span,
    });
    let mut all: Vec<Taker> = variables
        .chain(headers)
        .filter(|t| !t.span.is_none())
        .collect();
    all.sort_by(|a, b| {
        b.bytes
            .cmp(&a.bytes)
            .then_with(|| a.span.lo.cmp(&b.span.lo))
    });
    all.dedup_by(|a, b| (a.span, &a.name) == (b.span, &b.name));
    all
}

/// Returns the size of a variable in C, in bytes.
fn bytes(ty: Type) -> u32 {
    match ty.width().div_ceil(8) {
        0 => 1,
        small @ 1..=8 => small.next_power_of_two(),
        wide => wide.next_multiple_of(8),
    }
}
