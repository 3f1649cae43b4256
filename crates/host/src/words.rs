//! Memory that several processes, and perhaps the running kernel, read while it changes. Each word changes atomically.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence};

/// Mapping of a file. It lives as long as any [`Words`] of it.
#[derive(Debug)]
struct Mapping {
    at: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory is shared with others anyway, and every access is atomic.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: our own mapping, unmapped once. Nothing is left to do if it fails.
        unsafe { libc::munmap(self.at.as_ptr().cast(), self.bytes) };
    }
}

/// Mapped file, or a part of it.
#[derive(Clone, Debug)]
pub struct Words {
    mapping: Arc<Mapping>,
    from: usize,
    length: usize,
}

impl Words {
    /// Maps `length` bytes of a file.
    pub fn of(file: BorrowedFd, length: usize) -> io::Result<Words> {
        // SAFETY: no arguments with memory.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as usize;
        let bytes = length.max(1).next_multiple_of(page);
        // SAFETY: a new mapping at an address of the kernel's choice.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
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
        let mapping = Arc::new(Mapping { at, bytes });
        Ok(Words {
            mapping,
            from: 0,
            length,
        })
    }

    /// Returns `length` bytes of it, from an offset on.
    pub fn part(&self, offset: u64, length: usize) -> io::Result<Words> {
        self.target(offset, length)?;
        Ok(Words {
            mapping: Arc::clone(&self.mapping),
            from: self.from + offset as usize,
            length,
        })
    }

    /// Returns its length in bytes.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the address of `size` bytes at `offset`. For words the offset must be a multiple of `size`.
    fn target(&self, offset: u64, size: usize) -> io::Result<*mut u8> {
        let offset = usize::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        if offset.checked_add(size).is_none_or(|end| end > self.length) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: inside the mapping, just checked.
        Ok(unsafe { self.mapping.at.as_ptr().add(self.from + offset) })
    }

    /// Stores a 4-byte word if it equals the old one now. Returns true if it did.
    pub fn exchange_u32(&self, offset: impl Into<u64>, old: u32, new: u32) -> io::Result<bool> {
        let target = self.word(offset.into())?;
        // SAFETY: as in `u32`.
        let word = unsafe { AtomicU32::from_ptr(target) };
        let done = word.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed);
        Ok(done.is_ok())
    }

    fn word<T>(&self, offset: u64) -> io::Result<*mut T> {
        let target = self.target(offset, size_of::<T>())?.cast::<T>();
        if target.is_aligned() {
            Ok(target)
        } else {
            Err(io::ErrorKind::InvalidInput.into())
        }
    }

    /// Reads a 4-byte word.
    pub fn u32(&self, offset: impl Into<u64>) -> io::Result<u32> {
        let target = self.word(offset.into())?;
        // SAFETY: aligned, in the mapping, and only accessed atomically.
        Ok(unsafe { AtomicU32::from_ptr(target) }.load(Ordering::Acquire))
    }

    /// Stores a 4-byte word, after all stores before it.
    pub fn set_u32(&self, offset: impl Into<u64>, value: u32) -> io::Result<()> {
        let target = self.word(offset.into())?;
        // SAFETY: as in `u32`.
        unsafe { AtomicU32::from_ptr(target) }.store(value, Ordering::Release);
        Ok(())
    }

    /// Reads an 8-byte word.
    pub fn u64(&self, offset: impl Into<u64>) -> io::Result<u64> {
        let target = self.word(offset.into())?;
        // SAFETY: as in `u32`.
        Ok(unsafe { AtomicU64::from_ptr(target) }.load(Ordering::Acquire))
    }

    /// Stores an 8-byte word, after all stores before it.
    pub fn set_u64(&self, offset: impl Into<u64>, value: u64) -> io::Result<()> {
        let target = self.word(offset.into())?;
        // SAFETY: as in `u32`.
        unsafe { AtomicU64::from_ptr(target) }.store(value, Ordering::Release);
        Ok(())
    }

    /// Reads bytes, which must not change meanwhile.
    pub fn bytes(&self, offset: impl Into<u64>, size: u32) -> io::Result<Vec<u8>> {
        let target = self.target(offset.into(), size as usize)?;
        // SAFETY: `target` has `size` bytes, which are only accessed atomically.
        let byte = |at| unsafe { AtomicU8::from_ptr(target.add(at)) }.load(Ordering::Relaxed);
        Ok((0..size as usize).map(byte).collect())
    }

    /// Writes bytes, which the program must not read meanwhile.
    pub fn set_bytes(&self, offset: impl Into<u64>, bytes: &[u8]) -> io::Result<()> {
        let target = self.target(offset.into(), bytes.len())?;
        for (at, byte) in bytes.iter().enumerate() {
            // SAFETY: `target` has room for all bytes, which are only accessed atomically.
            unsafe { AtomicU8::from_ptr(target.add(at)) }.store(*byte, Ordering::Relaxed);
        }
        fence(Ordering::Release);
        Ok(())
    }
}
