//! Telling a program which port is which interface, and which ports are a multicast group.

use crate::errors;
use crate::store::{Maps, unopened};
use crate::sys::{Map, Update};
use bpf::abi::{MOST_PORTS_OF_A_GROUP, PortsAbi};
use control::StoreError;
use diag::Diagnostic;
use std::collections::BTreeMap;
use std::io;

/// Gives a program the interfaces of its ports (pairs of port and interface index): for redirects,
/// for copies, and for its input port.
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

/// The same for ports that are one interface at ingress and another at egress (port, index in, index
/// out).
pub(crate) fn connect_split(
    names: &PortsAbi,
    maps: &Maps,
    ports: &[(u32, u32, u32)],
) -> Result<(), Box<Diagnostic>> {
    for (port, enter, leave) in ports {
        if let Some(below) = names.below.filter(|below| port >= below) {
            return Err(errors::device::no_such_port(*port, below));
        }
        let refused = |error: &io::Error| {
            let what = format!("port {port} (interface {leave})");
            errors::load::initial_state(&what, &error.to_string())
        };
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

/// Has a program know nothing of a port and its interface any more.
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
        what: format!("could not read the ports: {error}"),
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

/// The map of a name, if the program has one.
fn find<'a>(maps: &'a Maps, name: &Option<String>) -> io::Result<Option<&'a Map>> {
    name.as_ref().map_or(Ok(None), |name| maps.get(name))
}

/// What the map of groups has for a group of these ports.
pub(crate) fn group_value(ports: &[u32]) -> Vec<u8> {
    let mut value = (ports.len() as u32).to_ne_bytes().to_vec();
    value.extend(ports.iter().flat_map(|p| p.to_ne_bytes()));
    value.resize(4 + 4 * MOST_PORTS_OF_A_GROUP as usize, 0);
    value
}

/// The multicast groups by number.
pub(crate) fn groups(names: &PortsAbi, maps: &Maps) -> Result<Vec<(u16, Vec<u32>)>, StoreError> {
    let failed = |error: io::Error| StoreError::System {
        what: format!("could not read the multicast groups: {error}"),
    };
    let Some(map) = find(maps, &names.groups).map_err(unopened)? else {
        return Ok(Vec::new());
    };
    let mut all = BTreeMap::new();
    map.each(|group, value| {
        let words: Vec<u32> = group
            .chunks_exact(4)
            .chain(value.chunks_exact(4))
            .filter_map(|word| word.try_into().ok().map(u32::from_ne_bytes))
            .collect();
        if let [group, count, ports @ ..] = &words[..] {
            let count = (*count as usize).min(ports.len());
            all.insert(*group as u16, ports[..count].to_vec());
        }
    })
    .map_err(failed)?;
    Ok(all.into_iter().collect())
}
