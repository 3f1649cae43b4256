//! Network interfaces of this process's namespace.

use crate::errors;
use diag::Diagnostic;
use nix::net::if_::{if_nameindex, if_nametoindex};

/// The index of an interface by name.
pub fn index(name: &str) -> Result<u32, Box<Diagnostic>> {
    if_nametoindex(name).map_err(|_| errors::device::no_interface(name, &names()))
}

/// The names of all interfaces.
pub fn names() -> Vec<String> {
    all().into_iter().map(|(_, name)| name).collect()
}

/// All interfaces: index and name.
pub fn all() -> Vec<(u32, String)> {
    let Ok(list) = if_nameindex() else {
        return Vec::new();
    };
    list.into_iter()
        .map(|i| (i.index(), i.name().to_string_lossy().into_owned()))
        .collect()
}

/// The name of an interface by index.
pub fn name(index: u32) -> Option<String> {
    all()
        .into_iter()
        .find(|(i, _)| *i == index)
        .map(|(_, name)| name)
}
