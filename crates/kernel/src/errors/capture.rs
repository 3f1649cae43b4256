//! Capturing packets at an interface.

use diag::{Code, Diagnostic, Span, system_message};
use std::io;

/// The process may not capture packets.
pub fn not_permitted(device: &str, missing: &[&str]) -> Box<Diagnostic> {
    let lacks = match missing {
        [] => "a security policy forbids it although the capabilities are there".to_string(),
        missing => format!("this process lacks {}", missing.join(", ")),
    };
    Diagnostic::error(
        Code("E1150"),
        Span::NONE,
        format!("not permitted to capture packets at `{device}`: {lacks}"),
    )
    .help("run it as root, or give it CAP_NET_RAW; a capture file (--read) needs no rights")
    .into()
}

/// The packets of the interface begin with something else.
pub fn no_ethernet(device: &str, link: u16) -> Box<Diagnostic> {
    Diagnostic::error(
        Code("E1151"),
        Span::NONE,
        format!("packets of interface `{device}` have no Ethernet header (link type {link}), and queries begin with one"),
    )
    .help(format!(
        "`ip link show dev {device}` shows its kind; Ethernet, Wi-Fi, tap, gretap and vxlan interfaces have Ethernet headers"
    ))
    .into()
}

/// The kernel refused for another reason.
pub fn not_opened(device: &str, error: &io::Error) -> Box<Diagnostic> {
    Diagnostic::error(
        Code("E1152"),
        Span::NONE,
        format!(
            "packets of `{device}` cannot be captured: {}",
            system_message(error)
        ),
    )
    .help("the kernel needs CONFIG_PACKET, and 16 MB of memory for the ring")
    .into()
}
