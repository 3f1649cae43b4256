//! Stages: the parts of a program between two parsers.

use crate::{BlockBody, Parser, Routine, Var};

/// A part of a program that is one function: it parses a packet, processes it, and deparses it. The next stage parses
/// the packet that this one leaves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stage {
    /// The parser.
    pub parser: Parser,
    /// Controls in order, at least one. `exit` ends the control that runs.
    pub controls: Vec<Routine>,
    /// Deparser; a stage without one does not change the packet.
    pub deparser: Option<Routine>,
    /// Variable that drops the packet if it is not 0 after the controls.
    pub drops: Option<Var>,
}

impl Stage {
    /// Returns its blocks up to the point at which the target decides the packet's verdict.
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
