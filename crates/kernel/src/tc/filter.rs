//! Filters of traffic control as holders of programs.
//!
//! A filter has no owner. It would stay, and work, if the process that was about to attach the rest of a bundle died.
//! So the filter's program is a gate of two instructions, which runs the program in an array of programs with one
//! slot. The kernel empties such an array when its last descriptor and pin are gone. So a filter works exactly as long
//! as a link would: while its process lives, or its array is pinned. The filter of a dead process lets packets pass,
//! is recognised by its empty array, and is swept by the next command.

use crate::sys::filter::{self, FilterId};
use crate::sys::{Map, Prog, Side, Update};
use net::interface;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Names under which the kernel knows the programs of Onpath's filters. The second is for a `clsact` qdisc that came
/// with such a filter. Every filter of Onpath's there has that name, so that the last one to go removes the qdisc.
const GATE: &CStr = c"onpath_gate";
const GATE_WITH_QDISC: &CStr = c"onpath_gate_new";

/// A program at a `clsact` qdisc. Dropping it detaches it, unless it was [kept](Filter::keep).
#[derive(Debug)]
pub struct Filter {
    at: FilterLocation,
    /// Array with the program that the filter runs; see the module's description.
    pub(crate) gate: Map,
    keep: bool,
}

/// Location of a filter of Onpath's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct FilterLocation {
    /// The interface.
    pub ifindex: u32,
    /// True if it filters packets that leave.
    pub egress: bool,
    /// The filter's number among those of the same priority.
    pub handle: u32,
    /// Filter's priority.
    pub priority: u32,
    /// The kernel's number for its program, the gate.
    pub gate_id: u32,
    /// True if the interface had no `clsact` before this filter, or before an earlier filter of Onpath's.
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

    /// Detaches the filter, if it is still Onpath's. Removes the qdisc too, if it came with the filter and is empty
    /// now.
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
    pub(super) fn attach(prog: &Prog, side: Side, ifindex: u32) -> io::Result<Filter> {
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

    /// Returns its location.
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
            // A filter that cannot be removed lets packets pass from now on.
            let _ = self.at.remove();
        }
    }
}

/// Returns true if the qdisc of an interface came with a filter of Onpath's that is still there.
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

/// Returns the name of a filter's program, if it is Onpath's.
fn gate_name(filter: &str) -> Option<&'static CStr> {
    let (name, _) = filter.split_once(":[")?;
    [GATE, GATE_WITH_QDISC]
        .into_iter()
        .find(|ours| ours.to_bytes() == name.as_bytes())
}

/// Returns true if a gate has nothing to run, as far as this process may know.
fn is_empty(gate: u32) -> bool {
    let look = || -> io::Result<bool> {
        let ids = Prog::by_id(gate)?.map_ids()?;
        let array = ids.first().ok_or(io::ErrorKind::NotFound)?;
        Ok(Map::by_id(*array)?.get(&0u32.to_ne_bytes())?.is_none())
    };
    look().unwrap_or(false)
}
