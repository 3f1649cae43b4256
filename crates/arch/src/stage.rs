//! Stages: which blocks a packet meets between two parsers, and how it goes no further.

use crate::{Block, BlockKind};
use ir::Program;

/// A packet's way through one parser and, if there is one, one deparser. What a stage's deparser makes of a packet is what the
/// next one's parser gets. Scalars of slots that blocks of several stages name go with it; headers are a stage's own.
#[derive(Debug, PartialEq, Eq)]
pub struct Stage {
    /// Its blocks in the order in which a packet meets them, the parser first. Each is one constructor parameter of the
    /// package, those of all stages in the same order.
    pub blocks: &'static [Block],
    /// The slot, and the field of it, by which controls drop the packet: if it is not 0 behind the last one, the packet goes no
    /// further, whatever the verdict.
    pub drops: Option<(&'static str, &'static str)>,
}

impl Stage {
    /// A stage in which the verdict alone drops packets.
    pub const fn of(blocks: &'static [Block]) -> Stage {
        Stage {
            blocks,
            drops: None,
        }
    }

    /// Its part of a program; `None` if the program lacks the parser, the deparser, or all controls. Those that a target runs as
    /// parts of others are no blocks any more.
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
