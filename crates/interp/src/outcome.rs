//! Result of running a packet.

use control::{Digest, DropReason, Packet};
use serde::Serialize;
use smol_str::SmolStr;
use std::fmt;

/// Disposition of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// Dropped (`ebpf_model`, `v1model`, `XDP_DROP` and `TC_DROP`).
    Drop,
    /// Passed on (`XDP_PASS`, `TC_PASS`); unchanged in `ebpf_model`.
    Pass,
    /// Dropped as an error (`XDP_ABORTED`).
    Aborted,
    /// Sent back through its ingress port (`XDP_TX`).
    Tx,
    /// Sent out of this port (`XDP_REDIRECT`, `TC_REDIRECT_EGRESS`).
    Redirect(u32),
    /// Received again, as if it had come in on this port (`TC_REDIRECT_INGRESS`).
    RedirectIngress(u32),
    /// Sent out of this port (`v1model`).
    Forward(u32),
    /// Replaced by the copies of this multicast group (`v1model`).
    Multicast(u16),
    /// Aborted by the interpreter.
    Fault(Fault),
}

impl fmt::Display for Disposition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Disposition::Drop => f.write_str("dropped"),
            Disposition::Pass => f.write_str("passed"),
            Disposition::Aborted => f.write_str("aborted"),
            Disposition::Tx => f.write_str("sent back"),
            Disposition::Redirect(port) => write!(f, "redirected to port {port}"),
            Disposition::RedirectIngress(port) => {
                write!(f, "redirected as if it had come in on port {port}")
            }
            Disposition::Forward(port) => write!(f, "sent out of port {port}"),
            Disposition::Multicast(group) => write!(f, "sent to multicast group {group}"),
            Disposition::Fault(fault) => write!(f, "aborted: {fault}"),
        }
    }
}

/// Reason why a packet was aborted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The packet took more steps than [`crate::Options::steps`].
    StepBudget {
        /// Limit of steps.
        steps: u64,
    },
    /// `assert` or `assume` failed.
    AssertionFailed,
    /// An extern was called in a way that its declaration does not allow, which is a bug of the compiler.
    MalformedCall {
        /// Name of the extern.
        name: SmolStr,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::StepBudget { steps } => write!(
                f,
                "the program did not finish within {steps} steps; is there an infinite loop?"
            ),
            Fault::AssertionFailed => f.write_str("an assertion failed"),
            Fault::MalformedCall { name } => write!(
                f,
                "`{name}` was called with arguments it does not take; this is a bug of the compiler"
            ),
        }
    }
}

/// Metadata that the kernel keeps beside a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Marks {
    /// Mark, as in netfilter and routing.
    pub mark: u32,
    /// Priority, as in queueing disciplines.
    pub priority: u32,
    /// Transmit queue, counted from 1. 0 if none was chosen.
    pub queue: u16,
}

/// Result of a packet, except for changed state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Disposition of the packet.
    pub disposition: Disposition,
    /// Packets that came out. In `v1model` they include clones and copies of multicast groups, in the order in which
    /// they left.
    pub packets: Vec<Packet>,
    /// Copies made by clones and multicast groups, in order, which leave before the packet itself (`tc_model`).
    pub copies: Vec<Packet>,
    /// Losses of the traffic manager, in order.
    pub drops: Vec<DropReason>,
    /// Metadata that the kernel must keep beside a packet that is not dropped (`tc_model`).
    pub marks: Option<Marks>,
    /// Error with which the parser ended. `None` for `NoError`.
    pub parser_error: Option<SmolStr>,
    /// True if the parser went to `reject`.
    pub rejected: bool,
    /// Lines of `log_msg`.
    pub log: Vec<String>,
    /// Digests for the control plane.
    pub digests: Vec<Digest>,
    /// Packets sent to user space as perf events.
    pub perf_events: Vec<Vec<u8>>,
}
