//! Attaching a program to an interface by traffic control: tcx links, or filters where the kernel has none.
//!
//! A filter has no owner: it would stay, and work, when the process that was about to attach the rest of
//! a bundle dies. So the filter's program is a gate of two instructions, which runs whatever is in an array of
//! programs with one slot. The kernel empties such an array when its last descriptor and pin are gone. So a
//! filter works exactly as long as a link would: while its process lives, or its array is pinned. What
//! is left of a dead process lets packets pass, is known by its empty array, and is swept by the next command.

use crate::attach::{Attached, Holder, How, Mode, Refused, TcMethod, TcOrder};
use crate::bundle::Port;
use crate::sys::filter::{self, FilterId};
use crate::sys::{Link, Map, Neighbour, Prog, Side, Update};
use crate::{Pins, errors};
use diag::Diagnostic;
use host::caps;
use net::interface;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// The names that the kernel knows our filters' programs by. The second is for a `clsact` that came with a filter of
/// ours: every filter of ours there has that name, so that the last one to go takes the qdisc along.
const GATE: &CStr = c"onpath_gate";
const GATE_WITH_QDISC: &CStr = c"onpath_gate_new";

/// A program at a `clsact` qdisc. Dropping it detaches it, unless it was [kept](Filter::keep).
#[derive(Debug)]
pub struct Filter {
    at: FilterLocation,
    /// Holds the program that the filter runs; see the module's description.
    pub(crate) gate: Map,
    keep: bool,
}

/// Where a filter of ours is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct FilterLocation {
    /// The interface.
    pub ifindex: u32,
    /// Whether it filters what goes out.
    pub egress: bool,
    /// The filter's number among those of the same priority.
    pub handle: u32,
    /// Its priority.
    pub priority: u32,
    /// The kernel's number for its program, the gate.
    pub gate_id: u32,
    /// Whether the interface had no `clsact` before this filter, or the one of ours that was there first.
    pub made_qdisc: bool,
}

impl FilterLocation {
    fn side(&self) -> Side {
        if self.egress {
            Side::Egress
        } else {
            Side::Ingress
        }
    }

    /// Detaches the filter, if it is still ours, and the qdisc, if it came with the filter and is empty now.
    pub fn remove(&self) -> io::Result<()> {
        let id = FilterId {
            handle: self.handle,
            priority: self.priority,
        };
        let there = filter::filters(self.ifindex, self.side())?;
        if there
            .iter()
            .any(|f| f.id == id && f.prog_id == self.gate_id)
        {
            filter::remove_filter(self.ifindex, self.side(), id)?;
        }
        if self.made_qdisc {
            remove_empty_qdisc(self.ifindex)?;
        }
        Ok(())
    }
}

fn remove_empty_qdisc(ifindex: u32) -> io::Result<()> {
    for side in [Side::Ingress, Side::Egress] {
        if !filter::filters(ifindex, side)?.is_empty() {
            return Ok(());
        }
    }
    match filter::remove_qdisc(ifindex) {
        // Somebody was faster, or the interface has gone, and its qdiscs with it.
        Err(e)
            if matches!(
                e.raw_os_error(),
                Some(libc::ENOENT | libc::EINVAL | libc::ENODEV)
            ) =>
        {
            Ok(())
        }
        other => other,
    }
}

impl Filter {
    fn attach(prog: &Prog, side: Side, ifindex: u32) -> io::Result<Filter> {
        let gate = Map::create(
            libbpf_sys::BPF_MAP_TYPE_PROG_ARRAY,
            "onpath_gate",
            4,
            4,
            1,
            0,
        )?;
        let fd = prog.as_fd().as_raw_fd() as u32;
        gate.set(&0u32.to_ne_bytes(), &fd.to_ne_bytes(), Update::Any)?;
        let made_qdisc = filter::make_qdisc(ifindex)? || has_made_qdisc(ifindex)?;
        if side == Side::Egress && !filter::has_both_sides(ifindex)? {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        let add = || {
            let name = if made_qdisc { GATE_WITH_QDISC } else { GATE };
            let program = Prog::gate(&gate, name)?;
            let id = filter::add_filter(&program, ifindex, side)?;
            Ok((program.info()?.id, id))
        };
        let (gate_id, id) = add().inspect_err(|_: &io::Error| {
            if made_qdisc {
                let _ = remove_empty_qdisc(ifindex);
            }
        })?;
        Ok(Filter {
            at: FilterLocation {
                ifindex,
                egress: side == Side::Egress,
                handle: id.handle,
                priority: id.priority,
                gate_id,
                made_qdisc,
            },
            gate,
            keep: false,
        })
    }

    /// Where it is.
    pub fn location(&self) -> FilterLocation {
        self.at
    }

    /// Leaves the filter where it is. It works as long as its gate is pinned.
    pub(crate) fn keep(mut self) {
        self.keep = true;
    }
}

impl Drop for Filter {
    fn drop(&mut self) {
        if !self.keep {
            // What cannot be removed lets packets pass from now on.
            let _ = self.at.remove();
        }
    }
}

/// Attaches a tc program to an interface's side, after those that are there unless it is to have another place. Nothing is changed if it fails.
pub(crate) fn attach(
    prog: &Prog,
    side: Side,
    port: &Port,
    method: TcMethod,
    order: Option<(&Pins, &TcOrder)>,
) -> Result<Attached, Box<Diagnostic>> {
    let (name, ifindex) = (port.name.as_str(), port.index);
    let neighbour = neighbour(order, port, side)?;
    let tcx = match method {
        TcMethod::Clsact if neighbour.is_some() => return Err(errors::device::no_order(name)),
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
                None if neighbour.is_some() => return Err(errors::device::no_order(name)),
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

/// The link beside which a program is to run, if that is asked for.
fn neighbour(
    order: Option<(&Pins, &TcOrder)>,
    port: &Port,
    side: Side,
) -> Result<Option<Neighbour>, Box<Diagnostic>> {
    let (pins, instance, as_neighbour): (_, _, fn(Link) -> Neighbour) = match order {
        None | Some((_, TcOrder::Last)) => return Ok(None),
        Some((pins, TcOrder::Before(instance))) => (pins, instance, Neighbour::Before),
        Some((pins, TcOrder::After(instance))) => (pins, instance, Neighbour::After),
    };
    let link = pins.tc_link(instance, port.index, side)?;
    let link = link.ok_or_else(|| errors::device::no_neighbour(instance, &port.name))?;
    Ok(Some(as_neighbour(link)))
}

/// Why there is no tcx link.
fn tcx_refused(error: &io::Error) -> Refused {
    // What the kernel calls ENOTSUPP, which the C library does not know.
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

/// Why there is no filter.
fn filter_refused(error: &io::Error, side: Side, name: &str) -> Refused {
    let errno = error.raw_os_error();
    // An ingress qdisc stands where clsact would, and makes the kernel report that there is one.
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

/// Refusals that have nothing to do with the method of attaching.
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

/// Whether the qdisc of an interface came with a filter of ours that is still there.
fn has_made_qdisc(ifindex: u32) -> io::Result<bool> {
    for side in [Side::Ingress, Side::Egress] {
        let there = filter::filters(ifindex, side)?;
        let mut names = there.iter().filter_map(|found| gate_name(&found.name));
        if names.any(|name| name == GATE_WITH_QDISC) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes the filters that dead processes left on the interfaces of this namespace.
pub(crate) fn sweep() -> io::Result<()> {
    for (ifindex, _) in interface::all() {
        for side in [Side::Ingress, Side::Egress] {
            for found in filter::filters(ifindex, side)? {
                let Some(name) = gate_name(&found.name) else {
                    continue;
                };
                if is_empty(found.prog_id) {
                    let left = FilterLocation {
                        ifindex,
                        egress: side == Side::Egress,
                        handle: found.id.handle,
                        priority: found.id.priority,
                        gate_id: found.prog_id,
                        made_qdisc: name == GATE_WITH_QDISC,
                    };
                    left.remove()?;
                }
            }
        }
    }
    Ok(())
}

/// The name of a filter's program, if it is one of ours.
fn gate_name(filter: &str) -> Option<&'static CStr> {
    let (name, _) = filter.split_once(":[")?;
    [GATE, GATE_WITH_QDISC]
        .into_iter()
        .find(|ours| ours.to_bytes() == name.as_bytes())
}

/// Whether a gate has nothing to run, as far as this process may know.
fn is_empty(gate: u32) -> bool {
    let look = || -> io::Result<bool> {
        let ids = Prog::by_id(gate)?.map_ids()?;
        let array = ids.first().ok_or(io::ErrorKind::NotFound)?;
        Ok(Map::by_id(*array)?.get(&0u32.to_ne_bytes())?.is_none())
    };
    look().unwrap_or(false)
}
