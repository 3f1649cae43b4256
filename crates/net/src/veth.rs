//! Pairs of virtual Ethernet devices on which nothing is sent but what a test sends.

use crate::link::{self, End, Setup};
use crate::offloads::{self, Offload};
use std::io;

/// MTU of these devices. The largest packet in one buffer that native XDP takes on them is a little above this.
pub const MTU: u32 = 3400;
/// Largest MTU of these devices.
pub const LARGEST_MTU: u32 = 65_535;

/// Makes pairs of devices in this thread's namespace, up and silent: no addresses of their own, no
/// ARP, no merging of packets.
pub fn make_pairs(names: &[(String, String)]) -> io::Result<()> {
    make_pairs_for(names, MTU)
}

/// Makes pairs of devices like [`make_pairs`], for packets up to another size.
pub fn make_pairs_for(names: &[(String, String)], mtu: u32) -> io::Result<()> {
    for (one, other) in names {
        let end = |name| End {
            mtu: Some(mtu),
            ..End::here(name)
        };
        link::add_veth(end(one), end(other))?;
        for name in [one, other] {
            let silent = Setup {
                no_arp: true,
                no_own_address: true,
                ..Setup::default()
            };
            link::set_up(name, silent)?;
            offloads::set(name, Offload::Gro, false)?;
        }
    }
    for (one, other) in names {
        link::wait_until_running(one)?;
        link::wait_until_running(other)?;
    }
    Ok(())
}
