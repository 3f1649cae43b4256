//! Maps: keys and values as bytes, with lengths checked against those that the kernel reports.

use super::{check, open_pinned, own, pin};
use host::safe_dir::Dir;
use host::words::Words;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Properties that the kernel reports of a map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapInfo {
    /// `BPF_MAP_TYPE_*`.
    pub kind: u32,
    /// Size of a key, in bytes.
    pub key_size: usize,
    /// Size of a value, in bytes, for one processor.
    pub value_size: usize,
    /// Number of entries that it can hold.
    pub max_entries: u32,
    /// The kernel's number for it.
    pub id: u32,
}

/// Condition for an update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Update {
    /// The key may be there or not.
    Any,
    /// Only if the key is not there.
    New,
    /// Only if the key is there.
    Existing,
    /// Under the lock that the value has.
    Locked,
}

/// Number of values that one system call reads.
const BATCH: u32 = 128;

/// Returns the number of processors that the kernel may ever have. A per-CPU value has a copy for each.
pub fn possible_cpus() -> io::Result<usize> {
    // SAFETY: no arguments.
    check(unsafe { libbpf_sys::libbpf_num_possible_cpus() }).map(|n| n as usize)
}

/// An open map.
#[derive(Debug)]
pub struct Map {
    fd: OwnedFd,
    info: MapInfo,
}

impl Map {
    /// Takes a map's descriptor.
    pub fn from_fd(fd: OwnedFd) -> io::Result<Map> {
        let mut info = libbpf_sys::bpf_map_info::default();
        let mut len = size_of_val(&info) as u32;
        // SAFETY: `info` is `len` bytes of plain data.
        check(unsafe { libbpf_sys::bpf_map_get_info_by_fd(fd.as_raw_fd(), &mut info, &mut len) })?;
        Ok(Map {
            fd,
            info: MapInfo {
                kind: info.type_,
                key_size: info.key_size as usize,
                value_size: info.value_size as usize,
                max_entries: info.max_entries,
                id: info.id,
            },
        })
    }

    /// Makes a map.
    pub fn create(
        kind: u32,
        name: &str,
        key_size: u32,
        value_size: u32,
        max_entries: u32,
        flags: u32,
    ) -> io::Result<Map> {
        let name = CString::new(name).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut opts = libbpf_sys::bpf_map_create_opts::default();
        opts.sz = size_of_val(&opts) as _;
        opts.map_flags = flags;
        // SAFETY: the name and the options outlive the call.
        Map::from_fd(own(unsafe {
            libbpf_sys::bpf_map_create(
                kind,
                name.as_ptr(),
                key_size,
                value_size,
                max_entries,
                &opts,
            )
        })?)
    }

    /// Opens a map by the kernel's number for it.
    pub fn by_id(id: u32) -> io::Result<Map> {
        // SAFETY: no pointers.
        Map::from_fd(own(unsafe { libbpf_sys::bpf_map_get_fd_by_id(id) })?)
    }

    /// Opens a pinned map.
    pub fn open(folder: &Dir, name: &str) -> io::Result<Map> {
        Map::from_fd(open_pinned(folder, name)?)
    }

    /// Pins it.
    pub fn pin(&self, folder: &Dir, name: &str) -> io::Result<()> {
        pin(self.fd.as_raw_fd(), folder, name)
    }

    /// Forbids user space to change it from now on. The kernel refuses that (EBUSY) while a process has mapped it for
    /// writing, and (EPERM or EBUSY: kernels differ) if it is frozen already.
    pub fn freeze(&self) -> io::Result<()> {
        // SAFETY: no pointers.
        check(unsafe { libbpf_sys::bpf_map_freeze(self.fd.as_raw_fd()) }).map(drop)
    }

    /// Returns true if it is frozen, which processes that have not mapped it can see without mapping it.
    pub fn is_frozen(&self) -> io::Result<bool> {
        let path = format!("/proc/self/fdinfo/{}", self.fd.as_raw_fd());
        let text = std::fs::read_to_string(path)?;
        let mut lines = text.lines();
        Ok(lines.any(|line| line.split_ascii_whitespace().eq(["frozen:", "1"])))
    }

    /// Maps the values of an array map that was made with `BPF_F_MMAPABLE` into memory, each at a multiple of 8 bytes.
    pub fn words(&self) -> io::Result<Words> {
        let size = self.info.value_size.next_multiple_of(8);
        Words::of(self.as_fd(), size * self.info.max_entries as usize)
    }

    /// Returns the properties that the kernel reports of it.
    pub fn info(&self) -> MapInfo {
        self.info
    }

    /// Returns true if it keeps a value for each processor.
    pub fn is_per_cpu(&self) -> bool {
        matches!(
            self.info.kind,
            libbpf_sys::BPF_MAP_TYPE_PERCPU_HASH
                | libbpf_sys::BPF_MAP_TYPE_PERCPU_ARRAY
                | libbpf_sys::BPF_MAP_TYPE_LRU_PERCPU_HASH
        )
    }

    /// Returns true if its keys are indices that are always there.
    pub fn is_array(&self) -> bool {
        matches!(
            self.info.kind,
            libbpf_sys::BPF_MAP_TYPE_ARRAY | libbpf_sys::BPF_MAP_TYPE_PERCPU_ARRAY
        )
    }

    /// Returns the number of bytes that user space exchanges for one value. For a per-CPU map it is one copy a
    /// processor, each rounded up to 8.
    pub(super) fn buffer_size(&self) -> io::Result<usize> {
        if self.is_per_cpu() {
            Ok(self.info.value_size.next_multiple_of(8) * possible_cpus()?)
        } else {
            Ok(self.info.value_size)
        }
    }

    fn check_key(&self, key: &[u8]) -> io::Result<()> {
        if key.len() == self.info.key_size {
            Ok(())
        } else {
            Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "the map's key has {} bytes, not {}",
                    self.info.key_size,
                    key.len()
                ),
            ))
        }
    }

    /// Reads a value, or `None` if the key is not there. For a per-CPU map it reads all copies, each rounded up to 8
    /// bytes.
    pub fn get(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        self.check_key(key)?;
        let mut value = vec![0; self.buffer_size()?];
        // SAFETY: the key has the map's key size and the value the size that the kernel writes.
        let code = unsafe {
            libbpf_sys::bpf_map_lookup_elem(
                self.fd.as_raw_fd(),
                key.as_ptr().cast(),
                value.as_mut_ptr().cast(),
            )
        };
        match check(code) {
            Ok(_) => Ok(Some(value)),
            Err(e) if e.raw_os_error() == Some(libc::ENOENT) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Reads a value under its lock; the lock's own bytes are zero.
    pub fn get_locked(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        self.check_key(key)?;
        let mut value = vec![0; self.buffer_size()?];
        // SAFETY: the key has the map's key size and the value the size that the kernel writes.
        let code = unsafe {
            libbpf_sys::bpf_map_lookup_elem_flags(
                self.fd.as_raw_fd(),
                key.as_ptr().cast(),
                value.as_mut_ptr().cast(),
                libbpf_sys::BPF_F_LOCK.into(),
            )
        };
        match check(code) {
            Ok(_) => Ok(Some(value)),
            Err(e) if e.raw_os_error() == Some(libc::ENOENT) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Visits all values of an array in order, each read under its lock.
    pub fn each_locked(&self, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        if !self.is_array() || self.is_per_cpu() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let size = self.info.value_size;
        let mut keys = vec![0u32; BATCH as usize];
        let mut values = vec![0; size * BATCH as usize];
        let mut at = 0u32;
        let mut begun = false;
        let mut opts = libbpf_sys::bpf_map_batch_opts::default();
        opts.sz = size_of_val(&opts) as _;
        opts.elem_flags = libbpf_sys::BPF_F_LOCK.into();
        loop {
            let mut count = BATCH;
            let before = if begun {
                &raw mut at
            } else {
                std::ptr::null_mut()
            };
            // SAFETY: there is room for as many keys and values as are asked for; the position to go on from is a key.
            let code = unsafe {
                libbpf_sys::bpf_map_lookup_batch(
                    self.fd.as_raw_fd(),
                    before.cast(),
                    (&raw mut at).cast(),
                    keys.as_mut_ptr().cast(),
                    values.as_mut_ptr().cast(),
                    &mut count,
                    &opts,
                )
            };
            begun = true;
            let ended = match check(code) {
                Ok(_) => false,
                Err(e) if e.raw_os_error() == Some(libc::ENOENT) => true,
                Err(e) => return Err(e),
            };
            for value in values.chunks_exact(size).take(count.min(BATCH) as usize) {
                each(value);
            }
            if ended {
                return Ok(());
            }
        }
    }

    /// Stores a value; a per-CPU map gets the same value for every processor.
    pub fn set(&self, key: &[u8], value: &[u8], update: Update) -> io::Result<()> {
        self.check_key(key)?;
        if value.len() != self.info.value_size {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "the map's value has {} bytes, not {}",
                    self.info.value_size,
                    value.len()
                ),
            ));
        }
        let all;
        let value = if self.is_per_cpu() {
            let mut one = value.to_vec();
            one.resize(value.len().next_multiple_of(8), 0);
            all = one.repeat(possible_cpus()?);
            &all[..]
        } else {
            value
        };
        let flags = match update {
            Update::Any => libbpf_sys::BPF_ANY,
            Update::New => libbpf_sys::BPF_NOEXIST,
            Update::Existing => libbpf_sys::BPF_EXIST,
            Update::Locked => libbpf_sys::BPF_F_LOCK,
        };
        // SAFETY: key and value have the sizes that the kernel reads.
        check(unsafe {
            libbpf_sys::bpf_map_update_elem(
                self.fd.as_raw_fd(),
                key.as_ptr().cast(),
                value.as_ptr().cast(),
                flags.into(),
            )
        })
        .map(|_| ())
    }

    /// Removes a key; `false` if it was not there.
    pub fn delete(&self, key: &[u8]) -> io::Result<bool> {
        self.check_key(key)?;
        // SAFETY: the key has the map's key size.
        let code =
            unsafe { libbpf_sys::bpf_map_delete_elem(self.fd.as_raw_fd(), key.as_ptr().cast()) };
        match check(code) {
            Ok(_) => Ok(true),
            Err(e) if e.raw_os_error() == Some(libc::ENOENT) => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Returns all keys.
    pub fn keys(&self) -> io::Result<Vec<Vec<u8>>> {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        // A map that changes during the iteration may start over. Then there are more keys than it can hold.
        while keys.len() <= self.info.max_entries as usize {
            let mut next = vec![0; self.info.key_size];
            let last = keys.last().map_or(std::ptr::null(), |k| k.as_ptr());
            // SAFETY: both keys have the map's key size; null asks for the first.
            let code = unsafe {
                libbpf_sys::bpf_map_get_next_key(
                    self.fd.as_raw_fd(),
                    last.cast(),
                    next.as_mut_ptr().cast(),
                )
            };
            match check(code) {
                Ok(_) => keys.push(next),
                Err(e) if e.raw_os_error() == Some(libc::ENOENT) => break,
                Err(e) => return Err(e),
            }
        }
        Ok(keys)
    }
}

impl AsFd for Map {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
