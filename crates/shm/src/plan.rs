//! Layout of a program's file.

use crate::area;
use crate::memory::Program;
use host::words::Words;
use layout::{HashSeeds, MapKind};
use std::io;
use writers::memory::MapInfo;

/// Offset of the maps' descriptions.
const PAGE: u64 = 4096;
/// Size of a map's description, in bytes.
const DESCRIPTION: u64 = 128;
/// Size of a map's name, in bytes.
const NAME: usize = 64;

/// Map with its two locations.
#[derive(Debug)]
pub(crate) struct Planned {
    pub name: String,
    pub info: MapInfo,
    pub places: [u64; 2],
    pub size: u64,
}

/// Layout of a file.
#[derive(Debug)]
pub(crate) struct FilePlan {
    pub cores: u32,
    pub directories: [u64; 2],
    pub readers: u64,
    pub counts: u64,
    pub counts_size: u64,
    pub maps: Vec<Planned>,
    pub bytes: u64,
}

impl FilePlan {
    /// Plans the file of a program for `cores` cores.
    ///
    /// # Errors
    /// A map's name is longer than a description can hold, or the file would be too large.
    pub(crate) fn of(program: &Program, cores: u32) -> io::Result<FilePlan> {
        let globals = program.contents.globals.as_ref();
        let globals = globals.map(|g| layout::Map::new(&g.section, MapKind::Array, 4, g.size, 1));
        let maps: Vec<layout::Map> = program.maps.iter().cloned().chain(globals).collect();
        let count = maps.len() as u64;
        let mut end = PAGE;
        let mut next = |bytes: u64| {
            let at = end;
            let taken = bytes.checked_next_multiple_of(64);
            end = taken
                .and_then(|taken| end.checked_add(taken))
                .ok_or(io::ErrorKind::FileTooLarge)?;
            Ok::<u64, io::Error>(at)
        };
        next(count * DESCRIPTION)?;
        let directories = [next(count * 8)?, next(count * 8)?];
        let readers = next(u64::from(cores) * 64)?;
        let counts_size = program.schema.tables.len().max(1) as u64 * 8;
        let counts = next(counts_size)?;
        let mut planned = Vec::new();
        for map in maps {
            let mut resized = program.contents.resized(cores);
            let resized = resized.find(|(name, _)| *name == map.name);
            let info = MapInfo {
                kind: map.kind,
                key_size: map.key_size as usize,
                value_size: map.value_size as usize,
                max_entries: resized.map_or(map.max_entries, |(_, entries)| entries),
            };
            if map.name.len() >= NAME {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "a map's name is too long",
                ));
            }
            let size = area::size(&info, cores);
            planned.push(Planned {
                name: map.name,
                info,
                places: [next(size)?, next(size)?],
                size,
            });
        }
        Ok(FilePlan {
            cores,
            directories,
            readers,
            counts,
            counts_size,
            maps: planned,
            bytes: end,
        })
    }

    /// Encodes the descriptions of all maps.
    pub(crate) fn descriptions(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (end, map) in (1..).zip(&self.maps) {
            let start = bytes.len();
            bytes.extend_from_slice(map.name.as_bytes());
            bytes.resize(start + NAME, 0);
            let (key, value) = (map.info.key_size as u32, map.info.value_size as u32);
            for word in [number(map.info.kind), key, value, map.info.max_entries] {
                bytes.extend(word.to_ne_bytes());
            }
            for word in [map.places[0], map.places[1], map.size] {
                bytes.extend(word.to_ne_bytes());
            }
            bytes.resize(end * DESCRIPTION as usize, 0);
        }
        bytes
    }

    /// Returns true if a file has this layout.
    pub(crate) fn describes(&self, file: &Words) -> io::Result<bool> {
        let wanted = self.descriptions();
        Ok(file.u64(8u32)? == self.bytes
            && file.u32(20u32)? as usize == self.maps.len()
            && file.bytes(PAGE, wanted.len() as u32)? == wanted)
    }

    /// Writes the head of a new file.
    pub(crate) fn write(&self, file: &Words, version: u64, seeds: HashSeeds) -> io::Result<()> {
        file.set_u64(8u32, self.bytes)?;
        file.set_u32(16u32, self.cores)?;
        file.set_u32(20u32, self.maps.len() as u32)?;
        // A core's word is 0 outside of packets, so that the epoch must not be 0.
        file.set_u64(32u32, 1)?;
        let offsets = [
            self.directories[0],
            self.directories[1],
            self.readers,
            self.counts,
        ];
        for (at, offset) in (40u32..).step_by(8).zip(offsets) {
            file.set_u64(at, offset)?;
        }
        file.set_bytes(72u32, &seeds.to_bytes())?;
        file.set_bytes(PAGE, &self.descriptions())?;
        for (at, map) in (self.directories[0]..).step_by(8).zip(&self.maps) {
            file.set_u64(at, map.places[0])?;
        }
        file.set_u64(0u32, version)
    }
}

/// Returns the number of a map kind in the file.
fn number(kind: MapKind) -> u32 {
    match kind {
        MapKind::Array => 0,
        MapKind::PerCoreArray => 1,
        MapKind::Hash => 2,
        MapKind::PerCoreHash => 3,
        MapKind::PrefixTrie => 4,
        MapKind::Ring => 5,
    }
}
