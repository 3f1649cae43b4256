//! Diagnostics about capturing packets at an interface.

use diag::{Diagnostic, system_message};
use nix::errno::Errno;
use std::io;

/// The process may not capture packets.
pub fn not_permitted(device: &str, missing: &[&str]) -> Box<Diagnostic> {
    let lacks = match missing {
        [] => "a security policy forbids it although the capabilities are there".to_string(),
        missing => format!("this process lacks {}", missing.join(", ")),
    };
    Diagnostic::failure(
        "E1150",
        format!("not permitted to capture packets at `{device}`: {lacks}"),
        "run it as root, or give it CAP_NET_RAW; a capture file (--read) needs no rights",
    )
}

/// The packets of the interface have no Ethernet header.
pub fn no_ethernet(device: &str, link: u16) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1151",
        format!(
            "packets of interface `{device}` have no Ethernet header (link type {link}), and queries begin with one"
        ),
        format!(
            "`ip link show dev {device}` shows its kind; Ethernet, Wi-Fi, tap, gretap and vxlan interfaces have Ethernet headers"
        ),
    )
}

/// The kernel refused for another reason.
pub fn not_opened(device: &str, error: &io::Error) -> Box<Diagnostic> {
    let help = match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ENOMEM | Errno::ENOBUFS) => {
            "the ring of packets takes 16 MB of the kernel's memory: free some, or read a capture file (--read)"
        }
        Some(Errno::EAFNOSUPPORT | Errno::EPROTONOSUPPORT) => {
            "the kernel needs CONFIG_PACKET: `modprobe af_packet` loads it where it is a module"
        }
        Some(Errno::ENODEV | Errno::ENXIO) => {
            "the interface went away: `ip link` lists those of this network namespace"
        }
        Some(Errno::EMFILE | Errno::ENFILE) => {
            "`ulimit -n` raises the number of files that a process may have open"
        }
        _ => "a capture file (--read) can be read everywhere",
    };
    Diagnostic::failure(
        "E1152",
        format!(
            "packets of `{device}` cannot be captured: {}",
            system_message(error)
        ),
        help,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remedy_is_one_for_the_cause() {
        let help = |errno: Errno| {
            let refused = not_opened("v0", &io::Error::from(errno));
            refused.help.unwrap_or_default()
        };
        assert!(help(Errno::ENOMEM).contains("16 MB"));
        assert!(help(Errno::EAFNOSUPPORT).contains("CONFIG_PACKET"));
        assert!(help(Errno::EMFILE).contains("ulimit -n"));
        assert!(!help(Errno::EINVAL).contains("CONFIG_PACKET"));
    }
}
