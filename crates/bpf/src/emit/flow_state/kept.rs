//! What an update need not write: values that are in the flow's place already.
//!
//! An update that follows a look-up on every way, with no other call between, finds in the place what the
//! look-up gave. A field whose variable nobody assigns on the way is there still; if the flow is new, the
//! look-up gave zero.

use ir::{
    Block, ExprKind, ExternArg, ExternCall, Label, Place, Program, Stmt, StmtKind, Var, atomic,
    visit, visit::Access,
};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// For each update that follows a look-up, which fields are kept. Calls are known by where the program
/// keeps them.
pub type Kept = HashMap<*const ExternCall, Vec<bool>>;

/// What the last call on every way to a point was.
#[derive(Clone)]
enum Before<'a> {
    /// None yet.
    Nothing,
    /// This look-up, and it was the first call; with the variables that were assigned since.
    Looked(&'a ExternCall, Rc<HashSet<Var>>),
    /// Something else, or it depends.
    Unknown,
    /// No way leads there.
    Never,
}

impl<'a> Before<'a> {
    fn join(self, other: Before<'a>) -> Before<'a> {
        match (self, other) {
            (Before::Never, one) | (one, Before::Never) => one,
            (Before::Nothing, Before::Nothing) => Before::Nothing,
            (Before::Looked(a, some), Before::Looked(b, more)) if std::ptr::eq(a, b) => {
                Before::Looked(a, Rc::new(some.union(&more).copied().collect()))
            }
            _ => Before::Unknown,
        }
    }
}

/// Looks through the statements that a lock is held for.
pub fn of_region(program: &Program, stmts: &[Stmt]) -> Kept {
    let mut walk = Walk {
        program,
        breaks: HashMap::new(),
        kept: Kept::new(),
    };
    walk.block(stmts, Before::Nothing);
    walk.kept
}

struct Walk<'a> {
    program: &'a Program,
    breaks: HashMap<Label, Before<'a>>,
    kept: Kept,
}

impl<'a> Walk<'a> {
    fn block(&mut self, stmts: &'a [Stmt], mut before: Before<'a>) -> Before<'a> {
        for stmt in stmts {
            before = self.stmt(&stmt.kind, before);
        }
        before
    }

    fn stmt(&mut self, kind: &'a StmtKind, before: Before<'a>) -> Before<'a> {
        match kind {
            StmtKind::If {
                then, otherwise, ..
            } => {
                let after = self.block(then, before.clone());
                after.join(self.block(otherwise, before))
            }
            StmtKind::Switch { cases, default, .. } => {
                let mut after = self.block(default, before.clone());
                for (_, block) in cases {
                    after = after.join(self.block(block, before.clone()));
                }
                after
            }
            StmtKind::Atomic(block) => self.block(block, before),
            StmtKind::Labeled(label, block) => self.labeled(*label, block, before),
            StmtKind::Break(label) => {
                let known = self.breaks.remove(label).unwrap_or(Before::Never);
                self.breaks.insert(*label, known.join(before));
                Before::Never
            }
            StmtKind::Extern(call) if atomic::flow_call(self.program, kind).is_some() => {
                match (call.name.as_str(), before) {
                    ("lookup", Before::Nothing) => Before::Looked(call, Rc::default()),
                    ("update", Before::Looked(lookup, assigned)) => {
                        let fields = self.fields(lookup, call, &assigned);
                        self.kept.insert(std::ptr::from_ref(call), fields);
                        Before::Unknown
                    }
                    _ => Before::Unknown,
                }
            }
            _ => self.assigned(kind, before),
        }
    }

    fn assigned(&self, kind: &StmtKind, before: Before<'a>) -> Before<'a> {
        let Before::Looked(lookup, mut assigned) = before else {
            return before;
        };
        visit::accesses(self.program, kind, |access| {
            if let Access::Write(Place::Var(var)) = access {
                Rc::make_mut(&mut assigned).insert(var);
            }
        });
        Before::Looked(lookup, assigned)
    }

    fn labeled(&mut self, label: Label, block: &'a Block, before: Before<'a>) -> Before<'a> {
        let end = self.block(block, before);
        end.join(self.breaks.remove(&label).unwrap_or(Before::Never))
    }

    fn fields(
        &self,
        lookup: &ExternCall,
        update: &ExternCall,
        assigned: &HashSet<Var>,
    ) -> Vec<bool> {
        let Some(ExternArg::In(values)) = update.args.get(1) else {
            return Vec::new();
        };
        let places = match lookup.args.get(1) {
            Some(ExternArg::Out(places)) => &places[..],
            _ => &[],
        };
        let same = |(i, value): (usize, &ir::Expr)| {
            let ExprKind::Var(var) = self.program.exprs[*value].kind else {
                return false;
            };
            let place = Place::Var(var);
            places.get(i) == Some(&place)
                && places.iter().filter(|p| **p == place).count() == 1
                && !assigned.contains(&var)
                && !lookup.result.contains(&place)
        };
        values.iter().enumerate().map(same).collect()
    }
}
