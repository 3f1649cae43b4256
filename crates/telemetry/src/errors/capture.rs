//! What is wrong with a capture file.

use super::refuse;
use diag::{Diagnostic, Span};
use std::io;

/// What is read.
const KINDS: &str = "captures are pcap or pcapng files, as tcpdump and Wireshark write them";

/// It cannot be read.
pub fn unreadable(path: &str, error: &io::Error) -> Box<Diagnostic> {
    let what = diag::system_message(error);
    refuse(
        "E1140",
        Span::NONE,
        format!("`{path}` cannot be read: {what}"),
        "",
        KINDS,
    )
}

/// It is none.
pub fn no_capture(path: &str) -> Box<Diagnostic> {
    refuse(
        "E1141",
        Span::NONE,
        format!("`{path}` is no capture file"),
        "",
        KINDS,
    )
}

/// Its packets begin with headers that are not known here.
pub fn link_type(path: &str, link: &str) -> Box<Diagnostic> {
    refuse(
        "E1142",
        Span::NONE,
        format!("the packets of `{path}` are of link type {link}"),
        "",
        "packets begin with an Ethernet header, or an IP header (link type RAW); capture at one interface, not at `any`",
    )
}

/// It is damaged behind so many packets.
pub fn damaged(path: &str, packets: u64, what: &str) -> Box<Diagnostic> {
    refuse(
        "E1143",
        Span::NONE,
        format!(
            "`{path}` is damaged behind {}: {what}",
            diag::counted(packets, "packet")
        ),
        "",
        "`editcap` from Wireshark copies what can be read to another file",
    )
}
