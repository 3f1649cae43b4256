//! Declarations of an object, read before anything of it is in the kernel.

use super::object::Open;
use serde::{Deserialize, Serialize};
use std::ffi::{CStr, c_char};
use std::io;

/// A map as an object declares it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DeclaredMap {
    /// Map's name in C, or the section's if it holds global data. The inner maps of an outer map are declared as
    /// `NAME.inner`.
    pub name: String,
    /// The kernel's number of its type.
    pub kind: u32,
    /// Bytes of a key.
    pub key_size: u32,
    /// Bytes of a value, on one processor.
    pub value_size: u32,
    /// Number of entries that it holds.
    pub max_entries: u32,
    /// The kernel's flags.
    pub flags: u32,
    /// Path at which the object asks to pin it, or to reuse the map pinned there. Onpath never does so: see [`Open`].
    #[serde(skip)]
    pub pin: Option<String>,
}

/// A program as an object declares it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DeclaredProgram {
    /// The function's name.
    pub name: String,
    /// The kernel's number of its type.
    pub kind: u32,
}

/// Everything that loading an object makes in the kernel, in the object's order.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Contents {
    /// Object's maps, including those of global data.
    pub maps: Vec<DeclaredMap>,
    /// Object's programs.
    pub programs: Vec<DeclaredProgram>,
}

/// Reads what an object declares. It takes no privileges, and makes nothing in the kernel.
///
/// # Errors
///
/// libbpf cannot read the object.
pub fn contents(object: &[u8]) -> io::Result<Contents> {
    let open = Open::as_it_is(object)?;
    let obj = open.raw();
    let mut contents = Contents::default();
    // SAFETY: walks the open object's maps and programs, whose names live as long as it.
    unsafe {
        let mut map = libbpf_sys::bpf_object__next_map(obj, std::ptr::null());
        while !map.is_null() {
            contents.maps.push(declared(map));
            let inner = libbpf_sys::bpf_map__inner_map(map);
            if !inner.is_null() {
                contents.maps.push(declared(inner));
            }
            map = libbpf_sys::bpf_object__next_map(obj, map);
        }
        let mut prog = libbpf_sys::bpf_object__next_program(obj, std::ptr::null_mut());
        while !prog.is_null() {
            contents.programs.push(DeclaredProgram {
                name: text(libbpf_sys::bpf_program__name(prog)),
                kind: libbpf_sys::bpf_program__type(prog),
            });
            prog = libbpf_sys::bpf_object__next_program(obj, prog);
        }
    }
    Ok(contents)
}

/// # Safety
/// The map belongs to an open object.
unsafe fn declared(map: *mut libbpf_sys::bpf_map) -> DeclaredMap {
    // SAFETY: the caller's promise.
    unsafe {
        let pin = libbpf_sys::bpf_map__pin_path(map);
        DeclaredMap {
            name: super::object::section_or_name(map),
            kind: libbpf_sys::bpf_map__type(map),
            key_size: libbpf_sys::bpf_map__key_size(map),
            value_size: libbpf_sys::bpf_map__value_size(map),
            max_entries: libbpf_sys::bpf_map__max_entries(map),
            flags: libbpf_sys::bpf_map__map_flags(map),
            pin: (!pin.is_null()).then(|| text(pin)),
        }
    }
}

/// # Safety
/// The pointer is null, or of a C string that lives during the call.
unsafe fn text(at: *const c_char) -> String {
    if at.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned()
}
