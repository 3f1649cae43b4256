//! Bytes that outlive their process: in the only value of a pinned map.

use super::{Map, Update};
use host::safe_dir::Dir;
use std::io;

/// Pins bytes in a folder of a BPF file system, in a map of the name `map`.
pub fn pin_bytes(folder: &Dir, name: &str, map: &str, bytes: &[u8]) -> io::Result<()> {
    let size = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidData)?;
    let map = Map::create(libbpf_sys::BPF_MAP_TYPE_ARRAY, map, 4, size, 1, 0)?;
    map.set(&0u32.to_ne_bytes(), bytes, Update::Any)?;
    map.pin(folder, name)
}

/// Reads what [`pin_bytes`] has pinned.
pub fn read_bytes(folder: &Dir, name: &str) -> io::Result<Vec<u8>> {
    Ok(Map::open(folder, name)?
        .get(&0u32.to_ne_bytes())?
        .unwrap_or_default())
}
