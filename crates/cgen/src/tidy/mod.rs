//! Simplifies generated functions for readers: removes dead stores, unused labels and jumps to the next line.

mod jumps;
mod walk;

use crate::tree::{Block, Expr, Stmt};
use jumps::drop_jumps;
use smol_str::SmolStr;
use std::collections::HashSet;
pub(crate) use walk::blocks;
pub use walk::blocks_mut;
use walk::{for_each_expr, for_each_expr_mut};

/// Removes stores to `locals` that nothing reads, if computing the value has no side effect. Also removes jumps and
/// labels that are not needed. Returns the locals that are still used.
pub fn tidy(body: &mut Block, locals: &HashSet<SmolStr>) -> HashSet<SmolStr> {
    loop {
        let mut read = HashSet::new();
        for_each_expr(body, &mut |e, store| {
            if !store || !matches!(e, Expr::Ident(_)) {
                read.insert_idents(e);
            }
        });
        let mut removed = false;
        retain(body, &mut |s| {
            let dead = match s {
                Stmt::Assign(Expr::Ident(name), value) => {
                    locals.contains(name) && !read.contains(name) && value.is_pure()
                }
                Stmt::Hint {
                    on: Expr::Ident(v), ..
                } => locals.contains(v) && !read.contains(v),
                _ => false,
            };
            removed |= dead;
            !dead
        });
        drop_empty(body);
        if !removed {
            break;
        }
    }
    drop_jumps(body);
    let mut used = HashSet::new();
    for_each_expr(body, &mut |e, _| used.insert_idents(e));
    used.retain(|name| locals.contains(name));
    used
}

/// Replaces each name for which `with(name)` returns an expression by that expression.
pub fn substitute(body: &mut Block, with: &dyn Fn(&SmolStr) -> Option<Expr>) {
    for_each_expr_mut(body, &mut |e| replace(e, with));
}

/// Calls `f` on every expression of a body and on all its operands, inner ones first.
pub fn for_each(body: &mut Block, f: &mut impl FnMut(&mut Expr)) {
    fn walk(e: &mut Expr, f: &mut impl FnMut(&mut Expr)) {
        for part in e.parts_mut() {
            walk(part, f);
        }
        f(e);
    }
    for_each_expr_mut(body, &mut |e| walk(e, f));
}

/// Returns the names in a body, each as often as it occurs.
pub fn names(body: &Block) -> Vec<SmolStr> {
    fn walk(e: &Expr, found: &mut Vec<SmolStr>) {
        if let Expr::Ident(name) = e {
            found.push(name.clone());
        }
        for part in e.parts() {
            walk(part, found);
        }
    }
    let mut found = Vec::new();
    for_each_expr(body, &mut |e, _| walk(e, &mut found));
    found
}

trait InsertIdents {
    fn insert_idents(&mut self, e: &Expr);
}

impl InsertIdents for HashSet<SmolStr> {
    fn insert_idents(&mut self, e: &Expr) {
        if let Expr::Ident(name) = e {
            self.insert(name.clone());
        }
        for part in e.parts() {
            self.insert_idents(part);
        }
    }
}

fn replace(e: &mut Expr, with: &dyn Fn(&SmolStr) -> Option<Expr>) {
    if let Expr::Ident(name) = e {
        if let Some(new) = with(name) {
            *e = new;
        }
        return;
    }
    for part in e.parts_mut() {
        replace(part, with);
    }
}

fn retain(block: &mut Block, keep: &mut impl FnMut(&Stmt) -> bool) {
    block.retain(|s| keep(s));
    for stmt in block {
        for inner in blocks_mut(stmt) {
            retain(inner, keep);
        }
    }
}

/// Removes conditionals and blocks with nothing in them.
pub(crate) fn drop_empty(block: &mut Block) {
    for stmt in block.iter_mut() {
        for inner in blocks_mut(stmt) {
            drop_empty(inner);
        }
    }
    let only_marks = |b: &Block| {
        b.iter()
            .all(|s| matches!(s, Stmt::Line { .. } | Stmt::Comment(_)))
    };
    block.retain(|s| match s {
        Stmt::If(cond, a, b) => !(only_marks(a) && only_marks(b) && cond.is_pure()),
        Stmt::Block(b) => !only_marks(b),
        _ => true,
    });
    for stmt in block.iter_mut() {
        if let Stmt::If(_, a, b) = stmt {
            for side in [a, b] {
                if only_marks(side) {
                    side.clear();
                }
            }
        }
    }
    // Of consecutive marks the last gives the next statement's location.
    let marks: Vec<bool> = block
        .iter()
        .map(|s| matches!(s, Stmt::Line { .. }))
        .collect();
    let mut i = 0;
    block.retain(|_| {
        i += 1;
        !(marks[i - 1] && marks.get(i).copied().unwrap_or(true))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_label_inside_a_branch_leads_to_stays() {
        let mut body = vec![
            Stmt::Goto("inside".into()),
            Stmt::If(
                Expr::id("x"),
                vec![
                    Stmt::Label("inside".into()),
                    Stmt::Expr(Expr::call("f", vec![])),
                ],
                vec![],
            ),
            Stmt::Return(None),
        ];
        let before = body.clone();
        tidy(&mut body, &HashSet::new());
        assert_eq!(body, before);
    }

    #[test]
    fn dead_stores_and_needless_jumps_go() {
        let set = |name: &str, e: Expr| Stmt::Assign(Expr::id(name), e);
        let mut body = vec![
            set("a", Expr::int(1)),
            set("b", Expr::id("a")),
            set("c", Expr::call("effect", vec![])),
            Stmt::If(Expr::id("x"), vec![Stmt::Goto("end".into())], vec![]),
            Stmt::Goto("end".into()),
            Stmt::Label("unused".into()),
            Stmt::Label("end".into()),
            Stmt::Return(Some(Expr::id("x"))),
        ];
        let locals = ["a", "b", "c"].map(SmolStr::from).into_iter().collect();
        let used = tidy(&mut body, &locals);
        assert_eq!(
            body,
            [
                set("c", Expr::call("effect", vec![])),
                Stmt::Return(Some(Expr::id("x"))),
            ]
        );
        assert_eq!(used.len(), 1);
    }

    #[test]
    fn whether_a_call_may_go_does_not_depend_on_its_name() {
        let dead = |call: Expr| vec![Stmt::Assign(Expr::id("unread"), call)];
        let locals = HashSet::from([SmolStr::from("unread")]);
        for name in ["csum_note", "load_beacon", "wide_search", "divide"] {
            let mut body = dead(Expr::call(name, vec![]));
            tidy(&mut body, &locals);
            assert_eq!(body, dead(Expr::call(name, vec![])));
            let mut body = dead(Expr::pure(name, vec![]));
            tidy(&mut body, &locals);
            assert_eq!(body, []);
        }
    }
}
