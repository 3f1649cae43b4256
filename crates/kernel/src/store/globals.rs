//! Arrays that a running program reads, its data section among them, through shared memory: single words change at once.

use crate::sys::Map;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence};

/// The mapped section, or the elements of an array, each at a multiple of 8 bytes.
#[derive(Debug)]
pub struct Globals {
    at: NonNull<u8>,
    length: usize,
    mapped: usize,
}

// SAFETY: the memory is shared with the kernel anyway, and every access is atomic.
unsafe impl Send for Globals {}
// SAFETY: as above.
unsafe impl Sync for Globals {}

impl Globals {
    /// Maps the values of an array map that was made with `BPF_F_MMAPABLE`.
    pub fn map(map: &Map) -> io::Result<Globals> {
        let info = map.info();
        let length = info.value_size.next_multiple_of(8) * info.max_entries as usize;
        Globals::of(map.as_fd(), length)
    }

    /// Maps so many bytes of a file.
    pub(super) fn of(file: BorrowedFd, length: usize) -> io::Result<Globals> {
        // SAFETY: no arguments with memory.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as usize;
        let mapped = length.max(1).next_multiple_of(page);
        // SAFETY: a new mapping at an address of the kernel's choice.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let at = NonNull::new(at.cast()).ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(Globals { at, length, mapped })
    }

    /// The address of `size` bytes at `offset`, which is a multiple of `size` for words.
    fn target(&self, offset: u64, size: usize) -> io::Result<*mut u8> {
        let offset = usize::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        if offset.checked_add(size).is_none_or(|end| end > self.length) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: inside the mapping, just checked.
        Ok(unsafe { self.at.as_ptr().add(offset) })
    }

    fn word<T>(&self, offset: u64) -> io::Result<*mut T> {
        let target = self.target(offset, size_of::<T>())?.cast::<T>();
        if target.is_aligned() {
            Ok(target)
        } else {
            Err(io::ErrorKind::InvalidInput.into())
        }
    }

    /// A 4-byte word.
    pub fn u32(&self, offset: impl Into<u64>) -> io::Result<u32> {
        let target = self.word(offset.into())?;
        // SAFETY: aligned, in the mapping, and only accessed atomically.
        Ok(unsafe { AtomicU32::from_ptr(target) }.load(Ordering::Acquire))
    }

    /// Stores a 4-byte word after everything before.
    pub fn set_u32(&self, offset: impl Into<u64>, value: u32) -> io::Result<()> {
        let target = self.word(offset.into())?;
        // SAFETY: as in `u32`.
        unsafe { AtomicU32::from_ptr(target) }.store(value, Ordering::Release);
        Ok(())
    }

    /// An 8-byte word.
    pub fn u64(&self, offset: impl Into<u64>) -> io::Result<u64> {
        let target = self.word(offset.into())?;
        // SAFETY: as in `u32`.
        Ok(unsafe { AtomicU64::from_ptr(target) }.load(Ordering::Acquire))
    }

    /// Stores an 8-byte word after everything before.
    pub fn set_u64(&self, offset: impl Into<u64>, value: u64) -> io::Result<()> {
        let target = self.word(offset.into())?;
        // SAFETY: as in `u32`.
        unsafe { AtomicU64::from_ptr(target) }.store(value, Ordering::Release);
        Ok(())
    }

    /// Bytes that do not change meanwhile.
    pub fn bytes(&self, offset: u32, size: u32) -> io::Result<Vec<u8>> {
        let target = self.target(offset.into(), size as usize)?;
        // SAFETY: `target` has `size` bytes, which are only accessed atomically.
        let byte = |at| unsafe { AtomicU8::from_ptr(target.add(at)) }.load(Ordering::Relaxed);
        Ok((0..size as usize).map(byte).collect())
    }

    /// Writes bytes that the program does not read at the time.
    pub fn set_bytes(&self, offset: u32, bytes: &[u8]) -> io::Result<()> {
        let target = self.target(offset.into(), bytes.len())?;
        for (at, byte) in bytes.iter().enumerate() {
            // SAFETY: `target` has room for all bytes, which are only accessed atomically.
            unsafe { AtomicU8::from_ptr(target.add(at)) }.store(*byte, Ordering::Relaxed);
        }
        fence(Ordering::Release);
        Ok(())
    }
}

impl Drop for Globals {
    fn drop(&mut self) {
        // SAFETY: our own mapping, unmapped once. Nothing is left to do if it fails.
        unsafe { libc::munmap(self.at.as_ptr().cast(), self.mapped) };
    }
}
