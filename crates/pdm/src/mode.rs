//! How packets are marked.

/// How packets are marked where segmentation offload is at work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// One option and one sequence number for each packet on the wire, as RFC 8250 means it.
    Conformant,
    /// One option for each packet that the host hands over, which may become several.
    MarkOnce,
}

impl Mode {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Conformant => "conformant",
            Mode::MarkOnce => "mark-once",
        }
    }
}
