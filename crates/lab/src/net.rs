//! Two ends, next to each other or with a relay between them.

use crate::relay::{Relay, Way};
use crate::space::Space;
use kernel::veth::RawSocket;
use std::io;
use std::net::Ipv6Addr;

/// The client's address.
pub const CLIENT: Ipv6Addr = Ipv6Addr::new(0xfd00, 7, 0, 0, 0, 0, 0, 1);
/// The server's address.
pub const SERVER: Ipv6Addr = Ipv6Addr::new(0xfd00, 7, 0, 0, 0, 0, 0, 2);

/// What the ends leave to their devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offloads {
    /// Segmentation and checksums when sending; packets are merged when they come in.
    All,
    /// Segmentation after traffic control, by software, checksums complete; packets are merged when they come in.
    Software,
    /// Nothing: each packet is whole everywhere.
    None,
}

impl Offloads {
    fn settings(self) -> [(&'static str, &'static str); 4] {
        match self {
            Offloads::All => [("tx", "on"), ("tso", "on"), ("gso", "on"), ("gro", "on")],
            Offloads::Software => [("tx", "off"), ("tso", "off"), ("gso", "on"), ("gro", "on")],
            Offloads::None => [
                ("tx", "off"),
                ("tso", "off"),
                ("gso", "off"),
                ("gro", "off"),
            ],
        }
    }
}

/// The two devices and how they are set.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// What both leave to the device. A relay needs packets as they are on the wire: not [`Offloads::All`].
    pub offloads: Offloads,
    /// Of both devices, in bytes.
    pub mtu: u32,
}

impl Default for Ends {
    fn default() -> Ends {
        Ends {
            offloads: Offloads::All,
            mtu: 1500,
        }
    }
}

/// Something with a client and a server. The client's device is `c0`, the server's `s0`.
pub trait Route {
    /// The namespace that has [`CLIENT`].
    fn client(&self) -> &Space;
    /// The namespace that has [`SERVER`].
    fn server(&self) -> &Space;
}

/// Two namespaces, joined directly.
#[derive(Debug)]
pub struct Pair {
    client: Space,
    server: Space,
}

impl Pair {
    /// Makes both.
    pub fn new(ends: Ends) -> io::Result<Pair> {
        let pair = Pair {
            client: Space::new()?,
            server: Space::new()?,
        };
        join(&pair.client, "c0", &pair.server, "s0")?;
        set_up_ends(&pair, ends)?;
        Ok(pair)
    }
}

impl Route for Pair {
    fn client(&self) -> &Space {
        &self.client
    }
    fn server(&self) -> &Space {
        &self.server
    }
}

/// Two namespaces, and a third in which a [`Relay`] takes packets from one to the other.
#[derive(Debug)]
pub struct Relayed {
    client: Space,
    server: Space,
    middle: Space,
}

impl Relayed {
    /// Makes all three. No packet gets through before [`Relayed::relay`].
    pub fn new(ends: Ends) -> io::Result<Relayed> {
        if ends.offloads == Offloads::All {
            return Err(io::Error::other(
                "a relay takes packets as they are on the wire: the ends' devices must not leave \
                 segmentation and checksums to it",
            ));
        }
        let net = Relayed {
            client: Space::new()?,
            server: Space::new()?,
            middle: Space::new()?,
        };
        join(&net.client, "c0", &net.middle, "mc")?;
        join(&net.server, "s0", &net.middle, "ms")?;
        set_up_ends(&net, ends)?;
        for device in ["mc", "ms"] {
            // The relay's own network stack has no part in it.
            net.middle
                .set(&format!("ipv6/conf/{device}/disable_ipv6"), "1")?;
            net.middle
                .ip(&format!("link set dev {device} mtu 9000 up\n"))?;
        }
        Ok(net)
    }

    /// Starts a relay, which works until it is dropped.
    pub fn relay(&self, to_server: Way, to_client: Way) -> io::Result<Relay> {
        let (client, server) = self
            .middle
            .run(|| Ok((RawSocket::open("mc")?, RawSocket::open("ms")?)))?;
        Relay::start(client, server, to_server, to_client)
    }
}

impl Route for Relayed {
    fn client(&self) -> &Space {
        &self.client
    }
    fn server(&self) -> &Space {
        &self.server
    }
}

fn join(a: &Space, a_device: &str, b: &Space, b_device: &str) -> io::Result<()> {
    a.ip(&format!(
        "link add {a_device} type veth peer name {b_device} netns {}\n",
        b.path()
    ))
}

fn set_up_ends(net: &impl Route, ends: Ends) -> io::Result<()> {
    let link = |n: u8| format!("02:00:00:00:00:{n:02x}");
    let sides = [
        (net.client(), "c0", CLIENT, 1, SERVER, 2),
        (net.server(), "s0", SERVER, 2, CLIENT, 1),
    ];
    for (space, device, own, number, other, other_number) in sides {
        space.ip(&format!(
            "link set dev {device} addrgenmode none address {} mtu {}\n\
             link set dev {device} up\n\
             addr add {own}/64 dev {device} nodad\n\
             neigh add {other} lladdr {} dev {device} nud permanent\n",
            link(number),
            ends.mtu,
            link(other_number)
        ))?;
        let settings = ends.offloads.settings();
        let mut words = vec!["ethtool", "-K", device];
        words.extend(settings.iter().flat_map(|(what, how)| [*what, *how]));
        space.output(&words)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_reach_each_other_and_only_they() {
        for offloads in [Offloads::All, Offloads::Software, Offloads::None] {
            let ends = Ends {
                offloads,
                ..Ends::default()
            };
            let pair = Pair::new(ends).expect("this test needs root");
            let server = SERVER.to_string();
            pair.client()
                .output(&["ping", "-6", "-c1", "-W5", &server])
                .expect("answers");
        }
    }

    #[test]
    fn a_relay_refuses_ends_that_leave_work_to_it() {
        let error = Relayed::new(Ends::default()).expect_err("refused");
        assert!(error.to_string().contains("on the wire"), "{error}");
    }
}
