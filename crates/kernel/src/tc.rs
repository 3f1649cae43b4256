//! Attaching a program to an interface by traffic control: tcx links, or filters where the kernel has none.

pub mod filter;

use crate::attachment::{Attached, Holder, How, Mode, Refused, TcMethod, TcOrder};
use crate::port::Port;
use crate::sys::{Link, Neighbour, Prog, Side};
use crate::{Pins, errors};
use diag::Diagnostic;
use filter::Filter;
use host::caps;
use std::io;

/// Attaches a tc program to an interface's side, after those that are there unless `order` gives it another position.
/// On failure nothing is changed.
pub(crate) fn attach(
    prog: &Prog,
    side: Side,
    port: &Port,
    method: TcMethod,
    order: Option<(&Pins, &TcOrder)>,
) -> Result<Attached, Box<Diagnostic>> {
    let (name, ifindex) = (port.name.as_str(), port.index);
    let neighbour = neighbour(order, port, side)?;
    let is_asked = order.is_some_and(|(_, order)| order.beside().is_some());
    let tcx = match method {
        TcMethod::Clsact if is_asked => return Err(errors::device::no_order(name)),
        TcMethod::Clsact => None,
        TcMethod::Best => match Link::attach_tcx_at(prog, ifindex, side, neighbour.as_ref()) {
            Ok(link) => {
                return Ok(Attached {
                    holder: Holder::Link(link),
                    how: How {
                        mode: Mode::Tcx,
                        better_refused: None,
                        slower: None,
                    },
                });
            }
            Err(error) => match not_worth_a_second_try(&error, name) {
                Some(diagnostic) => return Err(diagnostic),
                None if is_asked => return Err(errors::device::no_order(name)),
                None => Some(error),
            },
        },
    };
    match Filter::attach(prog, side, ifindex) {
        Ok(filter) => Ok(Attached {
            holder: Holder::Filter(filter),
            how: How {
                mode: Mode::Clsact,
                better_refused: tcx.map(|error| tcx_refused(&error)),
                slower: None,
            },
        }),
        Err(error) => Err(not_worth_a_second_try(&error, name).unwrap_or_else(|| {
            let tcx = tcx.map(|error| tcx_refused(&error));
            let filter = filter_refused(&error, side, name);
            errors::device::tc_not_attached(name, tcx.as_ref(), &filter)
        })),
    }
}

/// Returns the position among the links that are there, if `order` asks for one.
fn neighbour(
    order: Option<(&Pins, &TcOrder)>,
    port: &Port,
    side: Side,
) -> Result<Option<Neighbour>, Box<Diagnostic>> {
    let (pins, instance, as_neighbour): (_, _, fn(Link) -> Neighbour) = match order {
        None | Some((_, TcOrder::Last)) => return Ok(None),
        Some((_, TcOrder::NearestWire)) => {
            return Ok((side == Side::Ingress).then_some(Neighbour::BeforeAll));
        }
        Some((pins, TcOrder::Before(instance))) => (pins, instance, Neighbour::Before),
        Some((pins, TcOrder::After(instance))) => (pins, instance, Neighbour::After),
    };
    let link = pins.tc_link(instance, port.index, side)?;
    let link = link.ok_or_else(|| errors::device::no_neighbour(instance, &port.name))?;
    Ok(Some(as_neighbour(link)))
}

/// Explains why there is no tcx link.
fn tcx_refused(error: &io::Error) -> Refused {
    // The kernel's ENOTSUPP, which the C library does not know.
    const ENOTSUPP: i32 = 524;
    let (reason, remedy) = match error.raw_os_error() {
        Some(libc::EINVAL | libc::EOPNOTSUPP | ENOTSUPP) => (
            String::from("this kernel has no tcx"),
            Some("tcx takes Linux 6.6"),
        ),
        Some(libc::ERANGE) => (
            String::from("it has as many programs by tcx as it can have"),
            Some("`bpftool net` lists them"),
        ),
        _ => (diag::system_message(error), None),
    };
    Refused {
        reason,
        remedy: remedy.map(String::from),
    }
}

/// Explains why there is no filter.
fn filter_refused(error: &io::Error, side: Side, name: &str) -> Refused {
    let errno = error.raw_os_error();
    // An ingress qdisc takes the place of clsact, and makes the kernel report that there is one.
    if side == Side::Egress && matches!(errno, Some(libc::EINVAL | libc::ENOENT)) {
        return Refused {
            reason: format!("`{name}` has a qdisc without an egress side"),
            remedy: Some(format!(
                "`tc qdisc show dev {name}` shows an ingress qdisc; `tc qdisc del dev {name} ingress` removes it, with \
                 its filters"
            )),
        };
    }
    Refused {
        reason: match errno {
            Some(libc::ENOENT | libc::EOPNOTSUPP) => {
                String::from("this kernel has no clsact qdisc or no bpf filters")
            }
            _ => diag::system_message(error),
        },
        remedy: None,
    }
}

/// Returns a diagnostic for refusals that do not depend on the method of attaching.
fn not_worth_a_second_try(error: &io::Error, name: &str) -> Option<Box<Diagnostic>> {
    match error.raw_os_error() {
        Some(libc::EPERM) => Some(errors::load::not_permitted(
            &format!("attach a program to `{name}`"),
            &caps::missing(&caps::RUN),
            caps::in_user_namespace(),
        )),
        Some(libc::ENODEV) => Some(errors::device::interface_gone(name)),
        _ => None,
    }
}
