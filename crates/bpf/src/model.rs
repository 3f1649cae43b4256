//! The stages of a program, and whether a hook runs it.

use crate::abi::Hook;
use crate::errors;
use arch::{Architecture, Model};
use diag::Diagnostics;
use ir::{Program, Stage};

/// Returns true if a program is compiled to the same code for two hooks: its code at traffic control does not depend
/// on the direction.
pub fn same_code(program: &Program, one: Hook, other: Hook) -> bool {
    let arch = arch::by_package(&program.arch);
    let is_alike = |arch: &Architecture| matches!(arch.model, Model::Filter | Model::Tap);
    one == other || one.target() == other.target() && arch.is_some_and(is_alike)
}

/// Returns the model of a program and its stages, in the order in which a packet meets them, if the hook runs it.
///
/// # Errors
///
/// A diagnostic if it does not.
pub(crate) fn of(program: &Program, hook: Hook) -> Result<(Model, Vec<Stage>), Diagnostics> {
    arch::by_package(&program.arch)
        .filter(|arch| arch.places.contains(&hook.place()))
        .and_then(|arch| Some((arch.model, arch.stages_of(program)?)))
        .ok_or_else(|| Box::new(errors::wrong_architecture(hook, &program.arch)).into())
}
