//! Single values that packets read and the control plane changes.

use serde::{Deserialize, Serialize};

/// One struct that the program reads and the control plane may change in memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GlobalsAbi {
    /// The name of its map.
    pub section: String,
    /// Bytes.
    pub size: u32,
    /// Its bytes at the start.
    pub initial: Vec<u8>,
}
