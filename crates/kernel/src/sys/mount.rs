//! A BPF file system that is mounted nowhere yet. Pins in it live as long as its descriptor: the kernel destroys it
//! when the process ends, however it ends. Mounting it is one step.

use host::safe_dir::Dir;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// The file system, with root as its only user.
#[derive(Debug)]
pub struct DetachedBpffs {
    root: Dir,
}

impl DetachedBpffs {
    /// Makes one; it takes `CAP_SYS_ADMIN` and Linux 5.2.
    pub fn new() -> io::Result<DetachedBpffs> {
        const FSOPEN_CLOEXEC: u64 = 1;
        const FSCONFIG_SET_STRING: u64 = 1;
        const FSCONFIG_CMD_CREATE: u64 = 6;
        const FSMOUNT_CLOEXEC: u64 = 1;
        const MOUNT_ATTR_NOSUID_NODEV_NOEXEC: u64 = 2 | 4 | 8;
        let none = std::ptr::null();
        // SAFETY: each string is a C string that outlives its call; the other arguments are numbers.
        unsafe {
            let context = own(libc::syscall(
                libc::SYS_fsopen,
                c"bpf".as_ptr(),
                FSOPEN_CLOEXEC,
            ))?;
            type Text = *const libc::c_char;
            let configure = |command: u64, key: Text, value: Text| {
                check(libc::syscall(
                    libc::SYS_fsconfig,
                    context.as_raw_fd(),
                    command,
                    key,
                    value,
                    0,
                ))
            };
            configure(FSCONFIG_SET_STRING, c"mode".as_ptr(), c"0700".as_ptr())?;
            configure(FSCONFIG_CMD_CREATE, none, none)?;
            let fd = own(libc::syscall(
                libc::SYS_fsmount,
                context.as_raw_fd(),
                FSMOUNT_CLOEXEC,
                MOUNT_ATTR_NOSUID_NODEV_NOEXEC,
            ))?;
            let root = Dir::ours(fd, "a BPF file system".into());
            Ok(DetachedBpffs { root })
        }
    }

    /// Returns its root.
    pub(crate) fn root(&self) -> &Dir {
        &self.root
    }

    /// Mounts it on a folder. From then on it lives without this process.
    pub(crate) fn mount(self, on: &Dir) -> io::Result<()> {
        const MOVE_MOUNT_F_EMPTY_PATH: u64 = 0x04;
        const MOVE_MOUNT_T_EMPTY_PATH: u64 = 0x40;
        // SAFETY: both paths are C strings that outlive the call.
        check(unsafe {
            libc::syscall(
                libc::SYS_move_mount,
                self.root.as_fd().as_raw_fd(),
                c"".as_ptr(),
                on.as_fd().as_raw_fd(),
                c"".as_ptr(),
                MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH,
            )
        })
        .map(|_| ())
    }
}

fn check(code: libc::c_long) -> io::Result<libc::c_long> {
    if code < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(code)
    }
}

/// # Safety
/// `code` is the result of a call that gives a new descriptor.
unsafe fn own(code: libc::c_long) -> io::Result<OwnedFd> {
    let fd = check(code)?;
    // SAFETY: the caller's promise.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}
