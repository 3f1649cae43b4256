//! Networks of two ends, joined directly or through a relay.

use crate::relay::{Conditions, Relay};
use crate::space::Space;
use net::link::{self, End, Setup};
use net::offloads::{self, Offload};
use net::raw_socket::RawSocket;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// The client's address.
pub const CLIENT: Ipv6Addr = Ipv6Addr::new(0xfd00, 7, 0, 0, 0, 0, 0, 1);
/// The server's address.
pub const SERVER: Ipv6Addr = Ipv6Addr::new(0xfd00, 7, 0, 0, 0, 0, 0, 2);

/// The client's IPv4 address.
pub const CLIENT_V4: Ipv4Addr = Ipv4Addr::new(10, 7, 0, 1);
/// The server's IPv4 address.
pub const SERVER_V4: Ipv4Addr = Ipv4Addr::new(10, 7, 0, 2);

/// Offloads of the ends' devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offloads {
    /// Segmentation and checksums by the device; received packets are merged.
    All,
    /// Segmentation by software after traffic control, with complete checksums; received packets are merged.
    Software,
    /// No offloads: no packet is split or merged.
    None,
}

impl Offloads {
    /// Returns each offload with its state, in the order in which they are set: segmentation needs checksums.
    fn settings(self) -> [(Offload, bool); 4] {
        let (by_device, by_software) = match self {
            Offloads::All => (true, true),
            Offloads::Software => (false, true),
            Offloads::None => (false, false),
        };
        [
            (Offload::TxChecksum, by_device),
            (Offload::Tso, by_device),
            (Offload::Gso, by_software),
            (Offload::Gro, by_software),
        ]
    }
}

/// Settings of the two devices.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// Offloads of both devices. A relay needs packets as they are on the wire: not [`Offloads::All`].
    pub offloads: Offloads,
    /// MTU of both devices, in bytes.
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

/// Network with a client and a server. The client's device is `c0`, the server's `s0`.
pub trait Route {
    /// Returns the namespace that has [`CLIENT`].
    fn client(&self) -> &Space;
    /// Returns the namespace that has [`SERVER`].
    fn server(&self) -> &Space;
}

/// Two namespaces, joined directly.
#[derive(Debug)]
pub struct Pair {
    client: Space,
    server: Space,
}

impl Pair {
    /// Makes both namespaces and joins them.
    pub fn new(ends: Ends) -> io::Result<Pair> {
        let pair = Pair {
            client: Space::new()?,
            server: Space::new()?,
        };
        join(&pair.client, "c0", &pair.server, "s0")?;
        set_up_ends(&pair, ends)?;
        wait_for_wire((&pair.client, "c0"), (&pair.server, "s0"))?;
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

/// Two namespaces, and a third one between them. A [`Relay`] or a program in the third one forwards packets. Its
/// devices are `mc`, to the client, and `ms`, to the server.
#[derive(Debug)]
pub struct Relayed {
    client: Space,
    server: Space,
    middle: Space,
}

impl Relayed {
    /// Makes all three namespaces. No packet gets through before [`Relayed::relay`].
    pub fn new(ends: Ends) -> io::Result<Relayed> {
        if ends.offloads == Offloads::All {
            return Err(io::Error::other(
                "a relay takes packets as they are on the wire: the ends' devices must not leave \
                 segmentation and checksums to it",
            ));
        }
        Relayed::programmed(ends)
    }

    /// Makes all three namespaces for a program, which gets packets as the ends' stacks make them.
    pub fn programmed(ends: Ends) -> io::Result<Relayed> {
        let net = Relayed {
            client: Space::new()?,
            server: Space::new()?,
            middle: Space::new()?,
        };
        join(&net.client, "c0", &net.middle, "mc")?;
        join(&net.server, "s0", &net.middle, "ms")?;
        set_up_ends(&net, ends)?;
        for device in ["mc", "ms"] {
            // The middle's own network stack must not send anything.
            net.middle
                .set(&format!("ipv6/conf/{device}/disable_ipv6"), "1")?;
            let wide = Setup {
                mtu: Some(9000),
                ..Setup::default()
            };
            net.middle.run(|| link::set_up(device, wide))?;
        }
        wait_for_wire((&net.client, "c0"), (&net.middle, "mc"))?;
        wait_for_wire((&net.server, "s0"), (&net.middle, "ms"))?;
        Ok(net)
    }

    /// Returns the namespace between the ends.
    pub fn middle(&self) -> &Space {
        &self.middle
    }

    /// Starts a relay, which works until it is dropped.
    pub fn relay(&self, to_server: Conditions, to_client: Conditions) -> io::Result<Relay> {
        Relay::between(&self.middle, ["mc", "ms"], to_server, to_client)
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

fn join(one: &Space, one_device: &str, other: &Space, other_device: &str) -> io::Result<()> {
    let far = End {
        netns: Some(other.as_fd()),
        ..End::here(other_device)
    };
    one.run(|| link::add_veth(End::here(one_device), far))
}

fn set_up_ends(net: &impl Route, ends: Ends) -> io::Result<()> {
    let link_address = |number: u8| [2, 0, 0, 0, 0, number];
    let sides = [
        (
            net.client(),
            "c0",
            (CLIENT, CLIENT_V4, 1),
            (SERVER, SERVER_V4, 2),
        ),
        (
            net.server(),
            "s0",
            (SERVER, SERVER_V4, 2),
            (CLIENT, CLIENT_V4, 1),
        ),
    ];
    for (space, device, (own, own_v4, number), (other, other_v4, other_number)) in sides {
        space.run(|| {
            let setup = Setup {
                mtu: Some(ends.mtu),
                address: Some(link_address(number)),
                no_own_address: true,
                ..Setup::default()
            };
            link::set_up(device, setup)?;
            link::add_address(device, own.into(), 64)?;
            link::wait_until_local(own)?;
            link::add_address(device, own_v4.into(), 24)?;
            for other in [other.into(), other_v4.into()] {
                link::add_neighbour(device, other, link_address(other_number))?;
            }
            for (offload, on) in ends.offloads.settings() {
                offloads::set(device, offload, on)?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Waits until two joined devices carry frames in both directions. On a busy machine this happens some time after they
/// are up.
fn wait_for_wire(one: (&Space, &str), other: (&Space, &str)) -> io::Result<()> {
    let open = |(space, device): (&Space, &str)| {
        space.run(|| {
            link::wait_until_running(device)?;
            RawSocket::open(device)
        })
    };
    let (one, other) = (open(one)?, open(other)?);
    wait_until_carried(&one, &other)?;
    wait_until_carried(&other, &one)
}

/// Sends frames of a type that no network stack knows, until one arrives. Then it waits for the others, which a relay
/// would count as traffic.
fn wait_until_carried(from: &RawSocket, to: &RawSocket) -> io::Result<()> {
    /// Broadcast frame with the EtherType for local experiments.
    const FRAME: [u8; 60] = {
        let mut frame = [0; 60];
        let mut i = 0;
        while i < 6 {
            frame[i] = 0xff;
            i += 1;
        }
        frame[6] = 2;
        frame[12] = 0x88;
        frame[13] = 0xb5;
        frame
    };
    const PATIENCE: Duration = Duration::from_secs(20);
    const LAST: Duration = Duration::from_millis(200);
    let begun = Instant::now();
    let (mut sent, mut arrived) = (0, 0);
    let mut first: Option<Instant> = None;
    while begun.elapsed() < PATIENCE {
        if first.is_none() && from.send(&FRAME).is_ok() {
            sent += 1;
        }
        to.wait(10)?;
        while let Some(frame) = to.receive()? {
            arrived += u32::from(frame.bytes == FRAME);
        }
        if arrived > 0 {
            let first = *first.get_or_insert_with(Instant::now);
            if arrived >= sent || first.elapsed() > LAST {
                return Ok(());
            }
        }
    }
    Err(io::Error::other(
        "two devices that are joined carry no frames",
    ))
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
