//! Drivers whose limits for XDP are known.

use net::offloads::ethtool;
use nix::unistd::{SysconfVar, sysconf};
use std::io;

/// The driver of an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Driver {
    /// Pairs of interfaces.
    Veth,
    /// Interfaces of virtual machines.
    VirtioNet,
    /// Any other, or one that is not known.
    Other,
}

impl Driver {
    /// Returns the driver of the interface of this name.
    pub(crate) fn of(name: &str) -> Driver {
        match driver_name(name).as_deref() {
            Ok("veth") => Driver::Veth,
            Ok("virtio_net") => Driver::VirtioNet,
            _ => Driver::Other,
        }
    }

    /// Returns the largest MTU at which packets reach an XDP program natively, in bytes. It is a page without the
    /// headroom, the Ethernet header and the kernel's own data after the packet (`struct skb_shared_info`). For
    /// virtio_net it is also without the device's header before the packet.
    pub(super) fn mtu_limit(self) -> Option<usize> {
        const HEADROOM: usize = 256;
        const ETHERNET: usize = 14;
        const BEHIND: usize = 320;
        /// `struct virtio_net_hdr_v1_hash`, the longest of them.
        const DEVICE_HEADER: usize = 20;
        let page = sysconf(SysconfVar::PAGE_SIZE).ok().flatten();
        let page = page.and_then(|page| usize::try_from(page).ok());
        let veth = page.unwrap_or(4096) - HEADROOM - ETHERNET - BEHIND;
        match self {
            Driver::Veth => Some(veth),
            Driver::VirtioNet => Some(veth - DEVICE_HEADER),
            Driver::Other => None,
        }
    }
}

fn driver_name(interface: &str) -> io::Result<String> {
    /// `struct ethtool_drvinfo`
    #[repr(C)]
    struct Info {
        command: u32,
        driver: [u8; 32],
        rest: [u8; 160],
    }
    const GET: u32 = 0x3;
    let mut found = Info {
        command: GET,
        driver: [0; 32],
        rest: [0; 160],
    };
    // SAFETY: the command writes this struct.
    unsafe { ethtool(interface, &mut found) }?;
    let bytes = found.driver.split(|byte| *byte == 0).next();
    Ok(String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::link::{self, End};
    use net::netns::NetNs;

    #[test]
    fn a_driver_is_known_by_its_name() {
        let ns = NetNs::new().expect("this test needs root");
        ns.run(|| {
            link::add_veth(End::here("one"), End::here("two"))?;
            assert_eq!(Driver::of("one"), Driver::Veth);
            assert_eq!(Driver::of("lo"), Driver::Other);
            assert_eq!(Driver::of("none"), Driver::Other);
            Ok(())
        })
        .expect("runs");
    }
}
