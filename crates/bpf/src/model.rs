//! Which model's meaning a program has, and its stages.

use crate::abi::Hook;
use crate::{errors, hook};
use diag::Diagnostics;
use emit::Stage;
use ir::Program;
use smol_str::SmolStr;

/// Which model's meaning the program has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Model {
    /// `ebpf_model`: the packet passes unchanged or is dropped.
    Filter,
    /// `xdp_model`
    Switch,
    /// `tc_model`
    Tc,
    /// `tap_model`: every packet passes unchanged.
    Tap,
    /// `v1model`, ingress and egress, as [`arch::v1model::unicast`] makes it.
    Pipeline,
}

impl Model {
    /// The numbers of its verdicts by their names in C.
    pub(crate) fn verdicts(self) -> Vec<(SmolStr, u64)> {
        match self {
            Model::Filter | Model::Switch | Model::Tap | Model::Pipeline => arch::xdp::Verdict::ALL
                .map(|v| (v.name().into(), v as u64))
                .to_vec(),
            Model::Tc => arch::tc::Verdict::ALL
                .map(|v| (v.name().into(), v as u64))
                .to_vec(),
        }
    }
}

/// True if a program is compiled to the same code for two hooks: what traffic control does for it does not depend on the direction.
pub fn same_code(program: &Program, one: Hook, other: Hook) -> bool {
    let is_alike = |(model, _)| matches!(model, Model::Filter | Model::Tap);
    one == other || one.target() == other.target() && stage(program).is_some_and(is_alike)
}

/// The model of a program and its stage, if the hook runs it.
///
/// # Errors
///
/// A diagnostic if it does not.
pub(crate) fn of(program: &Program, hook: Hook) -> Result<(Model, Stage), Diagnostics> {
    stage(program)
        .filter(|(model, _)| hook::code(hook).runs(*model))
        .ok_or_else(|| Box::new(errors::wrong_architecture(hook, &program.arch)).into())
}

fn stage(program: &Program) -> Option<(Model, Stage)> {
    let (model, controls) = match arch::by_package(&program.arch)?.name {
        "ebpf_model" => (Model::Filter, &[arch::ebpf::FILTER][..]),
        "xdp_model" => (Model::Switch, &[arch::xdp::SWITCH][..]),
        "tc_model" => (Model::Tc, &[arch::tc::CONTROL][..]),
        "tap_model" => (Model::Tap, &[arch::tap::WATCH][..]),
        "v1model" => (Model::Pipeline, &arch::v1model::unicast::CONTROLS[..]),
        _ => return None,
    };
    let deparser = match model {
        Model::Filter | Model::Tap => None,
        Model::Switch | Model::Tc | Model::Pipeline => Some(program.control_block(arch::DEPARSER)?),
    };
    let controls = controls
        .iter()
        .filter_map(|name| program.control_block(name));
    let stage = Stage {
        parser: program.parser_block(arch::PARSER)?,
        controls: controls.collect(),
        deparser,
    };
    (!stage.controls.is_empty()).then_some((model, stage))
}
