//! Modes of marking packets.

/// Mode of marking packets under segmentation offload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// One option and one sequence number for each packet on the wire, as RFC 8250 requires.
    Conformant,
    /// One option for each packet from the host, which offload may split into several.
    MarkOnce,
}

impl Mode {
    /// Returns the mode's name in configurations and output.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Conformant => "conformant",
            Mode::MarkOnce => "mark-once",
        }
    }
}
