//! Ring buffers: reading the records that programs have written.

use super::Map;
use std::ffi::{c_int, c_void};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr::null;
use std::time::Duration;

/// Function that records are handed to, and the number of records it may still get.
struct Reader<'a> {
    left: u64,
    each: &'a mut dyn FnMut(&[u8]),
}

/// Result by which a callback tells libbpf that the record was the last one.
const ENOUGH: c_int = -libc::ECANCELED;

/// Takes the records that are there, at most `most`. A taken record is gone for other readers; two must not read at
/// once.
pub fn take(ring: &Map, most: u64, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    if most == 0 {
        return Ok(());
    }
    let mut reader = Reader {
        left: most,
        each: &mut each,
    };
    let context: *mut Reader<'_> = &mut reader;
    // SAFETY: the descriptor is open, and the context lives as long as the buffer below.
    let buffer = unsafe {
        libbpf_sys::ring_buffer__new(
            ring.as_fd().as_raw_fd(),
            Some(record),
            context.cast::<c_void>(),
            null(),
        )
    };
    if buffer.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the buffer was made above and is freed once, after its last use.
    let taken = unsafe {
        let taken = libbpf_sys::ring_buffer__consume(buffer);
        libbpf_sys::ring_buffer__free(buffer);
        taken
    };
    match taken {
        0.. | ENOUGH => Ok(()),
        error => Err(io::Error::from_raw_os_error(-error)),
    }
}

/// Passes a record to the function that [`take`] was given.
extern "C" fn record(context: *mut c_void, data: *mut c_void, size: u64) -> c_int {
    // SAFETY: `take` gave this context, and waits; libbpf gives a record of so many bytes that stays until this
    // returns.
    let (reader, bytes) = unsafe {
        let reader = &mut *context.cast::<Reader<'_>>();
        let bytes = std::slice::from_raw_parts(data.cast::<u8>().cast_const(), size as usize);
        (reader, bytes)
    };
    (reader.each)(bytes);
    reader.left -= 1;
    match reader.left {
        0 => ENOUGH,
        _ => 0,
    }
}

/// Waits until there is a record, for at most `patience`.
pub fn wait(ring: &Map, patience: Duration) -> io::Result<()> {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    let mut wanted = [PollFd::new(ring.as_fd(), PollFlags::POLLIN)];
    let patience = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
    match poll(&mut wanted, patience) {
        Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
