//! Smaller variants of a failing program, to find the cause.

use super::{Generated, Stmt};

/// Returns programs that have one statement or const entry less, or a branch in place of a conditional. The largest
/// cuts come first.
pub fn smaller(program: &Generated) -> Vec<Generated> {
    let mut out: Vec<Generated> = blocks_smaller(&program.body)
        .into_iter()
        .map(|body| Generated {
            body,
            ..program.clone()
        })
        .collect();
    for behind in blocks_smaller(&program.behind) {
        out.push(Generated {
            behind,
            ..program.clone()
        });
    }
    for a in 0..program.actions.len() {
        for body in blocks_smaller(&program.actions[a].1) {
            let mut next = program.clone();
            next.actions[a].1 = body;
            out.push(next);
        }
    }
    for t in 0..program.tables.len() {
        // Without const entries the control plane would fill the table.
        let count = program.tables[t].entries.len();
        for e in (0..count).filter(|_| count > 1) {
            let mut next = program.clone();
            next.tables[t].entries.remove(e);
            out.push(next);
        }
    }
    out
}

fn blocks_smaller(block: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut out = Vec::new();
    if block.len() > 3 {
        out.push(block[block.len() / 2..].to_vec());
        out.push(block[..block.len() / 2].to_vec());
    }
    let with = |at: usize, instead: Vec<Stmt>| {
        let mut next = block.to_vec();
        next.splice(at..=at, instead);
        next
    };
    for (at, stmt) in block.iter().enumerate() {
        out.push(with(at, Vec::new()));
        match stmt {
            Stmt::Plain(_) => {}
            Stmt::If(cond, then, otherwise) => {
                for then in blocks_smaller(then) {
                    out.push(with(
                        at,
                        vec![Stmt::If(cond.clone(), then, otherwise.clone())],
                    ));
                }
                for otherwise in blocks_smaller(otherwise) {
                    out.push(with(
                        at,
                        vec![Stmt::If(cond.clone(), then.clone(), otherwise)],
                    ));
                }
            }
            Stmt::Switch(on, cases) => {
                for (c, (_, block)) in cases.iter().enumerate() {
                    for block in blocks_smaller(block) {
                        let mut cases = cases.clone();
                        cases[c].1 = block;
                        out.push(with(at, vec![Stmt::Switch(on.clone(), cases)]));
                    }
                }
            }
            Stmt::Atomic(body) => {
                for body in blocks_smaller(body) {
                    out.push(with(at, vec![Stmt::Atomic(body)]));
                }
            }
            Stmt::For(head, body) => {
                for body in blocks_smaller(body) {
                    out.push(with(at, vec![Stmt::For(head.clone(), body)]));
                }
            }
        }
    }
    out
}
