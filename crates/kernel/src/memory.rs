//! Memory that a program's maps take in the kernel, and memory that is available.
//!
//! The kernel reserves most maps as a whole when they are made. It may take minutes and the machine's last page to
//! find out that a map does not fit. So the sizes are computed first, as the kernel's map types compute them.

use crate::contents;
use crate::sys::{Contents, DeclaredMap};
use bpf::abi::{Abi, MapAbi, MapKind};
use layout::LookupAbi;
use std::fs;

/// Memory of a map, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Need {
    /// Memory after the program is loaded.
    pub loaded: u64,
    /// Memory when the map is full.
    pub full: u64,
}

/// Memory of a map, and the P4 object that the map belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MapNeed {
    /// The map's name in C.
    pub map: String,
    /// Kind of the P4 object, such as `table`, `counter`, `flow_state`, `name_set`, `value_set`; empty for a map of Onpath's own.
    pub role: &'static str,
    /// Control-plane name of that object; the map's name for one of Onpath's own.
    pub name: String,
    /// Number of entries that it holds.
    pub entries: u32,
    /// Memory that it takes.
    pub need: Need,
}

/// Sizes of `struct htab_elem` and of a trie's node, without key and value, in bytes.
const HASH_ELEMENT: u64 = 48;
const TRIE_NODE: u64 = 40;
/// Size of `struct bpf_dtab_netdev`, with the overhead of the kernel's allocator, in bytes.
const DEVMAP_ELEMENT: u64 = 128;
const BUCKET: u64 = 16;
const POINTER: u64 = 8;
const PAGE: u64 = 4096;
/// Bound of overflow: at most one in this many entries of a full table is in the overflow map of its buckets. With
/// hashed keys it is one in 260 on average.
const OVERFLOW: u64 = 200;

/// Computes the memory of a map on a machine with this number of processors.
pub fn of_map(map: &MapAbi, processors: u64) -> Need {
    let entries = u64::from(map.max_entries);
    let aligned = |size: u32| u64::from(size).next_multiple_of(8);
    let (key, value) = (aligned(map.key_size), aligned(map.value_size));
    let buckets = entries.next_power_of_two();
    let (at_once, each) = match map.kind {
        MapKind::Array => (entries * value, 0),
        MapKind::PercpuArray => (entries.saturating_mul(POINTER + value * processors), 0),
        MapKind::Hash | MapKind::LruHash => (buckets * BUCKET, HASH_ELEMENT + key + value),
        MapKind::PercpuHash => (
            buckets * BUCKET,
            HASH_ELEMENT + key + POINTER + value * processors,
        ),
        // A prefix may need a node of its own between two others.
        MapKind::LpmTrie => (0, 2 * (TRIE_NODE + key) + value),
        MapKind::DevmapHash => (buckets * POINTER, DEVMAP_ELEMENT),
        MapKind::PerfEventArray => (entries.max(processors) * POINTER, 0),
        MapKind::ProgramArray => (entries * POINTER, 0),
        // Its data, and a page each for the kernel, the reader and the writer.
        MapKind::RingBuffer => (entries + 3 * PAGE, 0),
    };
    let full = at_once.saturating_add(entries.saturating_mul(each));
    let is_hash = matches!(
        map.kind,
        MapKind::Hash | MapKind::LruHash | MapKind::PercpuHash
    );
    let is_reserved = !map.no_prealloc && is_hash;
    Need {
        loaded: if is_reserved { full } else { at_once },
        full,
    }
}

/// Lists the memory of each map of a program on this machine, the largest first, by the program's description.
pub fn of_program(abi: &Abi) -> Vec<MapNeed> {
    of_maps(&abi.maps, abi)
}

/// Lists the memory of all maps that an object declares. Its description says only what they are for.
pub(crate) fn of_object(contents: &Contents, abi: &Abi) -> Vec<MapNeed> {
    let maps: Vec<MapAbi> = contents.maps.iter().map(declared).collect();
    of_maps(&maps, abi)
}

/// Converts a declared map to one whose memory can be computed. An array of maps has a pointer for each, like an array
/// of programs.
fn declared(map: &DeclaredMap) -> MapAbi {
    let has = |flag: u32| map.flags & flag != 0;
    MapAbi {
        no_prealloc: has(libbpf_sys::BPF_F_NO_PREALLOC),
        mmapable: has(libbpf_sys::BPF_F_MMAPABLE),
        ..MapAbi::new(
            map.name.clone(),
            contents::map_kind(map.kind).unwrap_or(MapKind::ProgramArray),
            map.key_size,
            map.value_size,
            map.max_entries,
        )
    }
}

fn of_maps(maps: &[MapAbi], abi: &Abi) -> Vec<MapNeed> {
    let processors = processors();
    let mut all: Vec<MapNeed> = maps
        .iter()
        .map(|map| {
            let (role, name) = declaration(abi, &map.name);
            let resized = abi
                .contents
                .resized(processors as u32)
                .find(|(name, _)| *name == map.name);
            let loaded = MapAbi {
                max_entries: resized.map_or(map.max_entries, |(_, entries)| entries),
                ..map.clone()
            };
            let mut need = of_map(&loaded, processors);
            if is_overflow(abi, &map.name) {
                need.full = need.loaded + (need.full - need.loaded) / OVERFLOW;
            }
            MapNeed {
                map: map.name.clone(),
                role,
                name,
                entries: rules_of(abi, &map.name).unwrap_or(map.max_entries),
                need,
            }
        })
        .collect();
    all.sort_by_key(|map| std::cmp::Reverse(map.need.full));
    all
}

/// Returns the number of rules that a name set has room for, or of states of a pattern set, if the map is one of its.
fn rules_of(abi: &Abi, map: &str) -> Option<u32> {
    let mut patterns = abi.contents.pattern_sets.iter();
    if let Some(set) = patterns.find(|set| set.map == map) {
        return Some(set.capacity);
    }
    let mut sets = abi.contents.name_sets.iter();
    let set = sets.find(|set| set.maps().contains(&map))?;
    Some(set.capacity)
}

/// Returns true if a map is the overflow map of a table with buckets.
fn is_overflow(abi: &Abi, map: &str) -> bool {
    let mut lookups = abi.contents.tables.iter().map(|table| &table.lookup);
    lookups.any(|lookup| matches!(lookup, LookupAbi::Buckets(abi) if abi.overflow == map))
}

/// Returns the kind and name of the P4 object that a map belongs to, by the description.
fn declaration(abi: &Abi, map: &str) -> (&'static str, String) {
    let uses = |lookup: &LookupAbi| lookup.maps().contains(&map);
    if let Some(table) = abi.contents.tables.iter().find(|t| uses(&t.lookup)) {
        ("table", table.name.clone())
    } else if let Some(set) = abi.contents.value_sets.iter().find(|s| uses(&s.lookup)) {
        ("value_set", set.name.clone())
    } else if let Some(counter) = abi.contents.counters.iter().find(|c| c.map == map) {
        ("counter", counter.name.clone())
    } else if let Some(register) = abi.contents.registers.iter().find(|r| r.map == map) {
        ("register", register.name.clone())
    } else if let Some(state) = abi.contents.flow_states.iter().find(|f| f.map == map) {
        ("flow_state", state.name.clone())
    } else if let Some(set) = abi
        .contents
        .name_sets
        .iter()
        .find(|s| s.maps().contains(&map))
    {
        ("name_set", set.name.clone())
    } else if let Some(set) = abi.contents.pattern_sets.iter().find(|s| s.map == map) {
        ("pattern_set", set.name.clone())
    } else if let Some(metrics) = abi.contents.metrics.iter().find(|f| f.map == map) {
        ("metrics", metrics.name.clone())
    } else {
        ("", map.to_owned())
    }
}

/// Returns the number of processors for which the kernel reserves memory.
pub(crate) fn processors() -> u64 {
    let text = fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    count_processors(&text).max(1)
}

/// `0-3,8` → 5
fn count_processors(text: &str) -> u64 {
    let count = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to): (u64, u64) = (from.parse().ok()?, to.parse().ok()?);
        Some(to.checked_sub(from)? + 1)
    };
    text.trim().split(',').filter_map(count).sum()
}

/// Returns the number of bytes that this process may still allocate: the machine's available memory, or the rest of a
/// control group's limit if that is less. `None` if the kernel reports neither.
pub fn available() -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok();
    let free = meminfo.as_deref().and_then(available_of);
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let left = groups.lines().filter_map(left_in_group).min();
    match (free, left) {
        (Some(free), Some(left)) => Some(free.min(left)),
        (free, left) => free.or(left),
    }
}

/// `MemAvailable:   22887 kB` → bytes
fn available_of(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

/// Returns the number of bytes left in a control group and in those above it. The group is a line of
/// `/proc/self/cgroup`: `0::/a/b` (version 2) or `4:memory:/a/b` (version 1).
fn left_in_group(line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    let (root, limit, used, cache) = match controllers {
        "" => (
            "/sys/fs/cgroup",
            "memory.max",
            "memory.current",
            "inactive_file ",
        ),
        _ if controllers.split(',').any(|c| c == "memory") => (
            "/sys/fs/cgroup/memory",
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "total_inactive_file ",
        ),
        _ => return None,
    };
    let within = std::path::Path::new(path.trim_start_matches('/'));
    let number = |file: std::path::PathBuf| -> Option<u64> {
        fs::read_to_string(file).ok()?.trim().parse().ok()
    };
    within
        .ancestors()
        .filter_map(|group| {
            let group = std::path::Path::new(root).join(group);
            // `max` is no number, and no limit.
            let limit = number(group.join(limit))?;
            // The kernel gives the page cache back before it refuses memory, so that it counts as free here as in
            // `MemAvailable`.
            let cached = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
            let cached = field_of(&cached, cache).unwrap_or(0);
            let used = number(group.join(used))?.saturating_sub(cached);
            Some(limit.saturating_sub(used))
        })
        .min()
}

/// Returns the number after a name in a text of lines `NAME NUMBER`; `name` ends with the space.
fn field_of(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().parse().ok()
}

/// Formats a size for people: `24 GB`, `1.5 MB`, in powers of 1024, from a KB on.
pub fn readable(bytes: u64) -> String {
    let units = ["KB", "MB", "GB", "TB", "PB", "EB"];
    let kilobytes = bytes.div_ceil(1 << 10);
    let unit = (kilobytes.max(1).ilog2() / 10) as usize;
    let whole = bytes as f64 / (1u64 << (10 * unit + 10)) as f64;
    match unit {
        0 => format!("{kilobytes} KB"),
        _ if whole >= 10.0 => format!("{whole:.0} {}", units[unit]),
        _ => format!("{whole:.1} {}", units[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(kind: MapKind, key_size: u32, value_size: u32, max_entries: u32) -> MapAbi {
        MapAbi {
            name: "m".into(),
            kind,
            key_size,
            value_size,
            max_entries,
            no_prealloc: false,
            mmapable: false,
        }
    }

    #[test]
    fn what_is_reserved_is_taken_at_once_and_the_rest_when_it_is_full() {
        let hash = map(MapKind::Hash, 6, 4, 1000);
        let full = 1024 * 16 + 1000 * (48 + 8 + 8);
        assert_eq!(of_map(&hash, 4), Need { loaded: full, full });
        let sparse = MapAbi {
            no_prealloc: true,
            ..hash
        };
        let loaded = 1024 * 16;
        assert_eq!(of_map(&sparse, 4), Need { loaded, full });
        let trie = of_map(&map(MapKind::LpmTrie, 8, 8, 1000), 4);
        assert_eq!((trie.loaded, trie.full), (0, 1000 * (2 * 48 + 8)));
    }

    #[test]
    fn what_each_processor_has_counts_for_each() {
        let counters = of_map(&map(MapKind::PercpuArray, 4, 8, 1 << 31), 4);
        assert_eq!(counters.loaded, (1 << 31) * (8 + 32));
        assert_eq!(of_map(&map(MapKind::Array, 4, 12, 10), 4).loaded, 160);
        let most = map(MapKind::PercpuArray, u32::MAX, u32::MAX, u32::MAX);
        assert_eq!(of_map(&most, 8192).full, u64::MAX);
        // No product of these numbers is too large for one.
        let most = of_map(
            &map(MapKind::PercpuHash, u32::MAX, u32::MAX, u32::MAX),
            8192,
        );
        assert_eq!(most.full, u64::MAX);
    }

    /// Compares sizes with the memory that the kernel reports for a map. Since Linux 6.4 the map's type counts it.
    /// Before, the kernel counts keys and values alone, in whole pages.
    #[test]
    fn the_kernel_counts_alike() {
        use crate::sys::Map;
        use std::os::fd::{AsFd, AsRawFd};
        let counted = |kind: u32, key: u32, value: u32, entries: u32| -> u64 {
            let map = Map::create(kind, "m", key, value, entries, 0).expect("this test needs root");
            let info = format!("/proc/self/fdinfo/{}", map.as_fd().as_raw_fd());
            let info = fs::read_to_string(info).expect("it is open");
            let line = info.lines().find_map(|l| l.strip_prefix("memlock:"));
            line.expect("it is a map").trim().parse().expect("a number")
        };
        for (kind, kernel, key, value) in [
            (MapKind::Array, libbpf_sys::BPF_MAP_TYPE_ARRAY, 4, 12),
            (
                MapKind::PercpuArray,
                libbpf_sys::BPF_MAP_TYPE_PERCPU_ARRAY,
                4,
                8,
            ),
            (MapKind::Hash, libbpf_sys::BPF_MAP_TYPE_HASH, 6, 4),
            (MapKind::LruHash, libbpf_sys::BPF_MAP_TYPE_LRU_HASH, 8, 32),
            (
                MapKind::PercpuHash,
                libbpf_sys::BPF_MAP_TYPE_PERCPU_HASH,
                16,
                8,
            ),
        ] {
            let theirs = counted(kernel, key, value, 100_000);
            let ours = of_map(&map(kind, key, value, 100_000), processors()).loaded;
            let alike = match host::linux::kernel_version() >= (6, 4) {
                true => ours.abs_diff(theirs) < theirs / 20,
                false => ours + 4096 >= theirs,
            };
            assert!(alike, "{kind:?}: {ours} instead of {theirs}");
        }
    }

    #[test]
    fn processors_and_sizes_are_read_as_the_kernel_writes_them() {
        assert_eq!(count_processors("0-3,8\n"), 5);
        assert_eq!(count_processors("0\n"), 1);
        let meminfo = "MemTotal: 9 kB\nMemAvailable:      22887 kB\nBuffers: 1 kB\n";
        assert_eq!(available_of(meminfo), Some(22887 << 10));
        assert_eq!(left_in_group("1:cpu:/"), None);
        let stat = "anon 5\ninactive_file 4096\ntotal_inactive_file 8192\n";
        assert_eq!(field_of(stat, "inactive_file "), Some(4096));
        assert_eq!(field_of(stat, "total_inactive_file "), Some(8192));
        assert_eq!(field_of(stat, "active_file "), None);
    }

    #[test]
    fn sizes_are_readable() {
        let all = [0, 900, 1025, 1536 << 20, 24 << 30, u64::MAX].map(readable);
        assert_eq!(all, ["0 KB", "1 KB", "2 KB", "1.5 GB", "24 GB", "16 EB"]);
    }
}
