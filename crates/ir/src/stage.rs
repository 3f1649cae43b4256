//! Stages: the parts of a program between two parsers.

use crate::{BlockBody, Parser, Routine, Var};

/// A part of a program that is one function: it parses a packet, processes it, and deparses it. What one leaves in the
/// packet the next one parses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stage {
    /// The parser.
    pub parser: Parser,
    /// What decides, one after the other: at least one. `exit` ends the one that runs.
    pub controls: Vec<Routine>,
    /// What puts the packet together; a stage without one leaves the packet as it came.
    pub deparser: Option<Routine>,
    /// The packet goes no further if this is not 0 behind the controls.
    pub drops: Option<Var>,
}

impl Stage {
    /// Its blocks up to where the target decides what becomes of the packet.
    pub fn until_verdict(&self) -> Vec<BlockBody> {
        let controls = self
            .controls
            .iter()
            .map(|&control| BlockBody::Control(control));
        std::iter::once(BlockBody::Parser(self.parser))
            .chain(controls)
            .collect()
    }
}
