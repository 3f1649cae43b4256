//! A process that outlives its parent: it detaches from the parent, and closes the files it inherited.

use std::io;

/// Closes all files but the three standard ones. The caller has opened none yet.
pub(crate) fn close_inherited() {
    // SAFETY: no memory is passed, and nothing in this process owns one of these descriptors. If the kernel refuses,
    // they stay open.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
}

/// Goes on in a child of this process, and ends this process, so that its parent has nothing to wait for later. For
/// use between fork and exec.
pub(crate) fn become_grandchild() -> io::Result<()> {
    // SAFETY: this process has one thread, and both sides do only what is allowed in a child of a process with
    // several.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(()),
        // SAFETY: ends the process, and runs nothing before.
        _ => unsafe { libc::_exit(0) },
    }
}
