//! Making generated functions readable: what is never read is not stored, labels that nobody jumps to
//! and jumps to the next line go.

use crate::tree::{Block, Expr, Stmt};
use smol_str::SmolStr;
use std::collections::HashSet;

/// Removes stores to `locals` that nothing reads, if computing the value has no effect, and jumps and
/// labels without use. Returns the locals that are still used.
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

/// Puts `with(name)` in place of each name for which it is something.
pub fn substitute(body: &mut Block, with: &dyn Fn(&SmolStr) -> Option<Expr>) {
    for_each_expr_mut(body, &mut |e| replace(e, with));
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

fn parts_mut(e: &mut Expr) -> Vec<&mut Expr> {
    match e {
        Expr::Ident(_) | Expr::Int { .. } | Expr::Signed(_) | Expr::SizeOf(_) => Vec::new(),
        Expr::Call(_, args) => args.iter_mut().collect(),
        Expr::Unary(_, a) | Expr::Cast(_, a) | Expr::Member(a, _) | Expr::Arrow(a, _) => vec![a],
        Expr::Binary(_, a, b) | Expr::Index(a, b) => vec![a, b],
        Expr::Cond(a, b, c) => vec![a, b, c],
        Expr::Init(list) | Expr::Compound(_, list) => list.iter_mut().map(|(_, e)| e).collect(),
    }
}

fn replace(e: &mut Expr, with: &dyn Fn(&SmolStr) -> Option<Expr>) {
    if let Expr::Ident(name) = e {
        if let Some(new) = with(name) {
            *e = new;
        }
        return;
    }
    for part in parts_mut(e) {
        replace(part, with);
    }
}

/// Calls `f` on every expression of a block but what hints are about, and whether it is stored to.
fn for_each_expr(block: &[Stmt], f: &mut impl FnMut(&Expr, bool)) {
    for stmt in block {
        match stmt {
            Stmt::Expr(e) | Stmt::Return(Some(e)) => f(e, false),
            Stmt::Assign(dst, value) => {
                f(dst, true);
                f(value, false);
            }
            Stmt::Update(_, dst, value) => {
                f(dst, false);
                f(value, false);
            }
            Stmt::Decl { init: Some(e), .. } => f(e, false),
            Stmt::If(cond, a, b) => {
                f(cond, false);
                for_each_expr(a, f);
                for_each_expr(b, f);
            }
            Stmt::Switch { on, cases, default } => {
                f(on, false);
                for (_, block) in cases {
                    for_each_expr(block, f);
                }
                for_each_expr(default, f);
            }
            Stmt::Loop(b) | Stmt::Block(b) => for_each_expr(b, f),
            _ => {}
        }
    }
}

fn for_each_expr_mut(block: &mut [Stmt], f: &mut impl FnMut(&mut Expr)) {
    for stmt in block {
        match stmt {
            Stmt::Expr(e) | Stmt::Return(Some(e)) | Stmt::Hint { on: e, .. } => f(e),
            Stmt::Assign(dst, value) | Stmt::Update(_, dst, value) => {
                f(dst);
                f(value);
            }
            Stmt::Decl { init: Some(e), .. } => f(e),
            Stmt::If(cond, a, b) => {
                f(cond);
                for_each_expr_mut(a, f);
                for_each_expr_mut(b, f);
            }
            Stmt::Switch { on, cases, default } => {
                f(on);
                for (_, block) in cases {
                    for_each_expr_mut(block, f);
                }
                for_each_expr_mut(default, f);
            }
            Stmt::Loop(b) | Stmt::Block(b) => for_each_expr_mut(b, f),
            _ => {}
        }
    }
}

fn blocks_mut(stmt: &mut Stmt) -> Vec<&mut Block> {
    match stmt {
        Stmt::If(_, a, b) => vec![a, b],
        Stmt::Switch { cases, default, .. } => {
            let mut all: Vec<_> = cases.iter_mut().map(|(_, b)| b).collect();
            all.push(default);
            all
        }
        Stmt::Loop(b) | Stmt::Block(b) => vec![b],
        _ => Vec::new(),
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
fn drop_empty(block: &mut Block) {
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
    // Of marks in a row the last says where the next statement comes from.
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

fn drop_jumps(body: &mut Block) {
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
    // What follows a jump up to the next label is never run.
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
    // A jump to one of the labels that follow it is no jump.
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
