//! Programs of a unit that are the same program at several hooks. Such a program is read once, and compiled once for
//! hooks with the same code.

use super::prepare::{Origin, Prepared, Read, Text};
use crate::bundle::{Bundle, BundledProgram};
use bpf::same_code;
use std::sync::Arc;
use std::time::Duration;

/// Returns the program of this number without reading it again, if an earlier one has the same text.
pub(super) fn read_before(bundle: &Bundle, number: usize, read: &[Read]) -> Option<Read> {
    let this = &bundle.programs[number];
    let twin = bundle.programs[..number]
        .iter()
        .position(|other| is_same(this, other))?;
    let Read::Text {
        sources, program, ..
    } = &read[twin]
    else {
        return None;
    };
    Some(Read::Text {
        hook: this.hook_of(program),
        sources: sources.clone(),
        program: Arc::clone(program),
        took: Duration::ZERO,
    })
}

fn is_same(one: &BundledProgram, other: &BundledProgram) -> bool {
    let text = |member: &BundledProgram| {
        (
            member.source.value.clone(),
            member.text.clone(),
            member.include.clone(),
            member.define.clone(),
            member.externs.clone(),
        )
    };
    text(one) == text(other)
}

/// Returns an earlier program that has the same code, if there is one.
pub(super) fn compiled_before<'p>(
    read: &Read,
    prepared: &'p [Prepared],
) -> Option<(&'p Prepared, &'p Text)> {
    let Read::Text { hook, program, .. } = read else {
        return None;
    };
    let texts = prepared.iter().filter_map(|p| Some((p, p.text()?)));
    texts.into_iter().find(|(twin, text)| {
        Arc::ptr_eq(&text.program, program) && same_code(program, twin.hook, *hook)
    })
}

/// Gives the recompiled code of a program to the programs that had the same code. `before` is its earlier object.
pub(super) fn follow(prepared: &mut [Prepared], number: usize, before: &[u8]) {
    let (earlier, rest) = prepared.split_at_mut(number);
    let Some((leader, later)) = rest.split_first_mut() else {
        return;
    };
    let Some(of) = leader.text() else {
        return;
    };
    for twin in earlier.iter_mut().chain(later) {
        let hook = twin.hook;
        let Origin::Text(text) = &mut twin.origin else {
            continue;
        };
        let is_twin = Arc::ptr_eq(&text.program, &of.program)
            && same_code(&of.program, leader.hook, hook)
            && twin.object == before;
        if is_twin {
            text.take_after(of);
            twin.object.clone_from(&leader.object);
            twin.abi = Arc::new(leader.abi.at(hook));
            twin.schema = Arc::clone(&leader.schema);
        }
    }
}
