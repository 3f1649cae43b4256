//! The stages of a program, and whether a hook runs it.

use crate::abi::Hook;
use crate::errors;
use arch::{Architecture, BlockKind, Model};
use diag::Diagnostics;
use emit::Stage;
use ir::Program;

/// True if a program is compiled to the same code for two hooks: what traffic control does for it does not depend on the direction.
pub fn same_code(program: &Program, one: Hook, other: Hook) -> bool {
    let arch = arch::by_package(&program.arch);
    let is_alike = |arch: &Architecture| matches!(arch.model, Model::Filter | Model::Tap);
    one == other || one.target() == other.target() && arch.is_some_and(is_alike)
}

/// The model of a program and its stage, if the hook runs it.
///
/// # Errors
///
/// A diagnostic if it does not.
pub(crate) fn of(program: &Program, hook: Hook) -> Result<(Model, Stage), Diagnostics> {
    arch::by_package(&program.arch)
        .filter(|arch| arch.places.contains(&hook.place()))
        .and_then(|arch| Some((arch.model, stage(program, arch)?)))
        .ok_or_else(|| Box::new(errors::wrong_architecture(hook, &program.arch)).into())
}

fn stage(program: &Program, arch: &Architecture) -> Option<Stage> {
    let of = |kind| arch.blocks.iter().filter(move |block| block.kind == kind);
    let control = |name| program.control_block(name);
    let stage = Stage {
        parser: program.parser_block(arch::PARSER)?,
        controls: of(BlockKind::Control)
            .filter_map(|block| control(block.name))
            .collect(),
        deparser: match of(BlockKind::Deparser).next() {
            Some(block) => Some(control(block.name)?),
            None => None,
        },
    };
    (!stage.controls.is_empty()).then_some(stage)
}
