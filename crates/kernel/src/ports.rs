//! Maps by which a program knows the interfaces of its ports.

use crate::errors;
use crate::store::Maps;
use crate::sys::{Map, Update};
use bpf::abi::PortsAbi;
use control::StoreError;
use diag::{Diagnostic, system_message};
use std::io;

/// Gives a program the interfaces of its ports (pairs of port and interface index): for redirects, for copies, and for
/// its input port.
pub fn connect_ports(
    names: &PortsAbi,
    maps: &Maps,
    ports: &[(u32, u32)],
) -> Result<(), Box<Diagnostic>> {
    let ports: Vec<_> = ports
        .iter()
        .map(|(p, index)| (*p, *index, *index))
        .collect();
    connect_split(names, maps, &ports)
}

/// Does the same as [`connect_ports`] for ports that are one interface at ingress and another at egress (port, index
/// in, index out).
pub(crate) fn connect_split(
    names: &PortsAbi,
    maps: &Maps,
    ports: &[(u32, u32, u32)],
) -> Result<(), Box<Diagnostic>> {
    for (port, enter, leave) in ports {
        if let Some(below) = names.below.filter(|below| port >= below) {
            return Err(errors::device::no_such_port(*port, below));
        }
        let refused = |error: &io::Error| errors::load::own_port(*port, *leave, error);
        let pairs = [
            (&names.devmap, port, leave),
            (&names.input, enter, port),
            (&names.egress, port, leave),
        ];
        for (name, key, value) in pairs {
            let Some(map) = find(maps, name).map_err(|e| refused(&e))? else {
                continue;
            };
            let mut bytes = value.to_ne_bytes().to_vec();
            // A devmap's value may have room for a program that runs at egress.
            bytes.resize(map.info().value_size, 0);
            map.set(&key.to_ne_bytes(), &bytes, Update::Any)
                .map_err(|error| match error.raw_os_error() {
                    Some(libc::E2BIG) => errors::device::bad_port(*port, map.info().max_entries),
                    _ => refused(&error),
                })?;
        }
    }
    Ok(())
}

/// Replaces the interface of a port in a program's maps. Packets from the old interface then have no input port.
pub(crate) fn move_port(
    names: &PortsAbi,
    maps: &Maps,
    port: u32,
    (from, to): (u32, u32),
) -> io::Result<()> {
    if connect_ports(names, maps, &[(port, to)]).is_err() {
        // The new interface is gone.
        return disconnect_port(names, maps, port, from);
    }
    match find(maps, &names.input)? {
        Some(input) => input.delete(&from.to_ne_bytes()).map(drop),
        None => Ok(()),
    }
}

/// Removes a port and its interface from a program's maps.
pub(crate) fn disconnect_port(
    names: &PortsAbi,
    maps: &Maps,
    port: u32,
    index: u32,
) -> io::Result<()> {
    let keys = [
        (&names.devmap, port),
        (&names.input, index),
        (&names.egress, port),
    ];
    for (name, key) in keys {
        if let Some(map) = find(maps, name)? {
            map.delete(&key.to_ne_bytes())?;
        }
    }
    Ok(())
}

/// Fails if the program has no interface for one of the ports that it is to send copies to.
pub(crate) fn check_ports(names: &PortsAbi, maps: &Maps, ports: &[u32]) -> Result<(), StoreError> {
    let failed = |error: io::Error| StoreError::System {
        what: format!("could not read the ports: {}", system_message(&error)),
    };
    let Some(map) = find(maps, &names.egress).map_err(failed)? else {
        return Ok(());
    };
    for port in ports {
        if map.get(&port.to_ne_bytes()).map_err(failed)?.is_none() {
            return Err(StoreError::NoInterface { port: *port });
        }
    }
    Ok(())
}

/// Returns the map of a name, if the program has one.
fn find<'a>(maps: &'a Maps, name: &Option<String>) -> io::Result<Option<&'a Map>> {
    name.as_ref().map_or(Ok(None), |name| maps.get(name))
}
