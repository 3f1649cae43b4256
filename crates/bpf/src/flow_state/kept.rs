//! What an update need not write: values that are in the flow's place already.
//!
//! An update that follows a look-up on every way, with no other call between, finds in the place what the
//! look-up gave. A field whose variable nobody assigns on the way is there still; if the flow is new, the
//! look-up gave zero.

use super::ways::{self, Question};
use ir::visit::{self, Access};
use ir::{ExprKind, ExternArg, ExternCall, Place, Program, Stmt, StmtId, StmtKind, Var};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// For each update that follows a look-up, which fields are kept.
pub type Kept = HashMap<StmtId, Vec<bool>>;

/// What the last call on every way to a point was.
#[derive(Clone)]
enum Before<'a> {
    /// None yet.
    Nothing,
    /// This look-up, and it was the first call; with the variables that were assigned since.
    Looked(StmtId, &'a ExternCall, Rc<HashSet<Var>>),
    /// Something else, or it depends.
    Unknown,
    /// No way leads there.
    Never,
}

/// Looks through the statements that a lock is held for.
pub fn of_region(program: &Program, stmts: &[Stmt]) -> Kept {
    let kept = Kept::new();
    let mut keeping = Keeping { program, kept };
    ways::through(program, &mut keeping, stmts, Before::Nothing);
    keeping.kept
}

struct Keeping<'p> {
    program: &'p Program,
    kept: Kept,
}

impl<'a> Question<'a> for Keeping<'_> {
    type At = Before<'a>;

    fn never(&self) -> Before<'a> {
        Before::Never
    }

    fn join(&self, one: Before<'a>, other: Before<'a>) -> Before<'a> {
        match (one, other) {
            (Before::Never, one) | (one, Before::Never) => one,
            (Before::Nothing, Before::Nothing) => Before::Nothing,
            (Before::Looked(a, call, some), Before::Looked(b, _, more)) if a == b => {
                Before::Looked(a, call, Rc::new(some.union(&more).copied().collect()))
            }
            _ => Before::Unknown,
        }
    }

    fn call(&mut self, id: StmtId, call: &'a ExternCall, before: Before<'a>) -> Before<'a> {
        match (call.name.as_str(), before) {
            ("lookup", Before::Nothing) => Before::Looked(id, call, Rc::default()),
            ("update", Before::Looked(_, lookup, assigned)) => {
                let fields = self.fields(lookup, call, &assigned);
                self.kept.insert(id, fields);
                Before::Unknown
            }
            _ => Before::Unknown,
        }
    }

    fn other(&mut self, kind: &'a StmtKind, before: Before<'a>) -> Before<'a> {
        let Before::Looked(id, lookup, mut assigned) = before else {
            return before;
        };
        visit::accesses(self.program, kind, |access| {
            if let Access::Write(Place::Var(var)) = access {
                Rc::make_mut(&mut assigned).insert(var);
            }
        });
        Before::Looked(id, lookup, assigned)
    }
}

impl Keeping<'_> {
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
