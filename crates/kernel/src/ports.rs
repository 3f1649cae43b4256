//! Telling a program which port is which interface, and which ports are a multicast group.

use crate::errors;
use crate::sys::{Map, Update};
use bpf::abi::PortsAbi;
use diag::Diagnostic;
use std::collections::BTreeMap;

/// Tells a program which port is which interface (pairs of port and interface index): for redirects,
/// for copies, and for its input port.
pub fn connect_ports(
    names: &PortsAbi,
    maps: &BTreeMap<String, Map>,
    ports: &[(u32, u32)],
) -> Result<(), Box<Diagnostic>> {
    for (port, ifindex) in ports {
        let pairs = [
            (&names.devmap, port, ifindex),
            (&names.input, ifindex, port),
            (&names.egress, port, ifindex),
        ];
        for (name, key, value) in pairs {
            let Some(map) = name.as_ref().and_then(|n| maps.get(n)) else {
                continue;
            };
            let mut bytes = value.to_ne_bytes().to_vec();
            // A devmap's value may have room for a program that runs on the way out.
            bytes.resize(map.info().value_size, 0);
            map.set(&key.to_ne_bytes(), &bytes, Update::Any)
                .map_err(|error| match error.raw_os_error() {
                    Some(libc::E2BIG) => errors::device::bad_port(*port, map.info().max_entries),
                    _ => errors::load::initial_state(
                        &format!("port {port} (interface {ifindex})"),
                        &error.to_string(),
                    ),
                })?;
        }
    }
    Ok(())
}
