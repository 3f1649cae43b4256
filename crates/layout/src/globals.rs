//! Global data that packets read and the control plane changes.

use serde::{Deserialize, Serialize};

/// Struct that the program reads and the control plane may change in memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GlobalsAbi {
    /// Name of the map that holds the struct.
    pub section: String,
    /// Size in bytes.
    pub size: u32,
    /// Initial contents.
    pub initial: Vec<u8>,
}
