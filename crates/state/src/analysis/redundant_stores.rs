//! Analysis of redundant stores: values of an update that the flow's way already holds.
//!
//! If an update follows a look-up on every path, with no other call between, the way still has the values that the
//! look-up returned. A field whose variable is not assigned on the path keeps its value. For a new flow the look-up
//! returned zero.
//! look-up gave zero.

use ir::analysis::dataflow::{self, After, Domain, Forward};
use ir::visit::{self, Access};
use ir::{
    Block, ExprKind, ExternArg, ExternCall, Label, Place, Program, Stmt, StmtId, StmtKind, Var,
    atomic,
};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// For each update that follows a look-up: true for each field that it need not write.
pub(crate) type RedundantStores = HashMap<StmtId, Vec<bool>>;

/// Last call on every path to a point.
#[derive(Clone, PartialEq, Eq)]
enum Before {
    /// No call yet.
    Nothing,
    /// This look-up, which was the first call, with the variables that were assigned since.
    Looked(StmtId, Rc<HashSet<Var>>),
    /// Another call, or different calls on different paths.
    Unknown,
}

impl Domain for Before {
    fn join(&mut self, other: &Before) -> bool {
        let joined = match (&*self, other) {
            (Before::Nothing, Before::Nothing) => Before::Nothing,
            (Before::Looked(a, some), Before::Looked(b, more)) if a == b => {
                Before::Looked(*a, Rc::new(some.union(more).copied().collect()))
            }
            _ => Before::Unknown,
        };
        let changed = joined != *self;
        *self = joined;
        changed
    }
}

/// Analyses the statements under a lock.
pub(crate) fn of_region(program: &Program, stmts: &[Stmt]) -> RedundantStores {
    let mut keeping = Keeping {
        program,
        lookups: HashMap::new(),
        redundant: RedundantStores::new(),
    };
    dataflow::forward_region(program, &mut keeping, stmts, Before::Nothing);
    keeping.redundant
}

struct Keeping<'p> {
    program: &'p Program,
    lookups: HashMap<StmtId, ExternCall>,
    redundant: RedundantStores,
}

impl Forward for Keeping<'_> {
    type Fact = Before;

    fn loop_head(&mut self, _: Label, _: &Block, _: Before) -> Before {
        Before::Unknown
    }

    fn transfer(&mut self, stmt: &Stmt, before: Before) -> After<Before> {
        After::next(match &stmt.kind {
            StmtKind::Extern(call) if atomic::flow_call(self.program, &stmt.kind).is_some() => {
                self.call(stmt.id, call, before)
            }
            kind => self.other(kind, before),
        })
    }
}

impl Keeping<'_> {
    fn call(&mut self, id: StmtId, call: &ExternCall, before: Before) -> Before {
        match (call.name.as_str(), before) {
            ("lookup", Before::Nothing) => {
                self.lookups.insert(id, call.clone());
                Before::Looked(id, Rc::default())
            }
            ("update", Before::Looked(lookup, assigned)) => {
                if let Some(lookup) = self.lookups.get(&lookup) {
                    self.redundant
                        .insert(id, self.fields(lookup, call, &assigned));
                }
                Before::Unknown
            }
            _ => Before::Unknown,
        }
    }

    fn other(&self, kind: &StmtKind, before: Before) -> Before {
        let Before::Looked(id, mut assigned) = before else {
            return before;
        };
        visit::accesses(self.program, kind, |access| {
            if let Access::Write(Place::Var(var)) = access {
                Rc::make_mut(&mut assigned).insert(var);
            }
        });
        Before::Looked(id, assigned)
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
