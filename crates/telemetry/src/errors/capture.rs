//! Diagnostics of capture files.

use crate::capture::MOST_CAPTURES;
use diag::Diagnostic;
use std::io;

/// Help: the supported formats.
const KINDS: &str = "captures are pcap or pcapng files, as tcpdump and Wireshark write them, also packed by gzip or zstd";

/// Returns a capture's name for a sentence: `-` is standard input.
fn named(path: &str) -> String {
    match path {
        "-" => "standard input".to_owned(),
        path => format!("`{path}`"),
    }
}

/// A capture that cannot be read.
pub fn unreadable(path: &str, error: &io::Error) -> Box<Diagnostic> {
    let what = diag::system_message(error);
    Diagnostic::failure(
        "E1140",
        format!("{} cannot be read: {what}", named(path)),
        KINDS,
    )
}

/// A file that is not a capture: its first bytes are these.
pub fn no_capture(path: &str, first: &[u8]) -> Box<Diagnostic> {
    let packed = match first {
        // These are already decompressed bytes.
        [0x1f, 0x8b, ..] => Some("gunzip"),
        [0x28, 0xb5, 0x2f, 0xfd] => Some("unzstd"),
        [0xfd, b'7', b'z', b'X'] => Some("unxz"),
        [b'B', b'Z', b'h', ..] => Some("bunzip2"),
        _ => None,
    };
    let (what, help) = match packed {
        Some(unpack) => (
            format!("{} is compressed", named(path)),
            format!("unpack it on the way: `{unpack} -c FILE | onpath query QUERY --read -`"),
        ),
        None => (
            format!("{} is no capture file", named(path)),
            KINDS.to_string(),
        ),
    };
    Diagnostic::failure("E1141", what, help)
}

/// A capture of an unsupported link type.
pub fn link_type(path: &str, link: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1142",
        format!("the packets of {} are of link type {link}", named(path)),
        "packets begin with an Ethernet header, an IP header (RAW), the header of a capture at `any` (LINUX_SLL, LINUX_SLL2), or that of a loopback interface (NULL, LOOP): capture at an interface that has such",
    )
}

/// Too many captures at once.
pub fn too_many(captures: usize) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0968",
        format!("{captures} captures are to be read at once"),
        format!(
            "at most {MOST_CAPTURES} are, since of each 8 MB are kept: make one of several, by `mergecap -w all.pcapng FILE...`"
        ),
    )
}

/// A capture that is damaged after this number of packets.
pub fn damaged(path: &str, packets: u64, what: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1143",
        format!(
            "{} is damaged behind {}: {what}",
            named(path),
            diag::counted(packets, "packet")
        ),
        "`editcap` from Wireshark copies what can be read to another file",
    )
}
