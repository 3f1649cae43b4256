//! Models of architectures, one module each: the order of the program's blocks, and the values that the pipeline writes
//! to their slots and reads from them.

mod ebpf;
mod stages;
mod tap;
mod tc;
mod v1model;
mod xdp;

use crate::outcome::{Disposition, Fault, Marks};
use crate::run::{ControlFlow, Parsed, Run};
use crate::trace::TraceKind;
use ir::{Parser, Program, Routine, Var};
pub(crate) use v1model::Poisons;

/// Architecture, with the blocks and slots of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Model {
    Ebpf(ebpf::Ebpf),
    Xdp(xdp::Xdp),
    Tc(tc::Tc),
    Tap(tap::Tap),
    V1Model(v1model::V1Model),
}

/// Field that `mark_to_drop` writes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DropField {
    /// Variable of the architecture's metadata.
    pub var: Option<Var>,
    /// Index among the scalars of `standard_metadata_t`.
    pub place: Option<usize>,
}

impl Model {
    /// Returns the model of a program. `None` if its architecture is not known or it lacks blocks.
    pub(crate) fn new(program: &Program) -> Option<Model> {
        Some(match arch::by_package(&program.arch)?.model {
            arch::Model::Filter => Model::Ebpf(ebpf::Ebpf::new(program)?),
            arch::Model::Switch => Model::Xdp(xdp::Xdp::new(program)?),
            arch::Model::Tc => Model::Tc(tc::Tc::new(program)?),
            arch::Model::Tap => Model::Tap(tap::Tap::new(program)?),
            arch::Model::Pipeline => Model::V1Model(v1model::V1Model::new(program)?),
        })
    }

    /// Runs a packet through the pipeline.
    pub(crate) fn run(
        self,
        run: &mut Run<'_>,
        port: u32,
        marks: Marks,
    ) -> Result<Disposition, Fault> {
        match self {
            Model::Ebpf(model) => model.run(run, port),
            Model::Xdp(model) => model.run(run, port),
            Model::Tc(model) => model.run(run, port, marks),
            Model::Tap(model) => model.run(run, port),
            Model::V1Model(model) => model.run(run, port),
        }
    }

    /// Returns the poison values for packets and copies that start.
    pub(crate) fn poisons(self, program: &Program) -> Option<Poisons> {
        match self {
            Model::V1Model(model) => Some(model.poisons(program)),
            Model::Ebpf(_) | Model::Xdp(_) | Model::Tc(_) | Model::Tap(_) => None,
        }
    }

    /// Returns the variable that is set for a wrong checksum.
    pub(crate) fn checksum_error(self) -> Option<Var> {
        match self {
            Model::V1Model(model) => model.checksum_error,
            Model::Ebpf(_) | Model::Xdp(_) | Model::Tc(_) | Model::Tap(_) => None,
        }
    }

    /// Returns the fields that `mark_to_drop` writes: the port and the multicast group.
    pub(crate) fn drop_fields(self) -> Option<(DropField, DropField)> {
        match self {
            Model::V1Model(model) => Some((model.drop_spec, model.drop_group)),
            Model::Ebpf(_) | Model::Xdp(_) | Model::Tc(_) | Model::Tap(_) => None,
        }
    }
}

impl Run<'_> {
    /// Runs the parser block.
    fn parser_block(&mut self, name: &'static str, parser: Parser) -> Result<Parsed, Fault> {
        let data = &self.p.parsers[parser];
        self.trace(data.span, |_| TraceKind::Block {
            role: name,
            name: data.name.to_string(),
        });
        self.parse(parser)
    }

    /// Runs a control block to its end.
    fn control_block(&mut self, name: &'static str, routine: Routine) -> Result<(), Fault> {
        let data = &self.p.routines[routine];
        self.trace(data.span, |_| TraceKind::Block {
            role: name,
            name: data.name.to_string(),
        });
        let entered = self.entered.take();
        let end = entered.and_then(|entry| self.block_from(&data.body, entry));
        match end.unwrap_or_else(|| self.block(&data.body)) {
            ControlFlow::Fault(fault) => Err(fault),
            _ => Ok(()),
        }
    }
}
