//! Analysis of flow values that can be read and written in place, in the flow's way.
//!
//! The statements under a lock must begin with a look-up. Every path from there must have one update of the same values
//! and no other call. Then the flow exists from the look-up on: an unknown flow gets its way at once, filled with
//! zeros. A field whose variable the look-up fills and the update stores is a member of the way in between. So only
//! fields that are used are loaded, and only fields that are assigned are stored.

use ir::analysis::dataflow::{self, After, Domain, Forward};
use ir::analysis::liveness::Liveness;
use ir::visit::{self, Access};
use ir::{
    Block, Expr, ExprKind, ExternArg, ExternCall, Label, Place, Program, Stmt, StmtKind, Var,
    atomic,
};
use std::collections::{HashMap, HashSet};

/// Fields whose variables are members of the flow's way.
#[derive(Clone, Debug)]
pub(crate) struct InPlace {
    /// Index of the field, by variable.
    pub fields: HashMap<Var, usize>,
    /// Variables that are read after the lock is released.
    pub wanted_after: Vec<Var>,
}

impl InPlace {
    /// Returns true if a field of the value is updated in place.
    pub(crate) fn has(&self, field: usize) -> bool {
        self.fields.values().any(|&f| f == field)
    }
}

/// Progress of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// After the look-up.
    Looked,
    /// After the update.
    Updated,
    /// Paths meet after different calls, or calls come in another order.
    Mixed,
}

/// Returns the fields that can be updated in place in the statements under a lock. `None` if some path has not
/// exactly one update after the look-up.
pub(crate) fn of_region(program: &Program, stmts: &[Stmt]) -> Option<InPlace> {
    let (first, rest) = stmts.split_first()?;
    let StmtKind::Extern(lookup) = &first.kind else {
        return None;
    };
    atomic::flow_call(program, &first.kind)?;
    if lookup.name != "lookup" {
        return None;
    }
    let mut fields = filled(lookup);
    let mut walk = Updates {
        program,
        updates: Vec::new(),
        assigned_late: HashSet::new(),
    };
    if dataflow::forward_region(program, &mut walk, rest, At::Looked) != Some(At::Updated) {
        return None;
    }
    for values in &walk.updates {
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

/// Returns the variables that a look-up fills with one field each.
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

struct Updates<'a> {
    program: &'a Program,
    /// Values that each update stores.
    updates: Vec<Vec<Expr>>,
    /// Variables that are assigned where the update may have run already.
    assigned_late: HashSet<Var>,
}

impl Domain for At {
    fn join(&mut self, other: &At) -> bool {
        let joined = if self == other { *self } else { At::Mixed };
        let changed = joined != *self;
        *self = joined;
        changed
    }
}

impl Forward for Updates<'_> {
    type Fact = At;

    fn loop_head(&mut self, _: Label, _: &Block, _: At) -> At {
        At::Mixed
    }

    fn transfer(&mut self, stmt: &Stmt, at: At) -> After<At> {
        if let StmtKind::Extern(call) = &stmt.kind
            && atomic::flow_call(self.program, &stmt.kind).is_some()
        {
            let values = match (call.name.as_str(), call.args.get(1)) {
                ("update", Some(ExternArg::In(values))) => values.clone(),
                _ => return After::next(At::Mixed),
            };
            self.updates.push(values);
            return After::next(match at {
                At::Looked => At::Updated,
                At::Updated | At::Mixed => At::Mixed,
            });
        }
        if at != At::Looked {
            visit::accesses(self.program, &stmt.kind, |access| {
                if let Access::Write(Place::Var(var)) = access {
                    self.assigned_late.insert(var);
                }
            });
        }
        After::next(at)
    }
}
