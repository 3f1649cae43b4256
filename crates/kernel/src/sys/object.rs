//! Opening and loading an ELF object, with the verifier's log.

use super::{Map, Prog, check};
use crate::verifier_log::{is_whole, processed};
use bpf::abi::MACHINE_SECTION;
use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::ptr::NonNull;
use std::sync::Once;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// Detail of the verifier's log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Detail {
    /// The reason of a refusal, and statistics. It is as fast as without a log.
    Reason,
    /// Every instruction of the refused path, with its source line. Twenty times slower.
    Path,
    /// End of the same log as [`Detail::Path`], to be read while the verifier runs.
    Samples,
}

impl Detail {
    /// The kernel's log level.
    fn level(self) -> u32 {
        const BPF_LOG_LEVEL1: u32 = 1;
        const BPF_LOG_STATS: u32 = 4;
        match self {
            Detail::Reason => BPF_LOG_STATS,
            Detail::Path | Detail::Samples => BPF_LOG_LEVEL1 | BPF_LOG_STATS,
        }
    }

    /// Returns the number of bytes kept of the log. If the log is longer, the kernel keeps the end (since Linux 6.4;
    /// older ones the beginning).
    fn bytes(self) -> usize {
        match self {
            // Each call of a global function is a line even here; if they do not all fit, the kernel refuses the
            // program.
            Detail::Reason => 16 << 20,
            Detail::Samples => 64 << 10,
            Detail::Path => 4 << 20,
        }
    }

    /// Allocates memory for the log. The kernel may write it while it is read.
    pub(super) fn buffer(self) -> Box<[AtomicU8]> {
        let bytes = Box::into_raw(vec![0u8; self.bytes()].into_boxed_slice());
        // SAFETY: the memory is a box's, and an atomic byte has the layout of a byte.
        unsafe { Box::from_raw(bytes as *mut [AtomicU8]) }
    }
}

/// Largest number of processed instructions for which the verifier is asked again to list them. Listing one with many
/// values takes 20 µs.
const MOST_LISTED: u64 = 150_000;

/// Maps and programs of a loaded object, by the names they have in C.
#[derive(Debug)]
pub struct Loaded {
    /// Maps; those of global data are named by section (`.data`, `.rodata`, `.bss`).
    pub maps: Vec<(String, Map)>,
    /// Programs.
    pub programs: Vec<(String, Prog)>,
}

/// Failure to load an object.
#[derive(Debug)]
pub struct LoadFailure {
    /// The system's error.
    pub error: io::Error,
    /// The verifier's log; empty if it was not the verifier.
    pub log: String,
    /// The messages of libbpf.
    pub messages: String,
    /// Time that it took.
    pub took: Duration,
}

thread_local! {
    /// Messages of libbpf on this thread. libbpf calls a callback without a context.
    static MESSAGES: RefCell<String> = const { RefCell::new(String::new()) };
}

fn collect_messages() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        libbpf_rs::set_print(Some((libbpf_rs::PrintLevel::Info, |_, text| {
            MESSAGES.with_borrow_mut(|all| all.push_str(&text));
        })));
    });
    MESSAGES.with_borrow_mut(String::clear);
}

/// Runs work that calls libbpf, and returns libbpf's messages too.
pub(crate) fn with_messages<T>(work: impl FnOnce() -> T) -> (T, String) {
    collect_messages();
    let done = work();
    (done, MESSAGES.with_borrow(String::clone))
}

/// An object before it is loaded. Requests of the object to pin its maps are ignored.
pub(super) struct Open(NonNull<libbpf_sys::bpf_object>);

impl Open {
    /// Opens an object unchanged, to read it.
    pub(super) fn as_it_is(object: &[u8]) -> io::Result<Open> {
        let mut opts = libbpf_sys::bpf_object_open_opts::default();
        opts.sz = size_of_val(&opts) as _;
        opts.object_name = c"onpath".as_ptr();
        // SAFETY: object bytes and options outlive the call.
        let raw = unsafe {
            libbpf_sys::bpf_object__open_mem(object.as_ptr().cast(), object.len() as _, &opts)
        };
        NonNull::new(raw)
            .map(Open)
            .ok_or_else(io::Error::last_os_error)
    }

    /// Opens an object, and adjusts it.
    pub(super) fn new(object: &[u8], adjust: Adjust<'_>) -> io::Result<Open> {
        let open = Open::as_it_is(object)?;
        let obj = open.raw();
        // SAFETY: walks the open object's maps.
        unsafe {
            let mut map = libbpf_sys::bpf_object__next_map(obj, std::ptr::null());
            while !map.is_null() {
                check(libbpf_sys::bpf_map__set_pin_path(map, std::ptr::null()))?;
                map = libbpf_sys::bpf_object__next_map(obj, map);
            }
        }
        for (name, entries) in adjust.resize {
            let name = CString::new(*name).map_err(|_| io::ErrorKind::InvalidInput)?;
            // SAFETY: the object is open; the map belongs to it.
            unsafe {
                let map = libbpf_sys::bpf_object__find_map_by_name(obj, name.as_ptr());
                if !map.is_null() {
                    check(libbpf_sys::bpf_map__set_max_entries(map, *entries))?;
                }
            }
        }
        if let Some(most) = adjust.most_entries {
            open.shrink(most)?;
        }
        let ordered = u32::from(cfg!(target_arch = "x86_64")).to_ne_bytes();
        let machine: (&str, &[u8]) = (MACHINE_SECTION, &ordered);
        for (name, bytes) in adjust.data.iter().chain([&machine]) {
            let name = CString::new(*name).map_err(|_| io::ErrorKind::InvalidInput)?;
            // SAFETY: the object is open; the map's memory is as long as libbpf reports.
            unsafe {
                let map = libbpf_sys::bpf_object__find_map_by_name(obj, name.as_ptr());
                if !map.is_null() {
                    let mut size = 0;
                    let at = libbpf_sys::bpf_map__initial_value(map, &mut size).cast::<u8>();
                    if at.is_null() || (size as usize) < bytes.len() {
                        return Err(io::ErrorKind::InvalidInput.into());
                    }
                    std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len());
                }
            }
        }
        for (name, shared) in adjust.reuse {
            let name = CString::new(*name).map_err(|_| io::ErrorKind::InvalidInput)?;
            // SAFETY: the object is open; libbpf duplicates the descriptor.
            unsafe {
                let map = libbpf_sys::bpf_object__find_map_by_name(obj, name.as_ptr());
                if map.is_null() {
                    return Err(io::ErrorKind::NotFound.into());
                }
                check(libbpf_sys::bpf_map__reuse_fd(
                    map,
                    shared.as_fd().as_raw_fd(),
                ))?;
            }
        }
        Ok(open)
    }

    /// Limits the number of entries of each map. Plain arrays in an array of maps are exempt: the kernel requires all
    /// of them to have as many entries as libbpf's copy of one. That copy belongs to no object, and libbpf crashes if
    /// it is to be changed.
    fn shrink(&self, most: u32) -> io::Result<()> {
        let maps = || {
            // SAFETY: the object is open, and the map before is one of its own.
            let next = |map: *mut libbpf_sys::bpf_map| unsafe {
                libbpf_sys::bpf_object__next_map(self.raw(), map)
            };
            let some = |map: *mut libbpf_sys::bpf_map| (!map.is_null()).then_some(map);
            std::iter::successors(some(next(std::ptr::null_mut())), move |map| {
                some(next(*map))
            })
        };
        // SAFETY: what is read of a map, and its inner map, lives as long as the object.
        let shape = |map: *mut libbpf_sys::bpf_map| unsafe {
            (
                libbpf_sys::bpf_map__type(map),
                libbpf_sys::bpf_map__key_size(map),
                libbpf_sys::bpf_map__value_size(map),
                libbpf_sys::bpf_map__max_entries(map),
            )
        };
        // SAFETY: as above; maps that are none of maps have no inner map.
        let inner = maps().filter_map(|map| unsafe {
            let inner = libbpf_sys::bpf_map__inner_map(map);
            (!inner.is_null()).then(|| shape(inner))
        });
        let fixed: Vec<_> = inner
            .filter(|(kind, ..)| *kind == libbpf_sys::BPF_MAP_TYPE_ARRAY)
            .collect();
        for map in maps() {
            let of_map = shape(map);
            if of_map.3 > most && !fixed.contains(&of_map) {
                // SAFETY: the map belongs to the object, which is open.
                check(unsafe { libbpf_sys::bpf_map__set_max_entries(map, most) })?;
            }
        }
        Ok(())
    }

    /// Returns libbpf's pointer to it, which is valid while it is open.
    pub(super) fn raw(&self) -> *mut libbpf_sys::bpf_object {
        self.0.as_ptr()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: the object was opened by us and is closed once.
        unsafe { libbpf_sys::bpf_object__close(self.0.as_ptr()) }
    }
}

/// Differences from the object that are to be loaded. Names of maps that the object does not have are ignored, except
/// those of maps to reuse.
#[derive(Clone, Copy, Debug, Default)]
pub struct Adjust<'a> {
    /// Numbers of entries of maps, by name.
    pub resize: &'a [(&'a str, u32)],
    /// Existing maps to use instead of making new ones, by the object's names for them.
    pub reuse: &'a [(&'a str, &'a Map)],
    /// Largest number of entries that a map may have, whatever the object declares. Maps of data have one anyway.
    pub most_entries: Option<u32>,
    /// The first bytes of data sections, by name.
    pub data: &'a [(&'a str, &'a [u8])],
}

impl Adjust<'_> {
    /// Returns the adjustments for a trial that only asks the verifier. The verifier does not depend on the size of
    /// maps, and the kernel would reserve their memory.
    pub fn trial() -> Adjust<'static> {
        Adjust {
            most_entries: Some(1 << 12),
            ..Adjust::default()
        }
    }
}

/// Loads an object's maps and programs into the kernel. `resize` gives maps, by name, another number of entries than
/// in the object.
pub fn load_object(object: &[u8], resize: &[(&str, u32)]) -> Result<Loaded, LoadFailure> {
    let adjust = Adjust {
        resize,
        ..Adjust::default()
    };
    load_object_with(object, adjust)
}

/// Loads an object with adjustments. The log of a refusal has the reason only, not the path to it: see [`path_log`].
pub fn load_object_with(object: &[u8], adjust: Adjust<'_>) -> Result<Loaded, LoadFailure> {
    load_logged(object, adjust, Detail::Reason)
}

/// Asks the verifier once more, for every instruction of the path for which it refuses an object. `None` if that would
/// take long by the given log of the refusal, if nothing is refused, or if the kernel kept only a part.
pub fn path_log(object: &[u8], log: &str) -> Option<String> {
    if !is_worth_a_path(log) {
        return None;
    }
    // A log that was cut hides the error: the kernel reports the lack of room instead.
    let detailed = load_logged(object, Adjust::trial(), Detail::Path).err()?;
    is_whole(&detailed.log).then_some(detailed.log)
}

/// Returns true if the refused path can be listed in a short time, and the listing has more than the reason.
fn is_worth_a_path(log: &str) -> bool {
    !log.is_empty() && processed(log).is_none_or(|processed| processed <= MOST_LISTED)
}

fn load_logged(object: &[u8], adjust: Adjust<'_>, detail: Detail) -> Result<Loaded, LoadFailure> {
    collect_messages();
    let log = detail.buffer();
    let begun = Instant::now();
    load(object, adjust, detail, &log).map_err(|error| LoadFailure {
        error,
        log: text(&log),
        messages: MESSAGES.with_borrow(String::clone),
        took: begun.elapsed(),
    })
}

/// Returns the text that the kernel wrote, up to its terminating NUL.
fn text(log: &[AtomicU8]) -> String {
    let bytes = log.iter().map(|byte| byte.load(Ordering::Relaxed));
    let written: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&written).into_owned()
}

pub(super) fn load(
    object: &[u8],
    adjust: Adjust<'_>,
    detail: Detail,
    log: &[AtomicU8],
) -> io::Result<Loaded> {
    let open = Open::new(object, adjust)?;
    let obj = open.raw();
    // The programs' own log is used. An object's log is also for its type information, which does not fit.
    unsafe {
        let mut prog = libbpf_sys::bpf_object__next_program(obj, std::ptr::null_mut());
        while !prog.is_null() {
            let (at, size) = (log.as_ptr().cast_mut().cast(), log.len() as _);
            check(libbpf_sys::bpf_program__set_log_buf(prog, at, size))?;
            check(libbpf_sys::bpf_program__set_log_level(prog, detail.level()))?;
            prog = libbpf_sys::bpf_object__next_program(obj, prog);
        }
    }
    // SAFETY: the object is open.
    check(unsafe { libbpf_sys::bpf_object__load(obj) })?;

    let mut loaded = Loaded {
        maps: Vec::new(),
        programs: Vec::new(),
    };
    // SAFETY: walks the open object's maps and programs, whose names and descriptors live as long as it.
    unsafe {
        let mut map = libbpf_sys::bpf_object__next_map(obj, std::ptr::null());
        while !map.is_null() {
            let fd = duplicate(libbpf_sys::bpf_map__fd(map))?;
            loaded.maps.push((section_or_name(map), Map::from_fd(fd)?));
            map = libbpf_sys::bpf_object__next_map(obj, map);
        }
        let mut prog = libbpf_sys::bpf_object__next_program(obj, std::ptr::null_mut());
        while !prog.is_null() {
            let name = CStr::from_ptr(libbpf_sys::bpf_program__name(prog));
            let fd = duplicate(libbpf_sys::bpf_program__fd(prog))?;
            loaded
                .programs
                .push((name.to_string_lossy().into_owned(), Prog::from_fd(fd)));
            prog = libbpf_sys::bpf_object__next_program(obj, prog);
        }
    }
    Ok(loaded)
}

/// Returns a map's name. For the map of a data section it is the section's name; libbpf puts the object's name before
/// that.
///
/// # Safety
/// The map belongs to an open object.
pub(super) unsafe fn section_or_name(map: *const libbpf_sys::bpf_map) -> String {
    // SAFETY: the caller's promise.
    let (name, is_section) = unsafe {
        let name = CStr::from_ptr(libbpf_sys::bpf_map__name(map));
        (
            name.to_string_lossy(),
            libbpf_sys::bpf_map__is_internal(map),
        )
    };
    [".rodata", ".data", ".bss"]
        .into_iter()
        .find(|section| is_section && name.ends_with(section))
        .map_or_else(|| name.to_string(), str::to_owned)
}

/// # Safety
/// `fd` is an open descriptor.
unsafe fn duplicate(fd: RawFd) -> io::Result<std::os::fd::OwnedFd> {
    check_fd(fd)?;
    // SAFETY: the caller's promise.
    unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned()
}

fn check_fd(fd: RawFd) -> io::Result<()> {
    if fd < 0 {
        Err(io::ErrorKind::NotFound.into())
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_without_its_end_is_no_path() {
        let whole = "0: (b7) r0 = 2\nR1 !read_ok\nprocessed 5 insns (limit 1000000)\n";
        assert!(is_whole(whole) && is_worth_a_path(whole));
        assert!(!is_whole("0: (b7) r0 = 2\n1: (95) ex"));
        assert!(!is_worth_a_path(
            "too large\nprocessed 1000001 insns (limit 1000000)\n"
        ));
        assert!(!is_worth_a_path(""));
    }
}
