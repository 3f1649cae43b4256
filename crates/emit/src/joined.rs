//! Stages as functions of one file. Each puts the packet together, then calls the function of the next stage. It
//! passes the values of the variables that go from stage to stage.

use crate::emitter::Gen;
use crate::names::Names;
use crate::target::Target;
use crate::values::Value;
use cgen::lower::{Leaves, limb_count};
use cgen::tree::{Block, Expr as C, Stmt, Type};
use ir::analysis::liveness::Liveness;
use ir::{Place, Program, Stage, Var};
use smol_str::SmolStr;

/// A stage of a program.
#[derive(Clone, Debug)]
pub struct Joined {
    /// The stage.
    pub stage: Stage,
    /// Name of its function; empty for the first stage, whose function the target names.
    pub name: SmolStr,
    takes: Vec<Taken>,
    next: Option<Next>,
}

/// A variable whose value a function takes.
#[derive(Clone, Debug)]
struct Taken {
    var: Var,
    /// Its parameters: one, or one for each limb of a wide value.
    params: Vec<(Type, SmolStr)>,
}

/// Function of the next stage.
#[derive(Clone, Debug)]
struct Next {
    name: SmolStr,
    takes: Vec<Var>,
}

impl Joined {
    /// Returns the parameters of its function besides the packet.
    pub fn params(&self) -> impl Iterator<Item = (Type, SmolStr)> {
        self.takes.iter().flat_map(|taken| &taken.params).cloned()
    }
}

/// Joins stages, given in the order in which a packet meets them. Returns the last one first, in the order in which
/// their functions must be declared.
pub fn joined(program: &Program, stages: Vec<Stage>, names: &mut Names) -> Vec<Joined> {
    let live = (stages.len() > 1).then(|| Liveness::new(program));
    let mut all: Vec<Joined> = Vec::new();
    for (i, stage) in stages.into_iter().enumerate().rev() {
        let live = live.as_ref().filter(|_| i > 0);
        let crossing = live.map_or(Vec::new(), |live| crossing(program, &stage, live));
        let takes = crossing.into_iter().map(|var| taken(program, var, names));
        let next = all.last().map(|next| Next {
            name: next.name.clone(),
            takes: next.takes.iter().map(|taken| taken.var).collect(),
        });
        all.push(Joined {
            stage,
            takes: takes.collect(),
            name: match i {
                0 => SmolStr::default(),
                _ => names.fresh(&format!("stage_{i}")),
            },
            next,
        });
    }
    all
}

/// Returns the variables of slots that may be read in a stage before they are written there.
fn crossing(program: &Program, stage: &Stage, live: &Liveness) -> Vec<Var> {
    let start = program.parsers[stage.parser].start;
    let mut found = Vec::new();
    for &(_, var) in program.slots.iter().flat_map(|slot| &slot.vars) {
        if live.var_in_state(start, var) && !found.contains(&var) {
            found.push(var);
        }
    }
    found
}

fn taken(program: &Program, var: Var, names: &mut Names) -> Taken {
    let data = &program.vars[var];
    let width = data.ty.width();
    let ty = Type::register(width.min(64));
    let param = |_| {
        (
            ty.clone(),
            names.fresh_path(&format!("{}_so_far", data.name)),
        )
    };
    Taken {
        var,
        params: (0..limb_count(width).max(1)).map(param).collect(),
    }
}

impl<T: Target> Gen<'_, T> {
    /// Stores the values that the previous stage passed in their variables.
    pub(crate) fn take(&mut self, joined: &Joined) {
        self.taken = joined.params().map(|(_, name)| name).collect();
        for Taken { var, params } in &joined.takes {
            let mut values: Vec<C> = params
                .iter()
                .map(|(_, name)| C::Ident(name.clone()))
                .collect();
            let value = match values.len() {
                1 => Value::Scalar(values.remove(0)),
                _ => Value::Limbs(values),
            };
            self.store(Place::Var(*var), value);
        }
    }

    /// Emits the code after the controls: the target's verdict, or the call of the next stage.
    pub(crate) fn end_of_stage(&mut self, joined: &Joined) {
        if let Some(drops) = joined.stage.drops {
            let dropped = self.block(|g| {
                let result = T::dropped(g);
                g.push(Stmt::Return(Some(result)));
            });
            let is_dropped = self.var(drops);
            self.push(Stmt::If(is_dropped, dropped, Block::new()));
        }
        let Some(next) = &joined.next else {
            return T::verdict(self);
        };
        let mut args = vec![C::id("ctx")];
        for &var in &next.takes {
            match self.p.vars[var].ty.width() {
                0..=64 => args.push(self.var(var)),
                width => {
                    let limbs = self.var_limbs(var);
                    let limb = |i| limbs.clone().index(C::int(u64::from(i)));
                    args.extend((0..limb_count(width)).map(limb));
                }
            }
        }
        T::go_on(self, C::call(next.name.clone(), args));
    }
}
