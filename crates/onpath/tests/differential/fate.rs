//! Results of a packet, in one form for both sides.

use bpf::abi::Hook;
use interp::{Disposition, Fault};
use kernel::test_run;
use std::fmt::{self, Write};

/// Result of a packet: its verdict, its bytes and its copies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Seen {
    fate: Fate,
    /// Bytes of the packet, empty if it was dropped without copies.
    bytes: Vec<u8>,
    /// Ports of copies.
    copies: Vec<u32>,
    /// All packets that were sent, sorted, for programs whose copies may differ.
    sent: Option<Vec<(u32, Vec<u8>)>>,
    /// Mark and priority of a packet that a program of `tc_model` did not drop.
    marks: Option<(u32, u32)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Drop,
    Aborted,
    Pass,
    Tx,
    Redirect { port: u32, ingress: bool },
}

impl Fate {
    fn lives(self) -> bool {
        !matches!(self, Fate::Drop | Fate::Aborted)
    }
}

/// Converts the interpreter's result.
pub(crate) fn of_reference(
    outcome: interp::Outcome,
    hook: Hook,
    copies_differ: bool,
) -> Result<Seen, String> {
    if copies_differ {
        return match outcome.disposition {
            Disposition::Fault(fault) if fault != Fault::AssertionFailed => Err(fault.to_string()),
            _ => Ok(all_sent(outcome.packets)),
        };
    }
    let fate = match outcome.disposition {
        Disposition::Drop => Fate::Drop,
        // Traffic control has one verdict for a drop.
        Disposition::Aborted if hook != Hook::Xdp => Fate::Drop,
        Disposition::Aborted => Fate::Aborted,
        Disposition::Pass => Fate::Pass,
        Disposition::Tx => Fate::Tx,
        Disposition::Redirect(port) | Disposition::Forward(port) => Fate::Redirect {
            port,
            ingress: false,
        },
        Disposition::RedirectIngress(port) => Fate::Redirect {
            port,
            ingress: true,
        },
        Disposition::Fault(Fault::AssertionFailed) => match hook {
            Hook::Xdp => Fate::Aborted,
            Hook::TcIngress | Hook::TcEgress => Fate::Drop,
        },
        Disposition::Multicast(_) => return Ok(replicated(outcome)),
        Disposition::Fault(_) => {
            return Err(outcome.disposition.to_string());
        }
    };
    let mut left = outcome.packets.into_iter().chain(outcome.copies.clone());
    Ok(Seen {
        fate,
        bytes: left.next().map(|p| p.bytes).unwrap_or_default(),
        copies: outcome.copies.iter().map(|p| p.port).collect(),
        sent: None,
        marks: outcome
            .marks
            .filter(|_| fate.lives())
            .map(|m| (m.mark, m.priority)),
    })
}

fn all_sent(packets: Vec<control::Packet>) -> Seen {
    let mut sent: Vec<(u32, Vec<u8>)> = packets.into_iter().map(|p| (p.port, p.bytes)).collect();
    sent.sort();
    Seen {
        fate: Fate::Drop,
        bytes: Vec::new(),
        copies: Vec::new(),
        sent: Some(sent),
        marks: None,
    }
}

/// Converts the copies of a multicast group. The kernel sends the packet itself to the last port.
fn replicated(outcome: interp::Outcome) -> Seen {
    let mut packets = outcome.packets;
    let last = packets.pop();
    Seen {
        fate: last.as_ref().map_or(Fate::Drop, |last| Fate::Redirect {
            port: last.port,
            ingress: false,
        }),
        copies: packets.iter().map(|p| p.port).collect(),
        bytes: last.map(|last| last.bytes).unwrap_or_default(),
        sent: None,
        marks: None,
    }
}

/// Converts the kernel's result.
pub(crate) fn of_target(outcome: test_run::Outcome, program: &ir::Program) -> Seen {
    if let Some(sent) = outcome.sent {
        return all_sent(sent);
    }
    let fate = match outcome.fate {
        test_run::Fate::Pass => Fate::Pass,
        test_run::Fate::Drop => Fate::Drop,
        test_run::Fate::Aborted => Fate::Aborted,
        test_run::Fate::Tx => Fate::Tx,
        test_run::Fate::Redirect { port, ingress } => Fate::Redirect { port, ingress },
    };
    let marks = (outcome.context.mark, outcome.context.priority);
    Seen {
        fate,
        bytes: match fate.lives() || !outcome.copies.is_empty() {
            true => outcome.bytes,
            false => Vec::new(),
        },
        copies: outcome.copies,
        sent: None,
        marks: (program.arch == arch::tc::ARCHITECTURE.package && fate.lives()).then_some(marks),
    }
}

/// Returns true if results differ only because the kernel drops a packet that is too short. No program can make a
/// packet shorter than an Ethernet header or, at traffic control, one that ends within a VLAN tag. Such an incoming
/// packet is dropped before traffic control, and in a test run when its length changes.
pub(crate) fn too_short(came: &[u8], expected: &Seen, found: &Seen, hook: Hook) -> bool {
    if hook != Hook::Xdp && ends_within_tag(came) && found.fate == Fate::Drop {
        return true;
    }
    if let Some(sent) = &expected.sent {
        return sent
            .iter()
            .any(|(_, bytes)| bytes.len() < 14 || ends_within_tag(bytes));
    }
    let lived = expected.fate.lives() || !expected.copies.is_empty();
    let bytes = &expected.bytes;
    lived
        && (bytes.len() < 14 || hook != Hook::Xdp && ends_within_tag(bytes))
        && !found.fate.lives()
        && found.copies.is_empty()
}

fn ends_within_tag(bytes: &[u8]) -> bool {
    const TYPE: usize = 12;
    let mut at = TYPE;
    while let Some([0x81, 0x00] | [0x88, 0xa8]) = bytes.get(at..at + 2) {
        at += 4;
    }
    bytes.len() < at + 2
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(sent) = &self.sent {
            for (port, bytes) in sent {
                write!(f, "\n    {port} {}", hex(bytes))?;
            }
            return Ok(());
        }
        match self.fate {
            Fate::Drop => f.write_str("dropped")?,
            Fate::Aborted => f.write_str("aborted")?,
            Fate::Pass => f.write_str("passed")?,
            Fate::Tx => f.write_str("sent back")?,
            Fate::Redirect { port, ingress } => {
                let side = if ingress { "into" } else { "out of" };
                write!(f, "{side} port {port}")?;
            }
        }
        if !self.copies.is_empty() {
            write!(f, ", copied to {:?}", self.copies)?;
        }
        if let Some((mark, priority)) = self.marks {
            write!(f, ", mark {mark:#x}, priority {priority:#x}")?;
        }
        write!(f, " {}", hex(&self.bytes))
    }
}

/// Returns bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
