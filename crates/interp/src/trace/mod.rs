//! Execution trace of a packet: events in order, with P4 names.

mod json;
mod text;

pub use json::json;
pub use text::text;

use crate::outcome::{Disposition, Marks};
use control::Packet;
use diag::Span;
use serde::Serialize;

/// Event in a packet's execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    /// Source location that caused the event.
    pub span: Span,
    /// Kind of the event, with its data.
    pub kind: TraceKind,
}

/// Name and value in readable form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// Name.
    pub name: String,
    /// Value, or an entry's match on it.
    pub value: String,
}

/// Kind of an event, with its data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TraceKind {
    /// A packet came in.
    Packet {
        /// Ingress port.
        port: u32,
        /// Bytes in hexadecimal.
        bytes: String,
    },
    /// A block of the pipeline begins.
    Block {
        /// Role of the block in the pipeline.
        role: &'static str,
        /// Name in the program.
        name: String,
    },
    /// The parser entered a state.
    State {
        /// Name of the state.
        state: String,
    },
    /// A header was read from the packet.
    Extract {
        /// Name of the header.
        header: String,
        /// Offset of its first byte.
        from: usize,
        /// Offset after its last byte.
        to: usize,
        /// Fields of the header.
        fields: Vec<Named>,
    },
    /// The parser advanced without reading.
    Advance {
        /// Number of bytes skipped.
        bytes: u64,
        /// Offset of the byte that it advanced to.
        to: usize,
    },
    /// A select decided.
    Select {
        /// Values of the select's keys.
        keys: Vec<String>,
        /// Next state, including `accept` and `reject`. `None` if no case matched.
        to: Option<String>,
    },
    /// The parser rejected the packet.
    Reject {
        /// Name of the error.
        error: String,
    },
    /// A variable or field was written.
    Assign {
        /// Name of the variable or field.
        place: String,
        /// Old value.
        old: String,
        /// New value.
        new: String,
        /// True if the two differ.
        changed: bool,
    },
    /// A header was copied.
    CopyHeader {
        /// Name of the destination.
        to: String,
        /// Name of the source.
        from: String,
        /// True if the destination is valid now.
        valid: bool,
    },
    /// A header became valid or invalid.
    Validity {
        /// Name of the header.
        header: String,
        /// True if the header is valid now.
        valid: bool,
    },
    /// A table was looked up, and its action begins.
    Table {
        /// Name of the table.
        table: String,
        /// Values of the keys.
        keys: Vec<Named>,
        /// True if an entry matched.
        hit: bool,
        /// Match of that entry.
        #[serde(skip_serializing_if = "Option::is_none")]
        entry: Option<Vec<Named>>,
        /// Group of an action selector that the entry refers to.
        #[serde(skip_serializing_if = "Option::is_none")]
        group: Option<u32>,
        /// Member of an action profile that the entry refers to, or that the group's hash chose.
        #[serde(skip_serializing_if = "Option::is_none")]
        member: Option<u32>,
        /// Name of the action that runs.
        action: String,
        /// Arguments of the action.
        args: Vec<Named>,
    },
    /// An extern was called.
    Extern {
        /// Name of the extern; for a method, the object's name and the method's name.
        name: String,
        /// Argument values.
        args: Vec<String>,
        /// Result values.
        results: Vec<String>,
    },
    /// Values were sent to the control plane.
    Digest {
        /// Name of the digest.
        digest: String,
        /// Receiver of the digest.
        receiver: u64,
        /// Values of the digest.
        fields: Vec<Named>,
    },
    /// The program wrote a line to the log.
    Log {
        /// Text of the line.
        line: String,
    },
    /// A header was written to the outgoing packet.
    Emit {
        /// Name of the header.
        header: String,
        /// Offset of its first byte in the outgoing packet.
        from: usize,
        /// Offset after its last byte.
        to: usize,
        /// Fields of the header.
        fields: Vec<Named>,
    },
    /// A packet is resubmitted or recirculated, or a copy of it starts (`v1model`). The events up to the next verdict
    /// belong to it.
    Begins {
        /// Description of the instance.
        instance: &'static str,
        /// Port that a copy is sent to.
        #[serde(skip_serializing_if = "Option::is_none")]
        port: Option<u32>,
        /// Replication id of a copy.
        #[serde(skip_serializing_if = "Option::is_none")]
        rid: Option<u16>,
        /// Number of times that it was cloned, resubmitted or recirculated.
        round: u32,
        /// Metadata preserved by a field list.
        kept: Vec<Named>,
    },
    /// The traffic manager lost a packet or a copy (`v1model`).
    Lost {
        /// Reason of the loss.
        reason: String,
    },
    /// Metadata that the kernel must keep beside the packet.
    Marks(Marks),
    /// The processing of the packet, or of one copy, ended.
    Verdict {
        /// Disposition, in words.
        verdict: String,
        /// Packets that came out, copies first.
        packets: Vec<TracePacket>,
    },
}

/// Packet that came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TracePacket {
    /// Egress port.
    pub port: u32,
    /// Bytes in hexadecimal.
    pub bytes: String,
}

impl TraceKind {
    /// Returns the last event of a packet.
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

/// Formats bytes in hexadecimal.
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
