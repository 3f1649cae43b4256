//! Traffic control's own hook for programs: filters of kind `bpf` in direct-action mode at a `clsact` qdisc.

use super::object::with_messages;
use super::{Prog, check};
use libbpf_sys::{bpf_tc_hook, bpf_tc_opts};
use net::netlink::{attributes, request, u32_at};
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Side of an interface at which packets are filtered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    /// Packets that come in.
    Ingress,
    /// Packets that go out.
    Egress,
}

impl Side {
    fn point(self) -> libbpf_sys::bpf_tc_attach_point {
        match self {
            Side::Ingress => libbpf_sys::BPF_TC_INGRESS,
            Side::Egress => libbpf_sys::BPF_TC_EGRESS,
        }
    }

    /// The qdisc's pseudo class for this side.
    fn parent(self) -> u32 {
        match self {
            Side::Ingress => 0xffff_fff2,
            Side::Egress => 0xffff_fff3,
        }
    }
}

/// Identity of a filter at a side of a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FilterId {
    /// Filter's number among those of the same priority.
    pub handle: u32,
    /// Lower ones run first.
    pub priority: u32,
}

/// A filter that is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filter {
    /// Filter's identity.
    pub id: FilterId,
    /// The program's name and number, as `NAME:[ID]`; empty for other kinds of filters.
    pub name: String,
    /// The kernel's number for its program; 0 for other kinds.
    pub prog_id: u32,
}

/// The greatest priority there is.
const LAST_PRIORITY: u32 = 0xffff;

fn hook(ifindex: u32, point: libbpf_sys::bpf_tc_attach_point) -> bpf_tc_hook {
    bpf_tc_hook {
        sz: size_of::<bpf_tc_hook>() as _,
        ifindex: ifindex as i32,
        attach_point: point,
        ..bpf_tc_hook::default()
    }
}

const BOTH: libbpf_sys::bpf_tc_attach_point =
    libbpf_sys::BPF_TC_INGRESS | libbpf_sys::BPF_TC_EGRESS;

/// Gives a device the qdisc that filters need. Returns `false` if it has it already.
pub fn make_qdisc(ifindex: u32) -> io::Result<bool> {
    let mut hook = hook(ifindex, BOTH);
    // SAFETY: plain data that says its own size.
    let create = || check(unsafe { libbpf_sys::bpf_tc_hook_create(&mut hook) });
    // An existing qdisc is no error, and nothing for libbpf to print.
    match with_messages(create).0 {
        Ok(_) => Ok(true),
        Err(e) if e.raw_os_error() == Some(libc::EEXIST) => Ok(false),
        Err(e) => Err(e),
    }
}

/// Tests whether a device has the qdisc that filters both sides. An ingress qdisc accepts filters of the other side
/// too, but runs them for packets that come in.
pub fn has_both_sides(ifindex: u32) -> io::Result<bool> {
    /// `struct tcmsg`
    const HEADER: usize = 20;
    let answers = request(libc::RTM_GETQDISC, libc::NLM_F_DUMP, &[0; HEADER])?;
    let is_clsact = |answer: &Vec<u8>| {
        let mut rest = attributes(answer.get(HEADER..).unwrap_or(&[]));
        u32_at(answer, 4) == Some(ifindex)
            && rest.any(|(kind, value)| kind == libc::TCA_KIND && value == b"clsact\0")
    };
    Ok(answers.iter().any(is_clsact))
}

/// Removes the qdisc of a device, with every filter that it has.
pub fn remove_qdisc(ifindex: u32) -> io::Result<()> {
    let mut hook = hook(ifindex, BOTH);
    // SAFETY: as above.
    check(unsafe { libbpf_sys::bpf_tc_hook_destroy(&mut hook) }).map(|_| ())
}

/// Adds a filter after those that are there; the device has the qdisc.
pub fn add_filter(prog: &Prog, ifindex: u32, side: Side) -> io::Result<FilterId> {
    let last = filters(ifindex, side)?.iter().map(|f| f.id.priority).max();
    let hook = hook(ifindex, side.point());
    let mut opts = bpf_tc_opts {
        sz: size_of::<bpf_tc_opts>() as _,
        // Left to itself, the kernel puts it before the others.
        priority: last.map_or(0, |last| (last + 1).min(LAST_PRIORITY)),
        prog_fd: prog.as_fd().as_raw_fd(),
        ..bpf_tc_opts::default()
    };
    // SAFETY: both are plain data that says its own size.
    check(unsafe { libbpf_sys::bpf_tc_attach(&hook, &mut opts) })?;
    Ok(FilterId {
        handle: opts.handle,
        priority: opts.priority,
    })
}

/// Removes one filter.
pub fn remove_filter(ifindex: u32, side: Side, id: FilterId) -> io::Result<()> {
    let hook = hook(ifindex, side.point());
    let opts = bpf_tc_opts {
        sz: size_of::<bpf_tc_opts>() as _,
        handle: id.handle,
        priority: id.priority,
        ..bpf_tc_opts::default()
    };
    // SAFETY: both are plain data that says its own size.
    check(unsafe { libbpf_sys::bpf_tc_detach(&hook, &opts) }).map(|_| ())
}

/// Lists the filters of a device's side, of every kind; none if it has no qdisc for them.
pub fn filters(ifindex: u32, side: Side) -> io::Result<Vec<Filter>> {
    const KIND: u16 = libc::TCA_KIND;
    const OPTIONS: u16 = libc::TCA_OPTIONS;
    const BPF_NAME: u16 = 7;
    const BPF_ID: u16 = 11;
    /// `struct tcmsg`
    const HEADER: usize = 20;
    let mut question = vec![0; HEADER];
    question[4..8].copy_from_slice(&ifindex.to_ne_bytes());
    question[12..16].copy_from_slice(&side.parent().to_ne_bytes());
    let answers = match request(libc::RTM_GETTFILTER, libc::NLM_F_DUMP, &question) {
        Ok(answers) => answers,
        // A device without any such qdisc.
        Err(e) if matches!(e.raw_os_error(), Some(libc::EINVAL | libc::ENOENT)) => Vec::new(),
        Err(e) => return Err(e),
    };
    let mut found = Vec::new();
    for answer in &answers {
        let (Some(handle), Some(info), Some(rest)) =
            (u32_at(answer, 8), u32_at(answer, 16), answer.get(HEADER..))
        else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        // A priority as such comes before its filters, without a handle.
        if handle == 0 {
            continue;
        }
        let mut filter = Filter {
            id: FilterId {
                handle,
                priority: info >> 16,
            },
            name: String::new(),
            prog_id: 0,
        };
        let is_bpf = attributes(rest).any(|(k, value)| k == KIND && value == b"bpf\0");
        let options = attributes(rest).find(|(k, _)| is_bpf && *k == OPTIONS);
        for (kind, value) in options.into_iter().flat_map(|(_, o)| attributes(o)) {
            match kind {
                BPF_NAME => {
                    let text = value.strip_suffix(b"\0").unwrap_or(value);
                    filter.name = String::from_utf8_lossy(text).into_owned();
                }
                BPF_ID => filter.prog_id = u32_at(value, 0).unwrap_or(0),
                _ => {}
            }
        }
        found.push(filter);
    }
    Ok(found)
}
