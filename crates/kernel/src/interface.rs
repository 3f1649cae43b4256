//! Network interfaces of this process's namespace.

use crate::errors;
use diag::Diagnostic;
use nix::net::if_::{if_nameindex, if_nametoindex};

/// The index of an interface by name.
pub fn index(name: &str) -> Result<u32, Box<Diagnostic>> {
    if_nametoindex(name).map_err(|_| errors::device::no_interface(name, &names()))
}

/// The names of all interfaces.
pub fn names() -> Vec<String> {
    all().into_iter().map(|(_, name)| name).collect()
}

/// All interfaces: index and name.
pub fn all() -> Vec<(u32, String)> {
    let Ok(list) = if_nameindex() else {
        return Vec::new();
    };
    list.into_iter()
        .map(|i| (i.index(), i.name().to_string_lossy().into_owned()))
        .collect()
}

/// The name of an interface by index.
pub fn name(index: u32) -> Option<String> {
    all()
        .into_iter()
        .find(|(i, _)| *i == index)
        .map(|(_, name)| name)
}

/// Whether an interface of this process's namespace has IPv6.
pub fn has_ipv6(name: &str) -> bool {
    let path = format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6");
    std::fs::read_to_string(path).is_ok_and(|off| off.trim() == "0")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netns::NetNs;

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
