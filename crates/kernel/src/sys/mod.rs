//! The kernel's BPF objects as owned file descriptors, with checked lengths. Only this module has unsafe code that
//! speaks to `bpf(2)`; everything above works with these types.

mod batch;
mod bytes;
mod contents;
pub mod filter;
mod lines;
mod link;
mod map;
mod mount;
mod object;
mod process;
mod prog;
mod random;
pub mod ring;
mod samples;
mod set_way;
mod skb;
pub mod time;

pub use bytes::{pin_bytes, read_bytes};
pub use contents::{Contents, DeclaredMap, DeclaredProgram, contents};
pub use filter::Side;
pub use lines::{InstructionLines, instruction_lines};
pub use link::{
    Attached, Link, Neighbour, XdpMode, XdpSeen, driver_words, link_ids, may_be_native,
    takes_redirected, tcx_on, xdp_on,
};
pub use map::{Map, MapInfo, Update, possible_cpus};
pub use mount::DetachedBpffs;
pub(crate) use object::with_messages;
pub use object::{Adjust, LoadFailure, Loaded, load_object, load_object_with, path_log};
pub(crate) use process::{become_grandchild, close_inherited};
pub use prog::{Prog, ProgInfo, RunResult, count_runs};
pub use random::random_numbers;
pub use samples::{Samples, samples};
pub use set_way::SETS_A_RUN;
pub use skb::TcContext;

use host::safe_dir::Dir;
use std::ffi::CString;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Converts a path for a C function.
fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// Checks a libbpf result: negative is an error number.
fn check(code: i32) -> io::Result<i32> {
    if code < 0 {
        Err(io::Error::from_raw_os_error(-code))
    } else {
        Ok(code)
    }
}

/// Takes a descriptor that a libbpf call returned.
fn own(code: i32) -> io::Result<OwnedFd> {
    let fd: RawFd = check(code)?;
    // SAFETY: the call that returned this descriptor gave it to us, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Opens an object pinned in a folder of a BPF file system.
fn open_pinned(folder: &Dir, name: &str) -> io::Result<OwnedFd> {
    let pin = folder.open_pin(name)?;
    let path = c_path(&pin.path())?;
    // SAFETY: the path is a C string that outlives the call.
    own(unsafe { libbpf_sys::bpf_obj_get(path.as_ptr()) })
}

/// Pins an object in a folder of a BPF file system, which must not have the name yet.
fn pin(fd: RawFd, folder: &Dir, name: &str) -> io::Result<()> {
    let path = c_path(&folder.path_of_new(name)?)?;
    // SAFETY: the path is a C string that outlives the call. The kernel follows no link in its last name.
    check(unsafe { libbpf_sys::bpf_obj_pin(fd, path.as_ptr()) }).map(|_| ())
}
