//! Stages of an architecture whose packets are parsed and deparsed, once or several times. A packet that a parser
//! rejects goes no further.

use crate::outcome::Fault;
use crate::run::{Parsed, Run};
use arch::{BlockKind, Stage};
use ir::Program;

/// All stages of a program that has every block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stages(&'static [Stage]);

/// End of a packet's path through the stages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reached {
    /// After the last control: the verdict decides.
    Verdict,
    /// In a parser, which rejected it.
    Rejected,
    /// After a stage whose controls dropped it.
    Dropped,
}

impl Stages {
    pub(super) fn new(program: &Program) -> Option<Stages> {
        let arch = arch::by_package(&program.arch)?;
        arch.stages_of(program).map(|_| Stages(arch.stages))
    }

    /// Runs a packet through all stages, except for the last deparser.
    pub(super) fn run(self, run: &mut Run<'_>) -> Result<Reached, Fault> {
        for (i, stage) in self.0.iter().enumerate() {
            if let Some(before) = i.checked_sub(1) {
                self.blocks(run, before, BlockKind::Deparser)?;
                let bytes = run.deparsed();
                run.begin_anew(bytes.into());
            }
            if self.blocks(run, i, BlockKind::Parser)? != Parsed::Accept {
                return Ok(Reached::Rejected);
            }
            self.blocks(run, i, BlockKind::Control)?;
            let drops = stage
                .drops
                .and_then(|(slot, field)| run.p.slot_var(slot, field));
            if run.number(drops) != 0 {
                return Ok(Reached::Dropped);
            }
        }
        Ok(Reached::Verdict)
    }

    /// Assembles the packet that leaves.
    pub(super) fn deparse(self, run: &mut Run<'_>) -> Result<Vec<u8>, Fault> {
        if run.unchanged {
            return Ok(run.packet.to_vec());
        }
        self.blocks(run, self.0.len() - 1, BlockKind::Deparser)?;
        Ok(run.deparsed())
    }

    /// Runs the blocks of one kind in a stage.
    fn blocks(self, run: &mut Run<'_>, stage: usize, kind: BlockKind) -> Result<Parsed, Fault> {
        let blocks = self.0[stage].blocks.iter();
        for block in blocks.filter(|block| block.kind == kind) {
            if let Some(parser) = run.p.parser_block(block.name) {
                match run.parser_block(block.name, parser)? {
                    Parsed::Accept => {}
                    rejected => return Ok(rejected),
                }
            }
            if let Some(routine) = run.p.control_block(block.name) {
                run.control_block(block.name, routine)?;
            }
        }
        Ok(Parsed::Accept)
    }
}
