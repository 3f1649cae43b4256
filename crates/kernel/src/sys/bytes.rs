//! Bytes that outlive their process: in the only value of a pinned map.

use super::{Map, Update};
use std::io;
use std::path::Path;

/// Pins bytes in a BPF file system, in a map of this name.
pub fn pin_bytes(path: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let size = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidData)?;
    let map = Map::create(libbpf_sys::BPF_MAP_TYPE_ARRAY, name, 4, size, 1, 0)?;
    map.set(&0u32.to_ne_bytes(), bytes, Update::Any)?;
    map.pin(path)
}

/// Reads what [`pin_bytes`] has pinned.
pub fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    Ok(Map::open(path)?
        .get(&0u32.to_ne_bytes())?
        .unwrap_or_default())
}
