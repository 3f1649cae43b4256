//! Lowers calls of the architecture's own externs to statements, for every variant of the pipeline that targets have.

use super::{DROP_PORT, STANDARD_METADATA};
use diag::Span;
use ir::{
    Bits, Block, Expr, ExprKind, ExternArg, ExternCall, Place, Program, Stmt, StmtKind, Type, Var,
    VarData, build, visit,
};

/// Scalars of `standard_metadata`, each at its index.
pub(super) struct Fields(Vec<(String, Var)>);

impl Fields {
    pub(super) fn of(program: &Program) -> Fields {
        let slot = program.slots.iter().find(|s| s.name == STANDARD_METADATA);
        let vars = slot.into_iter().flat_map(|slot| &slot.vars);
        Fields(vars.map(|(name, var)| (name.to_string(), *var)).collect())
    }

    pub(super) fn find(&self, name: &str) -> Option<(usize, Var)> {
        let place = self.0.iter().position(|(known, _)| known == name)?;
        Some((place, self.0[place].1))
    }

    /// Lowers `mark_to_drop` to assignments.
    pub(super) fn lower_marks(&self, program: &mut Program) {
        let mut written = Vec::new();
        for (name, value) in [("egress_spec", DROP_PORT), ("mcast_grp", 0)] {
            if let Some((place, var)) = self.find(name) {
                let value = constant(program, program.vars[var].ty, value);
                written.push((place, var, value));
            }
        }
        for body in bodies_mut(program) {
            lower_marks(body, &written);
        }
    }

    /// Lowers the effect of `verify_checksum` to an assignment, so that passes see it.
    pub(super) fn lower_checks(&self, program: &mut Program) {
        let Some((_, error)) = self.find("checksum_error") else {
            return;
        };
        let wrong = program.vars.push(VarData {
            name: "wrong".into(),
            ty: Type::Bool,
            span: Span::NONE,
        });
        let cond = build::var(program, wrong, Span::NONE);
        let set = constant(program, program.vars[error].ty, 1);
        for body in bodies_mut(program) {
            lower_checks(body, wrong, &|| StmtKind::If {
                cond,
                then: vec![assign(error, set)],
                otherwise: Block::new(),
            });
        }
    }
}

/// Lowers calls of `mark_to_drop` to assignments. `fields` has, for each field: its index in the argument, its variable
/// in case there is no argument, and the value to assign.
fn lower_marks(block: &mut Block, fields: &[(usize, Var, Expr)]) {
    for mut stmt in std::mem::take(block) {
        for inner in visit::blocks_mut(&mut stmt.kind) {
            lower_marks(inner, fields);
        }
        match &stmt.kind {
            StmtKind::Extern(call) if call.object.is_none() && call.name == "mark_to_drop" => {
                block.extend(fields.iter().map(|&(place, var, value)| {
                    let dst = argument(call, place).unwrap_or(Place::Var(var));
                    Stmt::new(StmtKind::Assign { dst, value }, stmt.span)
                }));
            }
            _ => block.push(stmt),
        }
    }
}

/// Returns true if a call verifies a checksum.
fn is_check(call: &ExternCall) -> bool {
    let checks = ["verify_checksum", "verify_checksum_with_payload"];
    call.object.is_none() && checks.contains(&call.name.as_str())
}

fn lower_checks(block: &mut Block, wrong: Var, set: &dyn Fn() -> StmtKind) {
    for mut stmt in std::mem::take(block) {
        for inner in visit::blocks_mut(&mut stmt.kind) {
            lower_checks(inner, wrong, set);
        }
        let span = stmt.span;
        let checks = match &mut stmt.kind {
            StmtKind::Extern(call) if is_check(call) => {
                call.result = vec![Place::Var(wrong)];
                true
            }
            _ => false,
        };
        block.push(stmt);
        if checks {
            block.push(Stmt::new(set(), span));
        }
    }
}

/// Returns the l-value of a field in the argument of `mark_to_drop`.
fn argument(call: &ExternCall, place: usize) -> Option<Place> {
    match call.args.first()? {
        ExternArg::InOut(places) => places.get(place).copied(),
        _ => None,
    }
}

pub(super) fn bodies_mut(program: &mut Program) -> impl Iterator<Item = &mut Block> {
    let states = program.parsers.values_mut();
    let states = states.flat_map(|parser| parser.states.values_mut());
    let routines = program
        .routines
        .values_mut()
        .map(|routine| &mut routine.body);
    let actions = program.actions.values_mut().map(|action| &mut action.body);
    routines
        .chain(actions)
        .chain(states.map(|state| &mut state.body))
}

/// Makes `var = value;`.
pub(super) fn assign(var: Var, value: Expr) -> Stmt {
    let dst = Place::Var(var);
    Stmt::new(StmtKind::Assign { dst, value }, Span::NONE)
}

/// Makes a constant of a type.
pub(super) fn constant(program: &mut Program, ty: Type, value: u32) -> Expr {
    let kind = ExprKind::Const(Bits::new(ty.width(), value));
    build::make(program, kind, ty, Span::NONE)
}
