//! Network of a client, a router and a server: three namespaces. The router forwards by the kernel's stack, and the
//! devices have the offloads that Linux gives them.

use lab::{Route, Space};
use net::link::{self, End, Setup};
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;

/// Addresses of the client, of the router's two interfaces, and of the server.
pub(super) const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 77, 1, 1);
pub(super) const INSIDE: Ipv4Addr = Ipv4Addr::new(10, 77, 1, 254);
pub(super) const OUTSIDE: Ipv4Addr = Ipv4Addr::new(10, 77, 2, 254);
pub(super) const SERVER: Ipv4Addr = Ipv4Addr::new(10, 77, 2, 1);

/// The client's device.
pub(super) const CLIENT_DEVICE: &str = "c0";
/// The router's device towards the client.
pub(super) const INSIDE_DEVICE: &str = "rc";
/// The router's device towards the server.
pub(super) const OUTSIDE_DEVICE: &str = "rs";
const SERVER_DEVICE: &str = "s0";

/// Link-layer addresses. Each side's far end has the address of the router's other interface, so that a program that
/// forwards frames as they are reaches the server as the router does.
const TO_SERVER: [u8; 6] = [2, 0, 0, 0, 77, 1];
const TO_CLIENT: [u8; 6] = [2, 0, 0, 0, 77, 2];

/// Offloads of the ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ends {
    /// As Linux sets them.
    Usual,
    /// No segmentation offload and no merging, for a program that takes whole packets only.
    Plain,
}

/// Client, router and server.
#[derive(Debug)]
pub(super) struct Network {
    client: Space,
    pub(super) router: Space,
    server: Space,
}

impl Route for Network {
    fn client(&self) -> &Space {
        &self.client
    }
    fn server(&self) -> &Space {
        &self.server
    }
}

impl Network {
    /// Makes all three namespaces.
    pub(super) fn new(ends: Ends) -> io::Result<Network> {
        let network = Network {
            client: Space::new()?,
            router: Space::new()?,
            server: Space::new()?,
        };
        let Network {
            client,
            router,
            server,
        } = &network;
        join(router, INSIDE_DEVICE, client, CLIENT_DEVICE)?;
        join(router, OUTSIDE_DEVICE, server, SERVER_DEVICE)?;
        let sides = [
            (client, CLIENT_DEVICE, CLIENT, TO_CLIENT, INSIDE, TO_SERVER),
            (router, INSIDE_DEVICE, INSIDE, TO_SERVER, CLIENT, TO_CLIENT),
            (
                router,
                OUTSIDE_DEVICE,
                OUTSIDE,
                TO_CLIENT,
                SERVER,
                TO_SERVER,
            ),
            (server, SERVER_DEVICE, SERVER, TO_SERVER, OUTSIDE, TO_CLIENT),
        ];
        for (space, device, own, address, other, other_address) in sides {
            space.run(|| {
                let setup = Setup {
                    address: Some(address),
                    no_own_address: true,
                    ..Setup::default()
                };
                link::set_up(device, setup)?;
                link::add_address(device, own.into(), 24)?;
                link::add_neighbour(device, other.into(), other_address)
            })?;
            if ends == Ends::Plain {
                let off = ["ethtool", "-K", device];
                let what = ["tso", "off", "gso", "off", "gro", "off", "tx", "off"];
                space.output(&[&off[..], &what[..]].concat())?;
            }
        }
        for (space, device, _, _, via, _) in [&sides[0], &sides[3]] {
            let via = via.to_string();
            space.output(&["ip", "route", "add", "default", "via", &via, "dev", device])?;
        }
        for (space, device, ..) in sides {
            space.run(|| link::wait_until_running(device))?;
        }
        router.set("ipv4/ip_forward", "1")?;
        // Thousands of connections at a time, to one server.
        client.set("ipv4/ip_local_port_range", "10000 65000")?;
        for (name, value) in [
            ("core/somaxconn", "65535"),
            ("ipv4/tcp_max_syn_backlog", "65535"),
        ] {
            server.set(name, value)?;
            router.set(name, value)?;
        }
        Ok(network)
    }
}

fn join(one: &Space, one_device: &str, other: &Space, other_device: &str) -> io::Result<()> {
    let far = End {
        netns: Some(other.as_fd()),
        ..End::here(other_device)
    };
    one.run(|| link::add_veth(End::here(one_device), far))
}
