//! Values that are read and written where they lie.
//!
//! Where a look-up begins what a lock is held for, and every way from there has one update of the same values and no
//! other call, a flow is there from the look-up on: what is not known yet gets its place then, with zeros. A field
//! whose variable the look-up fills and the update stores is the place's own member in between, so that only what is
//! used is loaded, and only what is assigned is stored.

use ir::analysis::liveness::Liveness;
use ir::{
    ExprKind, ExternArg, ExternCall, Label, Place, Program, Stmt, StmtKind, Var, atomic,
    visit::{self, Access},
};
use std::collections::{HashMap, HashSet};

/// Fields whose variables are members of the flow's place.
#[derive(Clone, Debug)]
pub struct InPlace {
    /// By variable, which field it is.
    pub fields: HashMap<Var, usize>,
    /// Those that are read once the lock is given back.
    pub wanted_after: Vec<Var>,
}

impl InPlace {
    /// Whether a field of the value is kept up in its place.
    pub fn has(&self, field: usize) -> bool {
        self.fields.values().any(|&f| f == field)
    }
}

/// Where a way stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// Behind the look-up.
    Looked,
    /// Behind the update.
    Updated,
    /// Nowhere: no way leads there.
    Never,
    /// Ways meet that stand at different points, or calls come in another order.
    Mixed,
}

impl At {
    fn join(self, other: At) -> At {
        match (self, other) {
            (At::Never, one) | (one, At::Never) => one,
            (a, b) if a == b => a,
            _ => At::Mixed,
        }
    }
}

/// What can be done in place in the statements that a lock is held for; `None` if a flow may be looked up and not
/// stored, or stored more than once.
pub fn of_region(program: &Program, stmts: &[Stmt]) -> Option<InPlace> {
    let (first, rest) = stmts.split_first()?;
    let StmtKind::Extern(lookup) = &first.kind else {
        return None;
    };
    atomic::flow_call(program, &first.kind)?;
    if lookup.name != "lookup" {
        return None;
    }
    let mut fields = filled(lookup);
    let mut walk = Walk {
        program,
        breaks: HashMap::new(),
        updates: Vec::new(),
        assigned_late: HashSet::new(),
    };
    if walk.block(rest, At::Looked) != At::Updated {
        return None;
    }
    for update in &walk.updates {
        let Some(ExternArg::In(values)) = update.args.get(1) else {
            return None;
        };
        fields.retain(|var, field| {
            values
                .get(*field)
                .is_some_and(|&value| program.exprs[value].kind == ExprKind::Var(*var))
        });
    }
    fields.retain(|var, _| !walk.assigned_late.contains(var));

    let live = Liveness::new(program);
    let last = stmts.last().unwrap_or(first);
    let mut wanted_after: Vec<Var> = fields.keys().copied().collect();
    wanted_after.retain(|&var| live.var(last, var));
    wanted_after.sort_unstable();
    Some(InPlace {
        fields,
        wanted_after,
    })
}

/// The variables that a look-up fills with a field each.
fn filled(lookup: &ExternCall) -> HashMap<Var, usize> {
    let places = match lookup.args.get(1) {
        Some(ExternArg::Out(places)) => &places[..],
        _ => &[],
    };
    let once = |place: &Place| {
        places.iter().filter(|p| *p == place).count() == 1 && !lookup.result.contains(place)
    };
    let numbered = places.iter().enumerate();
    numbered
        .filter(|(_, place)| once(place))
        .filter_map(|(i, place)| match place {
            Place::Var(var) => Some((*var, i)),
            Place::Field(..) => None,
        })
        .collect()
}

struct Walk<'a> {
    program: &'a Program,
    breaks: HashMap<Label, At>,
    updates: Vec<&'a ExternCall>,
    /// Variables that are assigned where the update may be over.
    assigned_late: HashSet<Var>,
}

impl<'a> Walk<'a> {
    fn block(&mut self, stmts: &'a [Stmt], mut at: At) -> At {
        for stmt in stmts {
            at = self.stmt(&stmt.kind, at);
        }
        at
    }

    fn stmt(&mut self, kind: &'a StmtKind, at: At) -> At {
        match kind {
            StmtKind::If {
                then, otherwise, ..
            } => self.block(then, at).join(self.block(otherwise, at)),
            StmtKind::Switch { cases, default, .. } => {
                let mut after = self.block(default, at);
                for (_, block) in cases {
                    after = after.join(self.block(block, at));
                }
                after
            }
            StmtKind::Atomic(block) => self.block(block, at),
            StmtKind::Labeled(label, block) => {
                let end = self.block(block, at);
                end.join(self.breaks.remove(label).unwrap_or(At::Never))
            }
            StmtKind::Break(label) => {
                let known = self.breaks.remove(label).unwrap_or(At::Never);
                self.breaks.insert(*label, known.join(at));
                At::Never
            }
            StmtKind::Extern(call) if atomic::flow_call(self.program, kind).is_some() => {
                if call.name != "update" {
                    return At::Mixed;
                }
                self.updates.push(call);
                match at {
                    At::Looked => At::Updated,
                    At::Never => At::Never,
                    At::Updated | At::Mixed => At::Mixed,
                }
            }
            _ => {
                if at != At::Looked {
                    visit::accesses(self.program, kind, |access| {
                        if let Access::Write(Place::Var(var)) = access {
                            self.assigned_late.insert(var);
                        }
                    });
                }
                at
            }
        }
    }
}
