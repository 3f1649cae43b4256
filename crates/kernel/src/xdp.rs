//! Attaching a program to an interface by XDP.

mod refusal;

use crate::attach::{Attached, Holder, Mode, Refused};
use crate::sys::{Link, Prog, XdpMode, driver_words, xdp_on};
use crate::{Pins, caps, errors, link_settings};
use diag::Diagnostic;
use std::io;

/// Fails if an interface has an XDP program, naming the one of ours that it is if it is one.
pub(crate) fn check_free(pins: &Pins, name: &str, ifindex: u32) -> Result<(), Box<Diagnostic>> {
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

/// Attaches a program to an interface that has none: natively, or where the driver refuses that, in
/// the network stack. Nothing is changed if it fails.
pub(crate) fn attach(prog: &Prog, name: &str, ifindex: u32) -> Result<Attached, Box<Diagnostic>> {
    check_free(&Pins::default(), name, ifindex)?;
    let native = match Link::attach_xdp(prog, ifindex, XdpMode::Native) {
        Ok(link) => {
            return Ok(Attached {
                holder: Holder::Link(link),
                mode: Mode::Native,
                better_refused: None,
            });
        }
        Err(error) => error,
    };
    if let Some(diagnostic) = not_worth_a_second_try(&native, name, ifindex) {
        return Err(diagnostic);
    }
    // Once it is attached by the other method, the driver has another reason.
    let native = why(prog, ifindex, name, XdpMode::Native, &native);
    match Link::attach_xdp(prog, ifindex, XdpMode::Generic) {
        Ok(link) => Ok(Attached {
            holder: Holder::Link(link),
            mode: Mode::Generic,
            better_refused: Some(native),
        }),
        Err(generic) => Err(
            not_worth_a_second_try(&generic, name, ifindex).unwrap_or_else(|| {
                let generic = why(prog, ifindex, name, XdpMode::Generic, &generic);
                errors::device::not_attached(name, &native, &generic)
            }),
        ),
    }
}

/// Why an interface refuses a program.
fn why(prog: &Prog, ifindex: u32, name: &str, mode: XdpMode, error: &io::Error) -> Refused {
    let mtu = link_settings::read(ifindex)
        .ok()
        .map(|settings| settings.mtu);
    refusal::explain(error, driver_words(prog, ifindex, mode), name, mtu)
}

/// Refusals that have nothing to do with the driver.
fn not_worth_a_second_try(error: &io::Error, name: &str, ifindex: u32) -> Option<Box<Diagnostic>> {
    match error.raw_os_error() {
        Some(libc::EPERM) => Some(errors::load::not_permitted(
            &format!("attach a program to `{name}`"),
            &caps::missing(&caps::RUN),
        )),
        Some(libc::ENODEV) => Some(errors::device::interface_gone(name)),
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
