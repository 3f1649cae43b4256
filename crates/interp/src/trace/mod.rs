//! A packet's execution trace: what happened to it, event by event, in P4 names.

mod json;
mod text;

pub use json::json;
pub use text::text;

use crate::outcome::{Disposition, Marks};
use control::Packet;
use diag::Span;
use serde::Serialize;

/// Something that happened to a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    /// The source that caused it.
    pub span: Span,
    /// What happened.
    pub kind: TraceKind,
}

/// A name and its value as people read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The value, or an entry's match on it.
    pub value: String,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TraceKind {
    /// A packet came in.
    Packet {
        /// On this port.
        port: u32,
        /// Its bytes in hexadecimal.
        bytes: String,
    },
    /// A block of the pipeline begins.
    Block {
        /// What it is for.
        role: &'static str,
        /// Its name in the program.
        name: String,
    },
    /// The parser is in a state.
    State {
        /// The state.
        state: String,
    },
    /// A header was read from the packet.
    Extract {
        /// The header.
        header: String,
        /// Its first byte.
        from: usize,
        /// One past its last byte.
        to: usize,
        /// Its fields.
        fields: Vec<Named>,
    },
    /// The parser moved on without reading.
    Advance {
        /// So many bytes.
        bytes: u64,
        /// To this byte.
        to: usize,
    },
    /// A select decided.
    Select {
        /// The values it looked at.
        keys: Vec<String>,
        /// The state it leads to, `accept` and `reject` among them; `None` if no case matched.
        to: Option<String>,
    },
    /// The parser rejected the packet.
    Reject {
        /// The error's name.
        error: String,
    },
    /// A variable or field was written.
    Assign {
        /// Its name.
        place: String,
        /// What it was.
        old: String,
        /// What it is.
        new: String,
        /// Whether the two differ.
        changed: bool,
    },
    /// A header was copied.
    CopyHeader {
        /// To this one.
        to: String,
        /// From this one.
        from: String,
        /// Whether it is valid now.
        valid: bool,
    },
    /// A header became valid or invalid.
    Validity {
        /// The header.
        header: String,
        /// Whether it is valid now.
        valid: bool,
    },
    /// A table was looked up, and its action begins.
    Table {
        /// The table.
        table: String,
        /// What was looked up.
        keys: Vec<Named>,
        /// Whether an entry matched.
        hit: bool,
        /// What that entry asks.
        #[serde(skip_serializing_if = "Option::is_none")]
        entry: Option<Vec<Named>>,
        /// The group of an action selector that it names.
        #[serde(skip_serializing_if = "Option::is_none")]
        group: Option<u32>,
        /// The member of an action profile that it names, or that the group's hash chose.
        #[serde(skip_serializing_if = "Option::is_none")]
        member: Option<u32>,
        /// The action that runs.
        action: String,
        /// Its arguments.
        args: Vec<Named>,
    },
    /// An extern was called.
    Extern {
        /// Its name; an object's method after the object's name.
        name: String,
        /// Values in.
        args: Vec<String>,
        /// Values out.
        results: Vec<String>,
    },
    /// Values were handed to the control plane.
    Digest {
        /// The digest's name.
        digest: String,
        /// For whom they are.
        receiver: u64,
        /// The values.
        fields: Vec<Named>,
    },
    /// The program wrote a line to the log.
    Log {
        /// The line.
        line: String,
    },
    /// A header was written to the outgoing packet.
    Emit {
        /// The header.
        header: String,
        /// Its first byte in the outgoing packet.
        from: usize,
        /// One past its last byte.
        to: usize,
        /// Its fields.
        fields: Vec<Named>,
    },
    /// `v1model`: a packet begins anew, or a copy of it goes its way. Everything up to the next verdict is about it.
    Begins {
        /// What it is.
        instance: &'static str,
        /// The port that a copy goes to.
        #[serde(skip_serializing_if = "Option::is_none")]
        port: Option<u32>,
        /// The copy's replication id.
        #[serde(skip_serializing_if = "Option::is_none")]
        rid: Option<u16>,
        /// How often it was cloned or began anew.
        round: u32,
        /// The metadata that it kept by a field list.
        kept: Vec<Named>,
    },
    /// `v1model`: the traffic manager lost a packet or a copy.
    Lost {
        /// Why.
        reason: String,
    },
    /// What the kernel is to keep beside the packet.
    Marks(Marks),
    /// The processing of the packet, or of one copy, ended.
    Verdict {
        /// How.
        verdict: String,
        /// What came out, copies first.
        packets: Vec<TracePacket>,
    },
}

/// A packet that came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TracePacket {
    /// Of this port.
    pub port: u32,
    /// Its bytes in hexadecimal.
    pub bytes: String,
}

impl TraceKind {
    /// The last event of a packet.
    pub(crate) fn verdict(disposition: &Disposition, packets: &[Packet]) -> TraceKind {
        TraceKind::Verdict {
            verdict: disposition.to_string(),
            packets: packets
                .iter()
                .map(|packet| TracePacket {
                    port: packet.port,
                    bytes: hex(&packet.bytes),
                })
                .collect(),
        }
    }
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| {
            [
                DIGITS[usize::from(byte >> 4)],
                DIGITS[usize::from(byte & 15)],
            ]
        })
        .map(char::from)
        .collect()
}
