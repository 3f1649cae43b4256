//! Attaching a program to an interface by XDP, and connecting its ports.

use crate::sys::{Link, Map, Prog, Update, XdpMode, xdp_on};
use crate::{Pins, caps, errors};
use bpf::abi::PortsAbi;
use diag::Diagnostic;
use std::collections::BTreeMap;
use std::io;

/// A program on an interface, for as long as this value (or a pin of it) lives.
#[derive(Debug)]
pub struct Attached {
    /// The attachment.
    pub link: Link,
    /// How it is attached.
    pub mode: XdpMode,
    /// Why it is not native, if it is not.
    pub native_refused: Option<String>,
}

/// Fails if an interface has an XDP program, naming the one of ours that it is if it is one.
pub fn check_free(pins: &Pins, name: &str, ifindex: u32) -> Result<(), Box<Diagnostic>> {
    let Ok(Some(seen)) = xdp_on(ifindex) else {
        return Ok(());
    };
    let ours = pins.on_interface(ifindex).map(|record| record.instance);
    Err(errors::device::occupied(
        name,
        seen.prog_id,
        ours.as_deref(),
    ))
}

/// Fails if this process has not the capabilities that running a program takes.
pub fn check_rights() -> Result<(), Box<Diagnostic>> {
    let missing = caps::missing(&caps::XDP);
    if missing.is_empty() {
        return Ok(());
    }
    Err(errors::load::not_permitted(
        "run a program by XDP",
        &missing,
    ))
}

/// Attaches a program to an interface that has none: natively, or where the driver refuses that, in
/// the network stack. Nothing is changed if it fails.
pub fn attach(prog: &Prog, name: &str, ifindex: u32) -> Result<Attached, Box<Diagnostic>> {
    check_free(&Pins::default(), name, ifindex)?;
    let native = match Link::attach_xdp(prog, ifindex, XdpMode::Native) {
        Ok(link) => {
            return Ok(Attached {
                link,
                mode: XdpMode::Native,
                native_refused: None,
            });
        }
        Err(error) => error,
    };
    if let Some(diagnostic) = not_worth_a_second_try(&native, name, ifindex) {
        return Err(diagnostic);
    }
    match Link::attach_xdp(prog, ifindex, XdpMode::Generic) {
        Ok(link) => Ok(Attached {
            link,
            mode: XdpMode::Generic,
            native_refused: Some(native.to_string()),
        }),
        Err(generic) => Err(not_worth_a_second_try(&generic, name, ifindex)
            .unwrap_or_else(|| errors::device::not_attached(name, &native, &generic))),
    }
}

/// Refusals that have nothing to do with the driver.
fn not_worth_a_second_try(error: &io::Error, name: &str, ifindex: u32) -> Option<Box<Diagnostic>> {
    match error.raw_os_error() {
        Some(libc::EPERM) => Some(errors::load::not_permitted(
            &format!("attach a program to `{name}`"),
            &caps::missing(&caps::XDP),
        )),
        Some(libc::EBUSY | libc::EEXIST) => {
            let checked = check_free(&Pins::default(), name, ifindex);
            Some(
                checked
                    .err()
                    .unwrap_or_else(|| errors::device::occupied(name, 0, None)),
            )
        }
        _ => None,
    }
}

/// Tells a program which port is which interface (pairs of port and interface index): for redirects,
/// and for its input port.
pub fn connect_ports(
    names: &PortsAbi,
    maps: &BTreeMap<String, Map>,
    ports: &[(u32, u32)],
) -> Result<(), Box<Diagnostic>> {
    for (port, ifindex) in ports {
        let pairs = [
            (&names.devmap, port, ifindex),
            (&names.input, ifindex, port),
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
