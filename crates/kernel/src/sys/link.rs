//! Attachments. A link holds a program on a device until its last descriptor and pin are gone.

use super::object::with_messages;
use super::{Prog, Side, check, open_pinned, own, pin};
use host::safe_dir::Dir;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Position in the receive path at which an XDP program runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum XdpMode {
    /// Native XDP: in the driver, before the kernel has made a socket buffer.
    Native,
    /// Generic XDP: in the network stack, for drivers without native XDP; slower.
    Generic,
}

impl XdpMode {
    /// The name for users.
    pub fn name(self) -> &'static str {
        match self {
            XdpMode::Native => "native",
            XdpMode::Generic => "generic",
        }
    }

    /// Returns the mode of this name, as [`XdpMode::name`] gives it.
    pub fn by_name(name: &str) -> Option<XdpMode> {
        [XdpMode::Native, XdpMode::Generic]
            .into_iter()
            .find(|m| m.name() == name)
    }
}

impl XdpMode {
    fn flag(self) -> u32 {
        match self {
            XdpMode::Native => libbpf_sys::XDP_FLAGS_DRV_MODE,
            XdpMode::Generic => libbpf_sys::XDP_FLAGS_SKB_MODE,
        }
    }
}

/// Asks a device without a program why it refuses a program that a link was refused for, and returns the driver's
/// reason. The refusal of a link comes without that reason; netlink gives it.
pub fn driver_words(prog: &Prog, ifindex: u32, mode: XdpMode) -> Option<String> {
    let flags = mode.flag() | libbpf_sys::XDP_FLAGS_UPDATE_IF_NOEXIST;
    let (ifindex, fd) = (ifindex as i32, prog.as_fd().as_raw_fd());
    let (refused, messages) = with_messages(|| {
        // SAFETY: no pointers but the options', which are not given.
        check(unsafe { libbpf_sys::bpf_xdp_attach(ifindex, fd, flags, std::ptr::null()) })
    });
    if refused.is_ok() {
        // The obstacle is gone meanwhile. Without a link, nothing would detach the program again.
        // SAFETY: as above.
        unsafe { libbpf_sys::bpf_xdp_detach(ifindex, mode.flag(), std::ptr::null()) };
        return None;
    }
    let messages = messages
        .lines()
        .find_map(|line| line.split_once("Kernel error message: "));
    Some(messages?.1.trim().trim_end_matches('.').to_owned()).filter(|words| !words.is_empty())
}

/// An XDP program found on a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct XdpSeen {
    /// The kernel's number for the program.
    pub prog_id: u32,
    /// Mode of the attachment; `None` if it is neither of the two.
    pub mode: Option<XdpMode>,
}

fn query(ifindex: u32) -> io::Result<libbpf_sys::bpf_xdp_query_opts> {
    let mut opts = libbpf_sys::bpf_xdp_query_opts::default();
    opts.sz = size_of_val(&opts) as _;
    // SAFETY: `opts` is plain data that says its own size.
    check(unsafe { libbpf_sys::bpf_xdp_query(ifindex as i32, 0, &mut opts) })?;
    Ok(opts)
}

/// Position of a new tcx link among those that are there.
#[derive(Debug)]
pub enum Neighbour {
    /// The new one runs before all others.
    BeforeAll,
    /// The new one runs before it.
    Before(Link),
    /// The new one runs after it.
    After(Link),
}

/// Returns true if the kernel reports that a device currently takes packets which native XDP programs redirect to it.
/// Before Linux 6.3 the kernel reports that for no device.
pub fn takes_redirected(ifindex: u32) -> io::Result<bool> {
    /// `NETDEV_XDP_ACT_NDO_XMIT`
    const TRANSMITS: u64 = 4;
    Ok(query(ifindex)?.feature_flags & TRANSMITS != 0)
}

/// Returns true if a device may have native XDP. Its driver reports that; before Linux 6.3 no driver does, and any
/// device but loopback may.
pub fn may_be_native(ifindex: u32) -> bool {
    /// `NETDEV_XDP_ACT_BASIC`
    const BASIC: u64 = 1;
    let found = query(ifindex).is_ok_and(|found| found.feature_flags & BASIC != 0);
    found || host::linux::kernel_version() < (6, 3) && ifindex != LOOPBACK
}

/// Index of the loopback device.
const LOOPBACK: u32 = 1;

/// Returns the XDP program that a device has.
pub fn xdp_on(ifindex: u32) -> io::Result<Option<XdpSeen>> {
    let opts = query(ifindex)?;
    let seen = [
        (opts.drv_prog_id, Some(XdpMode::Native)),
        (opts.skb_prog_id, Some(XdpMode::Generic)),
        (opts.hw_prog_id, None),
        (opts.prog_id, None),
    ];
    Ok(seen
        .into_iter()
        .find(|(id, _)| *id != 0)
        .map(|(prog_id, mode)| XdpSeen { prog_id, mode }))
}

/// Returns the kernel's numbers for the programs that a device's side has by tcx, in the order in which they run; at
/// most 64. A kernel without tcx has none.
pub fn tcx_on(ifindex: u32, side: Side) -> io::Result<Vec<u32>> {
    let mut ids = [0u32; 64];
    let mut opts = libbpf_sys::bpf_prog_query_opts::default();
    opts.sz = size_of_val(&opts) as _;
    opts.prog_ids = ids.as_mut_ptr();
    opts.__bindgen_anon_1.prog_cnt = ids.len() as u32;
    // SAFETY: the options hold how many numbers there is room for.
    let asked =
        unsafe { libbpf_sys::bpf_prog_query_opts(ifindex as i32, tcx_point(side), &mut opts) };
    match check(asked) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => return Ok(Vec::new()),
        other => other?,
    };
    // SAFETY: both parts of the union are the same number.
    let count = unsafe { opts.__bindgen_anon_1.prog_cnt };
    Ok(ids[..ids.len().min(count as usize)].to_vec())
}

fn tcx_point(side: Side) -> libbpf_sys::bpf_attach_type {
    match side {
        Side::Ingress => libbpf_sys::BPF_TCX_INGRESS,
        Side::Egress => libbpf_sys::BPF_TCX_EGRESS,
    }
}

/// Returns the numbers of all links in the kernel.
pub fn link_ids() -> io::Result<Vec<u32>> {
    let mut ids = Vec::new();
    let mut id = 0;
    loop {
        // SAFETY: `id` is written by the call.
        match check(unsafe { libbpf_sys::bpf_link_get_next_id(id, &mut id) }) {
            Ok(_) => ids.push(id),
            Err(e) if e.raw_os_error() == Some(libc::ENOENT) => return Ok(ids),
            Err(e) => return Err(e),
        }
    }
}

/// An attachment.
#[derive(Debug)]
pub struct Link {
    fd: OwnedFd,
}

impl Link {
    /// Puts an XDP program on a device that has none.
    pub fn attach_xdp(prog: &Prog, ifindex: u32, mode: XdpMode) -> io::Result<Link> {
        let mut opts = libbpf_sys::bpf_link_create_opts::default();
        opts.sz = size_of_val(&opts) as _;
        opts.flags = mode.flag();
        Link::create(prog, ifindex, libbpf_sys::BPF_XDP, &opts)
    }

    /// Puts a tc program on a device's ingress or egress, after those that are there.
    pub fn attach_tcx(prog: &Prog, ifindex: u32, side: Side) -> io::Result<Link> {
        Link::attach_tcx_at(prog, ifindex, side, None)
    }

    /// Puts a tc program at a position among those that are there.
    pub fn attach_tcx_at(
        prog: &Prog,
        ifindex: u32,
        side: Side,
        beside: Option<&Neighbour>,
    ) -> io::Result<Link> {
        const BEFORE: u32 = 1 << 3;
        const AFTER: u32 = 1 << 4;
        const IS_LINK: u32 = 1 << 13;
        let mut opts = libbpf_sys::bpf_link_create_opts::default();
        opts.sz = size_of_val(&opts) as _;
        let beside = beside.map(|beside| match beside {
            Neighbour::BeforeAll => (BEFORE, None),
            Neighbour::Before(link) => (BEFORE, Some(link)),
            Neighbour::After(link) => (AFTER, Some(link)),
        });
        if let Some((where_, link)) = beside {
            opts.flags = where_;
            if let Some(link) = link {
                opts.flags |= IS_LINK;
                opts.__bindgen_anon_1.tcx.relative_fd = link.fd.as_raw_fd() as u32;
            }
        }
        Link::create(prog, ifindex, tcx_point(side), &opts)
    }

    fn create(
        prog: &Prog,
        ifindex: u32,
        point: libbpf_sys::bpf_attach_type,
        opts: &libbpf_sys::bpf_link_create_opts,
    ) -> io::Result<Link> {
        // SAFETY: the options are plain data that outlives the call.
        Ok(Link {
            fd: own(unsafe {
                libbpf_sys::bpf_link_create(prog.as_fd().as_raw_fd(), ifindex as i32, point, opts)
            })?,
        })
    }

    /// Replaces the program of the link by another one of the same kind, atomically.
    pub fn update(&self, prog: &Prog) -> io::Result<()> {
        // SAFETY: no pointers but the options', which are not given.
        check(unsafe {
            libbpf_sys::bpf_link_update(
                self.fd.as_raw_fd(),
                prog.as_fd().as_raw_fd(),
                std::ptr::null(),
            )
        })
        .map(|_| ())
    }

    /// Opens a pinned attachment.
    pub fn open(folder: &Dir, name: &str) -> io::Result<Link> {
        Ok(Link {
            fd: open_pinned(folder, name)?,
        })
    }

    /// Pins it: it then outlives this process.
    pub fn pin(&self, folder: &Dir, name: &str) -> io::Result<()> {
        pin(self.fd.as_raw_fd(), folder, name)
    }

    /// Detaches the program from the device at once, even if others hold the link.
    pub fn detach(&self) -> io::Result<()> {
        // SAFETY: no pointers.
        check(unsafe { libbpf_sys::bpf_link_detach(self.fd.as_raw_fd()) }).map(|_| ())
    }

    /// Returns the index of the device it is on, in the network namespace that the device is in now. It is 0 once the
    /// device is gone or the link detached.
    pub fn ifindex(&self) -> io::Result<u32> {
        let info = self.info()?;
        // SAFETY: both XDP and tcx links begin their part of the union with the device's index.
        Ok(unsafe { info.__bindgen_anon_1.xdp.ifindex })
    }

    /// Returns the kernel's number for its program.
    pub fn program(&self) -> io::Result<u32> {
        self.info().map(|info| info.prog_id)
    }

    fn info(&self) -> io::Result<libbpf_sys::bpf_link_info> {
        let mut info = libbpf_sys::bpf_link_info::default();
        let mut len = size_of_val(&info) as u32;
        // SAFETY: `info` is `len` bytes of plain data.
        check(unsafe {
            libbpf_sys::bpf_link_get_info_by_fd(self.fd.as_raw_fd(), &mut info, &mut len)
        })?;
        Ok(info)
    }
}

/// An attachment that ends when this is dropped. A dropped [`Link`] lasts as long as another process has it open. A
/// process that another thread starts at that moment has it open, until it executes its program.
#[derive(Debug)]
pub struct Attached(Link);

impl Link {
    /// Ties the attachment to the returned value.
    pub fn until_dropped(self) -> Attached {
        Attached(self)
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        // Fails only if the device is gone, and the attachment with it.
        let _ = self.0.detach();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::linux::kernel_version;
    use net::netns::NetNs;
    use nix::net::if_::if_nametoindex;

    fn id(prog: &Prog) -> u32 {
        prog.info().expect("is loaded").id
    }

    #[test]
    fn a_veth_takes_redirected_packets_if_the_other_end_has_a_program() {
        let ns = NetNs::new().expect("this test needs root");
        let pass = Prog::constant_xdp(2).expect("loads");
        let seen = ns.run(|| {
            net::veth::make_pairs(&[("one".into(), "two".into())])?;
            let [one, two] = ["one", "two"].map(|name| if_nametoindex(name).expect("there"));
            let before = takes_redirected(one)?;
            let _link = Link::attach_xdp(&pass, two, XdpMode::Native)?;
            Ok([before, takes_redirected(one)?, takes_redirected(LOOPBACK)?])
        });
        let reported = kernel_version() >= (6, 3);
        assert_eq!(seen.expect("asks"), [false, reported, false]);
    }

    #[test]
    fn a_link_takes_another_program() {
        let ns = NetNs::new().expect("this test needs root");
        let [first, second] = [1, 2].map(|verdict| Prog::constant_xdp(verdict).expect("loads"));
        let seen = ns.run(|| {
            let link = Link::attach_xdp(&first, LOOPBACK, XdpMode::Generic)?;
            let before = xdp_on(LOOPBACK)?.map(|seen| seen.prog_id);
            link.update(&second)?;
            Ok([before, xdp_on(LOOPBACK)?.map(|seen| seen.prog_id)])
        });
        let expected = [Some(id(&first)), Some(id(&second))];
        assert_eq!(seen.expect("attaches"), expected);
    }

    #[test]
    fn an_attachment_ends_though_others_hold_its_link() {
        let ns = NetNs::new().expect("this test needs root");
        let pass = Prog::constant_xdp(2).expect("loads");
        let attach = || Link::attach_xdp(&pass, LOOPBACK, XdpMode::Generic);
        let seen = ns.run(|| {
            let link = attach()?;
            let held = link.fd.try_clone()?;
            drop(link);
            let taken = attach().expect_err("the device is taken").raw_os_error();
            Link {
                fd: held.try_clone()?,
            }
            .detach()?;
            drop(attach()?.until_dropped());
            let link = attach()?;
            let held = (held, link.fd.try_clone()?);
            drop(link.until_dropped());
            attach()?;
            drop(held);
            Ok(taken)
        });
        assert_eq!(seen.expect("attaches"), Some(libc::EBUSY));
    }

    #[test]
    fn tcx_takes_another_program_or_is_not_there() {
        let ns = NetNs::new().expect("this test needs root");
        let [first, second] = [-1, 2].map(|verdict| Prog::constant_tc(verdict).expect("loads"));
        let there = || tcx_on(LOOPBACK, Side::Ingress).expect("asks");
        let seen = ns.run(|| {
            let link = Link::attach_tcx(&first, LOOPBACK, Side::Ingress)?;
            let before = there();
            link.update(&second)?;
            Ok([before, there()])
        });
        if kernel_version() >= (6, 6) {
            let expected = [vec![id(&first)], vec![id(&second)]];
            assert_eq!(seen.expect("attaches"), expected);
        } else {
            // By this error a filter is tried instead.
            let error = seen.expect_err("Linux 6.6 brought it");
            assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
            assert_eq!(there(), [0u32; 0]);
        }
    }
}
