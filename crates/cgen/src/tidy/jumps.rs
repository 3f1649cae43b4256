//! Jumps and labels without use.

use super::drop_empty;
use super::walk::blocks_mut;
use crate::tree::{Block, Stmt};
use smol_str::SmolStr;
use std::collections::HashSet;

/// Removes jumps to the next statement, unused labels and unreachable code.
pub(super) fn drop_jumps(body: &mut Block) {
    loop {
        let mut wanted = HashSet::new();
        collect_jumps(body, &mut wanted);
        let before = count(body);
        drop_in(body, &wanted);
        drop_empty(body);
        if count(body) == before {
            return;
        }
    }
}

fn count(block: &[Stmt]) -> usize {
    block
        .iter()
        .map(|s| {
            1 + match s {
                Stmt::If(_, a, b) => count(a) + count(b),
                Stmt::Switch { cases, default, .. } => {
                    cases.iter().map(|(_, b)| count(b)).sum::<usize>() + count(default)
                }
                Stmt::Loop(b) | Stmt::Block(b) => count(b),
                _ => 0,
            }
        })
        .sum()
}

fn collect_jumps(block: &[Stmt], wanted: &mut HashSet<SmolStr>) {
    for stmt in block {
        match stmt {
            Stmt::Goto(label) | Stmt::MayJump { label, .. } => {
                wanted.insert(label.clone());
            }
            Stmt::If(_, a, b) => {
                collect_jumps(a, wanted);
                collect_jumps(b, wanted);
            }
            Stmt::Switch { cases, default, .. } => {
                for (_, b) in cases {
                    collect_jumps(b, wanted);
                }
                collect_jumps(default, wanted);
            }
            Stmt::Loop(b) | Stmt::Block(b) => collect_jumps(b, wanted),
            _ => {}
        }
    }
}

fn drop_in(block: &mut Block, wanted: &HashSet<SmolStr>) {
    block.retain(|s| !matches!(s, Stmt::Label(l) if !wanted.contains(l)));
    // Code after a jump, up to the next label, never runs.
    let mut jumped = false;
    block.retain(|s| {
        if matches!(s, Stmt::Label(_)) {
            jumped = false;
        }
        let entered = holds_label(s);
        let keep = !jumped || entered;
        jumped = s.diverges() || (jumped && !entered);
        keep
    });
    // A jump to one of the labels that directly follow it is not needed.
    let mut i = 0;
    while i < block.len() {
        if let Stmt::Goto(label) = &block[i] {
            let next = block[i + 1..]
                .iter()
                .take_while(|s| matches!(s, Stmt::Label(_) | Stmt::Line { .. } | Stmt::Comment(_)))
                .any(|s| matches!(s, Stmt::Label(l) if l == label));
            if next {
                block.remove(i);
                continue;
            }
        }
        if let [Stmt::If(_, a, b), rest @ ..] = &mut block[i..] {
            let following: Vec<&SmolStr> = rest
                .iter()
                .take_while(|s| matches!(s, Stmt::Label(_) | Stmt::Line { .. } | Stmt::Comment(_)))
                .filter_map(|s| match s {
                    Stmt::Label(l) => Some(l),
                    _ => None,
                })
                .collect();
            for side in [a, b] {
                if matches!(side.last(), Some(Stmt::Goto(l)) if following.contains(&l)) {
                    side.pop();
                }
            }
        }
        for inner in blocks_mut(&mut block[i]) {
            drop_in(inner, wanted);
        }
        i += 1;
    }
}

fn holds_label(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Label(_) => true,
        Stmt::If(_, a, b) => a.iter().chain(b).any(holds_label),
        Stmt::Switch { cases, default, .. } => cases
            .iter()
            .flat_map(|(_, b)| b)
            .chain(default)
            .any(holds_label),
        Stmt::Loop(b) | Stmt::Block(b) => b.iter().any(holds_label),
        _ => false,
    }
}
