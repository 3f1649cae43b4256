//! What is wrong with a capture file.

use diag::Diagnostic;
use std::io;

/// What is read.
const KINDS: &str = "captures are pcap or pcapng files, as tcpdump and Wireshark write them";

/// It cannot be read.
pub fn unreadable(path: &str, error: &io::Error) -> Box<Diagnostic> {
    let what = diag::system_message(error);
    Diagnostic::failure("E1140", format!("`{path}` cannot be read: {what}"), KINDS)
}

/// It is none: its first bytes are these.
pub fn no_capture(path: &str, first: &[u8]) -> Box<Diagnostic> {
    let packed = match first {
        [0x1f, 0x8b, ..] => Some("gunzip"),
        [0x28, 0xb5, 0x2f, 0xfd] => Some("unzstd"),
        [0xfd, b'7', b'z', b'X'] => Some("unxz"),
        [b'B', b'Z', b'h', ..] => Some("bunzip2"),
        _ => None,
    };
    let (what, help) = match packed {
        Some(unpack) => (
            format!("`{path}` is compressed"),
            format!("unpack it first: `{unpack} {path}`, or `{unpack} -c {path} > FILE`"),
        ),
        None => (format!("`{path}` is no capture file"), KINDS.to_string()),
    };
    Diagnostic::failure("E1141", what, help)
}

/// Its packets begin with headers that are not known here.
pub fn link_type(path: &str, link: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1142",
        format!("the packets of `{path}` are of link type {link}"),
        match link {
            "LINUX_SLL" | "LINUX_SLL2" => {
                "packets begin with an Ethernet header, or an IP header (link type RAW): capture at one interface, not at `any`"
            }
            _ => {
                "packets begin with an Ethernet header, or an IP header (link type RAW): capture at an interface that has such"
            }
        },
    )
}

/// It is damaged behind so many packets.
pub fn damaged(path: &str, packets: u64, what: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1143",
        format!(
            "`{path}` is damaged behind {}: {what}",
            diag::counted(packets, "packet")
        ),
        "`editcap` from Wireshark copies what can be read to another file",
    )
}
