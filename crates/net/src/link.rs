//! Making and setting up network interfaces, their addresses and neighbours, by the routing netlink.

use crate::netlink::{attributes, put_attribute, request};
use nix::net::if_::if_nametoindex;
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

/// A link-layer address of Ethernet.
pub type LinkAddress = [u8; 6];

/// `struct ifinfomsg`
const HEADER: usize = 16;

/// End of a pair of virtual Ethernet devices.
#[derive(Clone, Copy, Debug)]
pub struct End<'a> {
    /// Device's name, which must be unused in its namespace.
    pub name: &'a str,
    /// Network namespace in which it is made; `None` is this thread's.
    pub netns: Option<BorrowedFd<'a>>,
    /// Largest packet without its link-layer header, in bytes; `None` is the kernel's 1500.
    pub mtu: Option<u32>,
}

impl<'a> End<'a> {
    /// Returns an end in this thread's namespace.
    pub fn here(name: &'a str) -> End<'a> {
        End {
            name,
            netns: None,
            mtu: None,
        }
    }

    fn put(&self, to: &mut Vec<u8>) {
        put_attribute(to, libc::IFLA_IFNAME, &text(self.name));
        if let Some(mtu) = self.mtu {
            put_attribute(to, libc::IFLA_MTU, &mtu.to_ne_bytes());
        }
        if let Some(netns) = self.netns {
            let fd = netns.as_raw_fd() as u32;
            put_attribute(to, libc::IFLA_NET_NS_FD, &fd.to_ne_bytes());
        }
    }
}

/// Makes a pair of virtual Ethernet devices: packets sent into one come out of the other. Both are down.
pub fn add_veth(one: End, other: End) -> io::Result<()> {
    /// `VETH_INFO_PEER`
    const PEER: u16 = 1;
    let mut peer = vec![0; HEADER];
    other.put(&mut peer);
    let mut data = Vec::new();
    put_attribute(&mut data, PEER, &peer);
    let mut kind = Vec::new();
    put_attribute(&mut kind, libc::IFLA_INFO_KIND, b"veth");
    put_attribute(&mut kind, libc::IFLA_INFO_DATA, &data);
    let mut message = vec![0; HEADER];
    one.put(&mut message);
    put_attribute(&mut message, libc::IFLA_LINKINFO, &kind);
    let new = libc::NLM_F_CREATE | libc::NLM_F_EXCL;
    request(libc::RTM_NEWLINK, new, &message).map_err(|e| {
        about(
            &format!("make devices `{}` and `{}`", one.name, other.name),
            e,
        )
    })?;
    Ok(())
}

/// Settings with which an interface of this thread's namespace is set up. The default only brings it up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Setup {
    /// The largest packet without its link-layer header, in bytes.
    pub mtu: Option<u32>,
    /// Interface's link-layer address.
    pub address: Option<LinkAddress>,
    /// True if it sends no ARP requests.
    pub no_arp: bool,
    /// True if it gets no IPv6 address by itself, and so sends nothing by itself.
    pub no_own_address: bool,
}

/// Sets up an interface, which is up afterwards.
pub fn set_up(name: &str, setup: Setup) -> io::Result<()> {
    const ADDRESS_MODE: u16 = 8;
    const MODE_NONE: u8 = 1;
    let failed = |e| about(&format!("set up interface `{name}`"), e);
    if setup.no_own_address {
        // The kernel must know it before the interface comes up.
        let mut mode = Vec::new();
        put_attribute(&mut mode, ADDRESS_MODE, &[MODE_NONE]);
        let mut family = Vec::new();
        put_attribute(&mut family, libc::AF_INET6 as u16, &mode);
        let mut message = header(name, 0)?;
        put_attribute(&mut message, libc::IFLA_AF_SPEC, &family);
        request(libc::RTM_NEWLINK, 0, &message).map_err(failed)?;
    }
    let no_arp = if setup.no_arp { libc::IFF_NOARP } else { 0 };
    let mut message = header(name, (libc::IFF_UP | no_arp) as u32)?;
    if let Some(mtu) = setup.mtu {
        put_attribute(&mut message, libc::IFLA_MTU, &mtu.to_ne_bytes());
    }
    if let Some(address) = setup.address {
        put_attribute(&mut message, libc::IFLA_ADDRESS, &address);
    }
    request(libc::RTM_NEWLINK, 0, &message).map_err(failed)?;
    Ok(())
}

/// Waits until an interface of this thread's namespace, which is up, passes on packets. The other end of a pair may
/// have come up after it, and the kernel drops packets that are sent before it noticed.
pub fn wait_until_running(name: &str) -> io::Result<()> {
    /// `IF_OPER_UP`
    const UP: u8 = 6;
    const PATIENCE: Duration = Duration::from_secs(10);
    let started = Instant::now();
    loop {
        let link = read(name)?;
        let value = |wanted| attributes(&link).find(|(kind, _)| *kind == wanted);
        let is_up = value(libc::IFLA_OPERSTATE).is_some_and(|(_, state)| state == [UP]);
        // The first queueing discipline drops everything. The kernel replaces it soon after the interface is up.
        let drops = value(libc::IFLA_QDISC).is_none_or(|(_, name)| name.starts_with(b"noop\0"));
        if is_up && !drops {
            return Ok(());
        }
        if started.elapsed() > PATIENCE {
            let slow = io::Error::from(io::ErrorKind::TimedOut);
            return Err(about(&format!("use interface `{name}`"), slow));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Moves an interface of this thread's namespace to another one, where it is down and has another name.
pub fn move_to(name: &str, netns: impl AsFd, new_name: &str) -> io::Result<()> {
    let mut message = header(name, 0)?;
    let fd = netns.as_fd().as_raw_fd() as u32;
    put_attribute(&mut message, libc::IFLA_NET_NS_FD, &fd.to_ne_bytes());
    put_attribute(&mut message, libc::IFLA_IFNAME, &text(new_name));
    request(libc::RTM_NEWLINK, 0, &message)
        .map_err(|e| about(&format!("move interface `{name}`"), e))?;
    Ok(())
}

/// Removes an interface of this thread's namespace, and the other end of a pair.
pub fn remove(name: &str) -> io::Result<()> {
    request(libc::RTM_DELLINK, 0, &header(name, 0)?)
        .map_err(|e| about(&format!("remove interface `{name}`"), e))?;
    Ok(())
}

/// Gives an interface an address with a prefix of so many bits, without duplicate address detection. An IPv6 address
/// can be used after [`wait_until_local`].
pub fn add_address(name: &str, address: IpAddr, prefix: u8) -> io::Result<()> {
    const NO_DETECTION: u8 = 0x02;
    let mut message = vec![family(address), prefix, NO_DETECTION, 0];
    message.extend(if_nametoindex(name)?.to_ne_bytes());
    put_attribute(&mut message, libc::IFA_LOCAL, &octets(address));
    put_attribute(&mut message, libc::IFA_ADDRESS, &octets(address));
    let new = libc::NLM_F_CREATE | libc::NLM_F_EXCL;
    request(libc::RTM_NEWADDR, new, &message)
        .map_err(|e| about(&format!("give interface `{name}` the address {address}"), e))?;
    Ok(())
}

/// Waits until the kernel accepts packets to an IPv6 address of this thread's namespace, whose interface is up. The
/// kernel adds the route to it some time after the address.
pub fn wait_until_local(address: Ipv6Addr) -> io::Result<()> {
    const PATIENCE: Duration = Duration::from_secs(60);
    let digits: String = address
        .octets()
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    // Destination and prefix length begin a line, in hexadecimal.
    let route = format!("{digits} 80 ");
    let started = Instant::now();
    loop {
        let routes = std::fs::read_to_string("/proc/thread-self/net/ipv6_route")?;
        if routes.lines().any(|line| line.starts_with(&route)) {
            return Ok(());
        }
        if started.elapsed() > PATIENCE {
            let slow = io::Error::from(io::ErrorKind::TimedOut);
            return Err(about(&format!("use the address {address}"), slow));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Adds a permanent neighbour entry: the link-layer address of an address at an interface.
pub fn add_neighbour(name: &str, address: IpAddr, link: LinkAddress) -> io::Result<()> {
    const DESTINATION: u16 = 1;
    const LINK_ADDRESS: u16 = 2;
    const PERMANENT: u16 = 0x80;
    // `struct ndmsg`: family, padding, interface, state, flags and type.
    let mut message = vec![family(address), 0, 0, 0];
    message.extend(if_nametoindex(name)?.to_ne_bytes());
    message.extend(PERMANENT.to_ne_bytes());
    message.extend([0, 0]);
    put_attribute(&mut message, DESTINATION, &octets(address));
    put_attribute(&mut message, LINK_ADDRESS, &link);
    let new = libc::NLM_F_CREATE | libc::NLM_F_EXCL;
    request(libc::RTM_NEWNEIGH, new, &message)
        .map_err(|e| about(&format!("make {address} known behind `{name}`"), e))?;
    Ok(())
}

/// Counts of an interface since it was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Packets that came in.
    pub rx_packets: u64,
    /// Packets that went out.
    pub tx_packets: u64,
    /// Bytes that came in, link-layer headers included.
    pub rx_bytes: u64,
    /// Bytes that went out, link-layer headers included.
    pub tx_bytes: u64,
    /// Bad packets that came in.
    pub rx_errors: u64,
    /// Packets that could not be sent.
    pub tx_errors: u64,
    /// Packets that came in and were dropped for lack of room.
    pub rx_dropped: u64,
    /// Packets that were to go out and were dropped for lack of room.
    pub tx_dropped: u64,
}

/// Reads the counts of an interface of this thread's namespace.
pub fn statistics(name: &str) -> io::Result<Statistics> {
    let link = read(name)?;
    let counted = attributes(&link).find(|(kind, _)| *kind == libc::IFLA_STATS64);
    let (_, counted) = counted.ok_or(io::ErrorKind::InvalidData)?;
    // `struct rtnl_link_stats64` begins with these.
    let (numbers, _) = counted.as_chunks::<8>();
    let [
        rx_packets,
        tx_packets,
        rx_bytes,
        tx_bytes,
        rx_errors,
        tx_errors,
        rx_dropped,
        tx_dropped,
    ] = *numbers
        .first_chunk::<8>()
        .ok_or(io::ErrorKind::InvalidData)?;
    let number = u64::from_ne_bytes;
    Ok(Statistics {
        rx_packets: number(rx_packets),
        tx_packets: number(tx_packets),
        rx_bytes: number(rx_bytes),
        tx_bytes: number(tx_bytes),
        rx_errors: number(rx_errors),
        tx_errors: number(tx_errors),
        rx_dropped: number(rx_dropped),
        tx_dropped: number(tx_dropped),
    })
}

/// Reads the attributes of an interface.
fn read(name: &str) -> io::Result<Vec<u8>> {
    let answers = request(libc::RTM_GETLINK, 0, &header(name, 0)?)?;
    let link = answers.first().and_then(|a| a.get(HEADER..));
    Ok(link.ok_or(io::ErrorKind::InvalidData)?.to_vec())
}

/// Makes a `struct ifinfomsg` of an interface, with flags to be set.
fn header(name: &str, flags: u32) -> io::Result<Vec<u8>> {
    let index =
        if_nametoindex(name).map_err(|e| about(&format!("find interface `{name}`"), e.into()))?;
    let mut header = vec![0; 4];
    header.extend([index, flags, flags].into_iter().flat_map(u32::to_ne_bytes));
    Ok(header)
}

fn family(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => libc::AF_INET as u8,
        IpAddr::V6(_) => libc::AF_INET6 as u8,
    }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

fn text(name: &str) -> Vec<u8> {
    [name.as_bytes(), b"\0"].concat()
}

fn about(what: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("could not {what}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link_settings;
    use crate::netns::NetNs;
    use std::net::{Ipv4Addr, UdpSocket};

    const ONE: LinkAddress = [2, 0, 0, 0, 0, 1];
    const TWO: LinkAddress = [2, 0, 0, 0, 0, 2];

    #[test]
    fn two_namespaces_are_joined() {
        let [here, there] = [(); 2].map(|()| NetNs::new().expect("this test needs root"));
        let set_up_end = |name: &str, own: u8, other: u8, link: LinkAddress, far: LinkAddress| {
            let setup = Setup {
                mtu: Some(1400),
                address: Some(link),
                no_own_address: true,
                ..Setup::default()
            };
            set_up(name, setup)?;
            let v4 = |n| IpAddr::from(Ipv4Addr::new(10, 0, 0, n));
            let v6 = |n| Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, u16::from(n));
            let addresses = [
                (v4(own), v4(other), 24),
                (v6(own).into(), v6(other).into(), 64),
            ];
            for (own, other, prefix) in addresses {
                add_address(name, own, prefix)?;
                add_neighbour(name, other, far)?;
            }
            wait_until_local(v6(own))?;
            assert_eq!(link_settings::read(if_nametoindex(name)?)?.mtu, 1400);
            Ok(())
        };
        here.run(|| {
            let far = End {
                netns: Some(there.as_fd()),
                ..End::here("two")
            };
            add_veth(End::here("one"), far)?;
            set_up_end("one", 1, 2, ONE, TWO)
        })
        .expect("one end");
        there
            .run(|| set_up_end("two", 2, 1, TWO, ONE))
            .expect("the other end");
        here.run(|| wait_until_running("one")).expect("running");
        there.run(|| wait_until_running("two")).expect("running");
        for (from, to) in [("10.0.0.1:0", "10.0.0.2:7"), ("[fd00::1]:0", "[fd00::2]:7")] {
            let receiver = there.run(|| UdpSocket::bind(to)).expect("bound");
            let sender = here.run(|| UdpSocket::bind(from)).expect("bound");
            let patience = Some(Duration::from_secs(10));
            receiver.set_read_timeout(patience).expect("set");
            sender.send_to(&[7; 58], to).expect("sent");
            let arrived = receiver.recv(&mut [0; 100]);
            assert!(arrived.is_ok_and(|n| n == 58), "from {from} to {to}");
        }
        let counted = here.run(|| statistics("one")).expect("counted");
        // Listener reports go out beside them.
        assert!(counted.tx_packets >= 2, "{counted:?}");
        assert!(
            counted.tx_bytes >= 2 * (14 + 8 + 58) + 20 + 40,
            "{counted:?}"
        );
        assert_eq!(counted.tx_errors, 0);
    }

    #[test]
    fn what_is_refused_is_reported_with_the_interface() {
        let ns = NetNs::new().expect("this test needs root");
        ns.run(|| {
            add_veth(End::here("one"), End::here("two"))?;
            let again = add_veth(End::here("one"), End::here("three")).expect_err("a name twice");
            assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
            let text = again.to_string();
            assert!(
                text.starts_with("could not make devices `one` and `three`: "),
                "{text}"
            );
            let setup = Setup {
                mtu: Some(1),
                ..Setup::default()
            };
            let text = set_up("one", setup).expect_err("too small").to_string();
            assert!(
                text.starts_with("could not set up interface `one`: "),
                "{text}"
            );
            let text = set_up("none", Setup::default())
                .expect_err("gone")
                .to_string();
            assert!(
                text.starts_with("could not find interface `none`: "),
                "{text}"
            );
            remove("one")?;
            assert_eq!(crate::interface::names(), ["lo"], "both ends");
            Ok(())
        })
        .expect("runs");
    }
}
