//! Rules for the maps and programs that an object may declare. Whoever built the object, it makes nothing in the
//! kernel but maps and programs that Onpath knows, and leaves nothing behind.

use crate::errors;
use crate::program::kernel_kind as program_kind;
use crate::sys::{self, Contents, DeclaredMap};
use bpf::abi::{Abi, MapAbi, MapKind, PROGRAMS_MAP};
use diag::Diagnostic;

/// Reads the declarations of an object. Fails if a map asks to be pinned, or has a type whose memory Onpath cannot
/// compute.
pub fn read(object: &[u8]) -> Result<Contents, Box<Diagnostic>> {
    let (contents, messages) = sys::with_messages(|| sys::contents(object));
    let contents = contents.map_err(|e| errors::contents::unreadable(&e, &messages))?;
    for map in &contents.maps {
        if let Some(path) = &map.pin {
            return Err(errors::contents::pinned(&map.name, path));
        }
        if map_kind(map.kind).is_none() && map.kind != libbpf_sys::BPF_MAP_TYPE_ARRAY_OF_MAPS {
            return Err(errors::contents::unknown_kind(&map.name, map.kind));
        }
    }
    Ok(contents)
}

/// Fails if an object declares other maps or programs than `described`, or than its `abi` needs.
pub fn check(found: &Contents, described: &Contents, abi: &Abi) -> Result<(), Box<Diagnostic>> {
    same_maps(found, described)?;
    for map in &abi.maps {
        let declared = found.maps.iter().find(|other| other.name == map.name);
        check_map(map, declared)?;
    }
    resized_once(abi)?;
    same_programs(found, described, abi)
}

/// Fails if a description resizes a map twice: memory is counted for one size of each.
fn resized_once(abi: &Abi) -> Result<(), Box<Diagnostic>> {
    let names: Vec<String> = abi
        .contents
        .resized(1)
        .map(|(name, _)| name.to_owned())
        .collect();
    match repeated(names.iter()) {
        Some(twice) => Err(errors::contents::several_sizes(twice)),
        None => Ok(()),
    }
}

fn same_maps(found: &Contents, described: &Contents) -> Result<(), Box<Diagnostic>> {
    let all = found.maps.iter().map(|map| &map.name);
    if let Some(twice) = repeated(all) {
        return Err(errors::contents::twice("map", twice));
    }
    for map in &found.maps {
        match described.maps.iter().find(|other| other.name == map.name) {
            None => return Err(errors::contents::not_described("map", &map.name)),
            Some(other) if other != map => {
                let how = difference(map, other);
                return Err(errors::load::map_differs(&map.name, &how));
            }
            Some(_) => {}
        }
    }
    let is_there = |map: &&DeclaredMap| found.maps.iter().any(|other| other.name == map.name);
    match described.maps.iter().find(|map| !is_there(map)) {
        Some(missing) => Err(errors::load::map_differs(&missing.name, "it is not there")),
        None => Ok(()),
    }
}

/// Fails if the programs are not those described. Programs are chained by tail calls through [`PROGRAMS_MAP`], so
/// there is at most one more than that map has entries.
fn same_programs(found: &Contents, described: &Contents, abi: &Abi) -> Result<(), Box<Diagnostic>> {
    let Some(wanted) = abi.programs.first() else {
        return Err(errors::load::no_program(""));
    };
    let all = found.programs.iter().map(|program| &program.name);
    if let Some(twice) = repeated(all) {
        return Err(errors::contents::twice("program", twice));
    }
    let names = |contents: &'_ Contents, name: &str| {
        contents.programs.iter().any(|program| program.name == name)
    };
    if !names(found, &wanted.function) {
        return Err(errors::load::no_program(&wanted.function));
    }
    if let Some(missing) = described.programs.iter().find(|p| !names(found, &p.name)) {
        return Err(errors::load::no_program(&missing.name));
    }
    let goes_on = abi
        .map(PROGRAMS_MAP)
        .map_or(0, |map| map.max_entries as usize);
    let too_many = found.programs.len() > 1 + goes_on;
    for program in &found.programs {
        let is_extra = too_many && program.name != wanted.function;
        if is_extra || !names(described, &program.name) {
            return Err(errors::contents::not_described("program", &program.name));
        }
        if program.kind != program_kind(wanted.hook) {
            return Err(errors::contents::other_hook(&program.name, wanted.hook));
        }
    }
    Ok(())
}

/// Returns the first name that occurs a second time.
fn repeated<'a>(names: impl Iterator<Item = &'a String>) -> Option<&'a str> {
    let mut seen = std::collections::HashSet::new();
    names.map(String::as_str).find(|name| !seen.insert(*name))
}

/// First difference between a map and the one that was described.
fn difference(found: &DeclaredMap, described: &DeclaredMap) -> String {
    let of = |what: &str, is: u32, was: u32| {
        (is != was).then(|| format!("{what} {is} instead of {was}"))
    };
    of("type", found.kind, described.kind)
        .or_else(|| of("key size", found.key_size, described.key_size))
        .or_else(|| of("value size", found.value_size, described.value_size))
        .or_else(|| of("entries", found.max_entries, described.max_entries))
        .or_else(|| of("flags", found.flags, described.flags))
        .unwrap_or_default()
}

fn check_map(wanted: &MapAbi, found: Option<&DeclaredMap>) -> Result<(), Box<Diagnostic>> {
    let name = &wanted.name;
    let Some(found) = found else {
        return Err(errors::load::map_differs(name, "it is not there"));
    };
    let has = |flag: u32| found.flags & flag != 0;
    let as_wanted = DeclaredMap {
        name: name.clone(),
        kind: kernel_kind(wanted.kind),
        key_size: wanted.key_size,
        value_size: wanted.value_size,
        max_entries: wanted.max_entries,
        ..found.clone()
    };
    if *found != as_wanted {
        let how = difference(found, &as_wanted);
        return Err(errors::load::map_differs(name, &how));
    }
    let is_lazy = has(libbpf_sys::BPF_F_NO_PREALLOC);
    if is_lazy != wanted.no_prealloc || has(libbpf_sys::BPF_F_MMAPABLE) != wanted.mmapable {
        return Err(errors::load::map_differs(name, "it has other flags"));
    }
    Ok(())
}

/// The kernel's number of a map type.
pub(crate) fn kernel_kind(kind: MapKind) -> u32 {
    match kind {
        MapKind::Array => libbpf_sys::BPF_MAP_TYPE_ARRAY,
        MapKind::PercpuArray => libbpf_sys::BPF_MAP_TYPE_PERCPU_ARRAY,
        MapKind::Hash => libbpf_sys::BPF_MAP_TYPE_HASH,
        MapKind::LruHash => libbpf_sys::BPF_MAP_TYPE_LRU_HASH,
        MapKind::PercpuHash => libbpf_sys::BPF_MAP_TYPE_PERCPU_HASH,
        MapKind::LpmTrie => libbpf_sys::BPF_MAP_TYPE_LPM_TRIE,
        MapKind::DevmapHash => libbpf_sys::BPF_MAP_TYPE_DEVMAP_HASH,
        MapKind::PerfEventArray => libbpf_sys::BPF_MAP_TYPE_PERF_EVENT_ARRAY,
        MapKind::RingBuffer => libbpf_sys::BPF_MAP_TYPE_RINGBUF,
        MapKind::ProgramArray => libbpf_sys::BPF_MAP_TYPE_PROG_ARRAY,
    }
}

/// The map type of a kernel's number, if programs of Onpath use it.
pub(crate) fn map_kind(number: u32) -> Option<MapKind> {
    let all = [
        MapKind::Array,
        MapKind::PercpuArray,
        MapKind::Hash,
        MapKind::LruHash,
        MapKind::PercpuHash,
        MapKind::LpmTrie,
        MapKind::DevmapHash,
        MapKind::PerfEventArray,
        MapKind::RingBuffer,
        MapKind::ProgramArray,
    ];
    all.into_iter().find(|kind| kernel_kind(*kind) == number)
}
