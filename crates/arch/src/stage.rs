//! Stages: the blocks that a packet meets between two parsers, and the field by which they drop it.

use crate::{Block, BlockKind};
use ir::Program;

/// Path of a packet through one parser and, if there is one, one deparser. The next stage's parser gets the packet as
/// this stage's deparser made it. Scalars of slots that blocks of several stages name are passed on; headers belong to
/// one stage.
#[derive(Debug, PartialEq, Eq)]
pub struct Stage {
    /// Blocks of the stage in the order in which a packet meets them, the parser first. Each is one constructor
    /// parameter of the package. The parameters of all stages are in the same order.
    pub blocks: &'static [Block],
    /// Slot and field by which controls drop the packet. If the field is not 0 after the last control, the packet is
    /// dropped, whatever the verdict.
    pub drops: Option<(&'static str, &'static str)>,
}

impl Stage {
    /// Makes a stage in which the verdict alone drops packets.
    pub const fn of(blocks: &'static [Block]) -> Stage {
        Stage {
            blocks,
            drops: None,
        }
    }

    /// Returns the stage's blocks in a program; `None` if the program lacks the parser, the deparser, or all controls.
    /// Blocks that a target has merged into others are left out.
    pub(crate) fn find(&self, program: &Program) -> Option<ir::Stage> {
        let of = |kind| self.blocks.iter().filter(move |block| block.kind == kind);
        let control = |name| program.control_block(name);
        let stage = ir::Stage {
            parser: program.parser_block(of(BlockKind::Parser).next()?.name)?,
            controls: of(BlockKind::Control)
                .filter_map(|block| control(block.name))
                .collect(),
            deparser: match of(BlockKind::Deparser).next() {
                Some(block) => Some(control(block.name)?),
                None => None,
            },
            drops: self
                .drops
                .and_then(|(slot, field)| program.slot_var(slot, field)),
        };
        (!stage.controls.is_empty()).then_some(stage)
    }
}
