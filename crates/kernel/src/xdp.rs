//! Attaching a program to an interface by XDP.

mod driver;
mod queues;
mod refusal;

use crate::attach::{Attached, Holder, Mode, Refused};
use crate::sys::{Link, Prog, XdpMode, driver_words, xdp_on};
use crate::{Pins, caps, errors, link_settings};
use diag::Diagnostic;
use driver::Driver;
use refusal::Interface;
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
    let driver = Driver::of(name);
    // Once it is attached, the program has the queues that were free.
    let slower = queues::shared(name, driver);
    let mtu = link_settings::read(ifindex).ok().map(|found| found.mtu);
    let at = Interface { name, driver, mtu };
    let native = match native(prog, ifindex, at)? {
        Ok(link) => {
            return Ok(Attached {
                holder: Holder::Link(link),
                mode: Mode::Native,
                better_refused: None,
                slower,
            });
        }
        Err(refused) => refused,
    };
    match Link::attach_xdp(prog, ifindex, XdpMode::Generic) {
        Ok(link) => Ok(Attached {
            holder: Holder::Link(link),
            mode: Mode::Generic,
            better_refused: Some(native),
            slower: None,
        }),
        Err(generic) => Err(
            not_worth_a_second_try(&generic, name, ifindex).unwrap_or_else(|| {
                let words = driver_words(prog, ifindex, XdpMode::Generic);
                let generic = refusal::explain(&generic, words, at);
                errors::device::not_attached(name, &native, &generic)
            }),
        ),
    }
}

/// Attaches a program in the network stack, since it runs so at the interface `other`.
pub(crate) fn attach_generic(
    prog: &Prog,
    name: &str,
    ifindex: u32,
    other: &str,
) -> Result<Attached, Box<Diagnostic>> {
    let link = Link::attach_xdp(prog, ifindex, XdpMode::Generic);
    let link = link.map_err(|error| {
        not_worth_a_second_try(&error, name, ifindex).unwrap_or_else(|| {
            let generic = Refused {
                reason: diag::system_message(&error),
                remedy: None,
            };
            let native = Refused {
                reason: format!("`{other}` has none"),
                remedy: None,
            };
            errors::device::not_attached(name, &native, &generic)
        })
    })?;
    Ok(Attached {
        holder: Holder::Link(link),
        mode: Mode::Generic,
        better_refused: None,
        slower: Some(Refused {
            reason: format!(
                "{name} has native XDP, but {other} would take no packets from there: a program runs alike at all its \
                 interfaces"
            ),
            remedy: None,
        }),
    })
}

/// Attaches it natively, or says why that is not done.
fn native(
    prog: &Prog,
    ifindex: u32,
    at: Interface<'_>,
) -> Result<Result<Link, Refused>, Box<Diagnostic>> {
    match Link::attach_xdp(prog, ifindex, XdpMode::Native) {
        Ok(link) => Ok(match refusal::loses_packets(at) {
            // Dropping the link detaches the program again.
            Some(refused) => Err(refused),
            None => Ok(link),
        }),
        Err(error) => match not_worth_a_second_try(&error, at.name, ifindex) {
            Some(diagnostic) => Err(diagnostic),
            None => {
                // Once it is attached by the other method, the driver has another reason.
                let words = driver_words(prog, ifindex, XdpMode::Native);
                Ok(Err(refusal::explain(&error, words, at)))
            }
        },
    }
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
