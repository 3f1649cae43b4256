//! Network interfaces of this process's namespace.

use crate::errors;
use crate::netlink::{attributes, put_attribute, request, u16_at, u32_at};
use crate::netns;
use diag::Diagnostic;
use nix::net::if_::if_nameindex;
use std::io;

/// Returns the index of an interface by name.
pub fn index(name: &str) -> Result<u32, Box<Diagnostic>> {
    by_name(name).map_err(|_| errors::no_interface(name, &names(), &namespaces_with(name)))
}

/// Returns the index of an interface by name, by netlink. The C library's function uses another kind of socket, which
/// a service may not have.
pub fn by_name(name: &str) -> io::Result<u32> {
    if name.contains('\0') {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // struct ifinfomsg
    let mut message = vec![0; 16];
    let text = [name.as_bytes(), b"\0"].concat();
    put_attribute(&mut message, libc::IFLA_IFNAME, &text);
    let answers = request(libc::RTM_GETLINK, 0, &message)?;
    let index = answers.first().and_then(|link| u32_at(link, 4));
    index.ok_or(io::ErrorKind::InvalidData.into())
}

/// Returns the names of the network namespaces that have an interface of this name, as far as this process may enter
/// them.
fn namespaces_with(interface: &str) -> Vec<String> {
    /// Number of namespaces that are searched. Each takes a thread for a moment.
    const MOST: usize = 256;
    let has_it = |name: &String| {
        let there = netns::named(name).and_then(|there| there.run(|| by_name(interface)));
        there.is_ok()
    };
    netns::names()
        .into_iter()
        .take(MOST)
        .filter(has_it)
        .collect()
}

/// Returns the names of all interfaces.
pub fn names() -> Vec<String> {
    all().into_iter().map(|(_, name)| name).collect()
}

/// Lists all interfaces: index and name.
pub fn all() -> Vec<(u32, String)> {
    let Ok(list) = if_nameindex() else {
        return Vec::new();
    };
    list.into_iter()
        .map(|i| (i.index(), i.name().to_string_lossy().into_owned()))
        .collect()
}

/// Returns the name of an interface by index.
pub fn name(index: u32) -> Option<String> {
    // struct ifinfomsg
    let mut header = [0; 16];
    header[4..8].copy_from_slice(&index.to_ne_bytes());
    let answers = request(libc::RTM_GETLINK, 0, &header).ok()?;
    let found = answers.first()?.get(header.len()..)?;
    let (_, text) = attributes(found).find(|(kind, _)| *kind == libc::IFLA_IFNAME)?;
    let text = text.strip_suffix(b"\0").unwrap_or(text);
    Some(String::from_utf8_lossy(text).into_owned())
}

/// Returns the interface that one of this process's namespace belongs to, such as a bridge, if there is one.
pub fn upper(name: &str, index: u32) -> Option<String> {
    let folder = format!("/sys/class/net/{name}");
    // The file system mounted there may be of another network namespace.
    let seen = std::fs::read_to_string(format!("{folder}/ifindex")).ok()?;
    if seen.trim() != index.to_string() {
        return None;
    }
    let master = std::fs::read_link(format!("{folder}/master")).ok()?;
    Some(master.file_name()?.to_string_lossy().into_owned())
}

/// Returns true if an interface of this process's namespace has IPv6.
pub fn has_ipv6(name: &str) -> bool {
    let path = format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6");
    std::fs::read_to_string(path).is_ok_and(|off| off.trim() == "0")
}

/// Link-layer header of an interface's packets, as the kernel's `if_arp.h` numbers it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkType(pub u16);

impl LinkType {
    /// Returns true if they begin with an Ethernet header, as they do on loopback.
    pub fn is_ethernet(self) -> bool {
        matches!(self.0, libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK)
    }
}

/// Returns the link type of an interface of this process's namespace.
pub fn link_type(index: u32) -> io::Result<LinkType> {
    // struct ifinfomsg
    let mut header = [0; 16];
    header[4..8].copy_from_slice(&index.to_ne_bytes());
    let answers = request(libc::RTM_GETLINK, 0, &header)?;
    let number = answers.first().and_then(|link| u16_at(link, 2));
    number
        .map(LinkType)
        .ok_or(io::ErrorKind::InvalidData.into())
}

/// Returns true if all packets that go out of it come in again.
pub fn is_loopback(name: &str) -> bool {
    name == "lo"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netns::NetNs;
    use crate::veth;
    use std::process::Command;

    #[test]
    fn packets_of_veth_and_loopback_have_ethernet_headers_and_those_of_tun_have_none() {
        let ns = NetNs::new().expect("this test needs root");
        ns.run(|| {
            veth::make_pairs(&[("one".into(), "two".into())])?;
            let add = ["tuntap", "add", "tun0", "mode", "tun"];
            assert!(Command::new("ip").args(add).status()?.success());
            let is_ethernet = |name| Ok::<_, io::Error>(link_type(by_name(name)?)?.is_ethernet());
            assert!(is_ethernet("one")? && is_ethernet("lo")?);
            assert!(!is_ethernet("tun0")?);
            Ok(())
        })
        .expect("runs");
    }

    #[test]
    fn ipv6_is_off_where_it_was_turned_off_and_where_nothing_is() {
        let ns = NetNs::new().expect("this test needs root");
        ns.run(|| {
            assert!(has_ipv6("lo"));
            std::fs::write("/proc/sys/net/ipv6/conf/lo/disable_ipv6", "1")?;
            assert!(!has_ipv6("lo"));
            assert!(!has_ipv6("none"));
            Ok(())
        })
        .expect("runs");
    }
}
