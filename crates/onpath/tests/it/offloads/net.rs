//! Network of a client, a server and routers between them, all with interfaces in Linux's default settings.
//!
//! The client has 10.0.1.2 and 02:00:00:00:01:02, the server 10.0.2.2 and 02:00:00:00:02:02. A router's ports 0 and 1
//! are `left`, towards the client, and `right`. The first one's left port has 02:00:00:00:01:01, the last one's right
//! port 02:00:00:00:02:01; between router N and the next one it is 02:00:00:00:1N:01 and 02:00:00:00:1N:02.

use super::cases::{Case, Stands};
use lab::{Space, Task};
use net::link::{self, End};
use std::io;
use std::os::fd::AsFd;

const CLIENT: &str = "02:00:00:00:01:02";
const SERVER: &str = "02:00:00:00:02:02";
/// MTU between routers, with room for encapsulation, in bytes.
const CORE_MTU: u32 = 2000;

pub(super) struct Net {
    pub client: Space,
    pub server: Space,
    /// Namespaces in which the programs run, from the client to the server.
    pub routers: Vec<Space>,
    /// Linux router whose program is at two sticks, if there is one.
    pub linux: Option<Space>,
    /// Processes in all namespaces, by which Onpath finds the namespaces of other ends.
    _processes: Vec<Task>,
}

impl Net {
    pub(super) fn new(case: &Case) -> io::Result<Net> {
        let mut net = Net {
            client: quiet()?,
            server: quiet()?,
            routers: Vec::new(),
            linux: None,
            _processes: Vec::new(),
        };
        for _ in case.routers {
            net.routers.push(quiet()?);
        }
        let last = net.routers.len() - 1;
        for n in 0..=net.routers.len() {
            let left = match n {
                0 => (&net.client, "c0", CLIENT.to_owned()),
                _ => (&net.routers[n - 1], "right", right_of(n - 1, last)),
            };
            let right = match net.routers.get(n) {
                Some(router) => (router, "left", left_of(n)),
                None => (&net.server, "s0", SERVER.to_owned()),
            };
            let inner = n > 0 && n <= last;
            join([left, right], inner.then_some(CORE_MTU))?;
        }
        let (to_client, to_server) = match case.switched {
            true => (SERVER.to_owned(), CLIENT.to_owned()),
            false => (left_of(0), right_of(last, last)),
        };
        host(&net.client, "c0", "10.0.1", &to_client)?;
        host(&net.server, "s0", "10.0.2", &to_server)?;
        let own = case.listener.split(':').next().unwrap_or_default();
        if own != "10.0.2.2" {
            shell(&net.server, &format!("ip address add {own}/32 dev lo"))?;
        }
        for n in 0..=last {
            let left = match n {
                0 => CLIENT.to_owned(),
                _ => right_of(n - 1, last),
            };
            let right = match n == last {
                true => SERVER.to_owned(),
                false => left_of(n + 1),
            };
            let stands = case.routers[n].stands;
            if stands != Stands::Alone {
                linux_router(&net.routers[n], &left, &right)?;
            }
            if stands == Stands::AtSticks {
                let program = quiet()?;
                sticks(&net.routers[n], &program)?;
                net.linux = Some(std::mem::replace(&mut net.routers[n], program));
            }
        }
        for space in [&net.client, &net.server].into_iter().chain(&net.linux) {
            net._processes.push(space.start(&["sleep", "600"])?);
        }
        for space in &net.routers {
            net._processes.push(space.start(&["sleep", "600"])?);
        }
        Ok(net)
    }

    /// Returns the other ends of the programs' interfaces that have no program.
    pub(super) fn ends(&self) -> Vec<(&Space, &'static str)> {
        match &self.linux {
            Some(linux) => vec![(linux, "stick0"), (linux, "stick1")],
            None => vec![(&self.client, "c0"), (&self.server, "s0")],
        }
    }

    /// Limits the hosts' packets to one segment.
    pub(super) fn one_segment(&self) -> io::Result<()> {
        self.client.one_segment("c0")?;
        self.server.one_segment("s0")
    }
}

/// Returns a namespace in which only tests send packets.
fn quiet() -> io::Result<Space> {
    let space = Space::new()?;
    for which in ["all", "default"] {
        space.set(&format!("ipv6/conf/{which}/disable_ipv6"), "1")?;
        space.set(&format!("ipv4/conf/{which}/rp_filter"), "0")?;
    }
    Ok(space)
}

fn left_of(router: usize) -> String {
    match router {
        0 => "02:00:00:00:01:01".to_owned(),
        _ => format!("02:00:00:00:1{router}:02"),
    }
}

fn right_of(router: usize, last: usize) -> String {
    match router == last {
        true => "02:00:00:00:02:01".to_owned(),
        false => format!("02:00:00:00:1{}:01", router + 1),
    }
}

/// Joins two ends, each given by its namespace, name and address.
fn join([one, other]: [(&Space, &str, String); 2], mtu: Option<u32>) -> io::Result<()> {
    let far = End {
        netns: Some(other.0.as_fd()),
        mtu,
        ..End::here(other.1)
    };
    let near = End {
        mtu,
        ..End::here(one.1)
    };
    one.0.run(|| link::add_veth(near, far))?;
    for (space, name, address) in [&one, &other] {
        shell(space, &format!("ip link set {name} address {address} up"))?;
    }
    for (space, name, _) in [&one, &other] {
        space.run(|| link::wait_until_running(name))?;
    }
    Ok(())
}

/// Sets up a host that reaches all others through one link address.
fn host(space: &Space, device: &str, network: &str, behind: &str) -> io::Result<()> {
    shell(
        space,
        &format!(
            "ip address add {network}.2/24 dev {device}
             ip neighbour add {network}.1 lladdr {behind} dev {device}
             ip route add default via {network}.1 dev {device}"
        ),
    )
}

fn linux_router(space: &Space, left: &str, right: &str) -> io::Result<()> {
    space.set("ipv4/ip_forward", "1")?;
    shell(
        space,
        &format!(
            "ip neighbour add 169.254.0.1 lladdr {left} dev left
             ip neighbour add 169.254.0.2 lladdr {right} dev right
             ip route add 10.0.1.0/24 via 169.254.0.1 dev left onlink
             ip route add default via 169.254.0.2 dev right onlink"
        ),
    )
}

/// Makes a Linux router send packets from either side to a stick, from which they come back: packets for the server
/// at the first stick, and packets for the client at the second. They come back to the address that they were sent
/// to, which is the router's own.
fn sticks(router: &Space, program: &Space) -> io::Result<()> {
    for (n, from) in ["left", "right"].into_iter().enumerate() {
        let own = format!("02:00:00:00:05:0{n}");
        let (stick, port) = (format!("stick{n}"), format!("port{n}"));
        let far = format!("02:00:00:00:06:0{n}");
        join([(router, &stick, own.clone()), (program, &port, far)], None)?;
        shell(
            router,
            &format!(
                "ip neighbour add 169.254.0.3 lladdr {own} dev {stick}
                 ip route add default via 169.254.0.3 dev {stick} onlink table 10{n}
                 ip rule add iif {from} lookup 10{n}"
            ),
        )?;
    }
    Ok(())
}

fn shell(space: &Space, script: &str) -> io::Result<()> {
    space.output(&["sh", "-ec", script]).map(|_| ())
}
