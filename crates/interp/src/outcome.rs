//! What became of a packet.

use control::{Digest, DropReason, Packet};
use serde::Serialize;
use smol_str::SmolStr;
use std::fmt;

/// What became of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// `ebpf_model`, `v1model`, `XDP_DROP` and `TC_DROP`: gone.
    Drop,
    /// `ebpf_model`: let through unchanged. `XDP_PASS`, `TC_PASS`: passed on.
    Pass,
    /// `XDP_ABORTED`: dropped as an error.
    Aborted,
    /// `XDP_TX`: back out of the port it came in on.
    Tx,
    /// `XDP_REDIRECT`, `TC_REDIRECT_EGRESS`: out of this port.
    Redirect(u32),
    /// `TC_REDIRECT_INGRESS`: as if it had come in on this port.
    RedirectIngress(u32),
    /// `v1model`: out of this port.
    Forward(u32),
    /// `v1model`: replaced by the copies of this multicast group.
    Multicast(u16),
    /// The interpreter gave the packet up.
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

/// Why a packet was aborted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It took more steps than [`crate::Options::steps`].
    StepBudget {
        /// How many that is.
        steps: u64,
    },
    /// `assert` or `assume` failed.
    AssertionFailed,
    /// An extern was called in a way that its declaration does not allow: a compiler bug.
    MalformedCall {
        /// The extern.
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

/// What the kernel keeps beside a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Marks {
    /// As netfilter and routing know it.
    pub mark: u32,
    /// As queueing disciplines know it.
    pub priority: u32,
    /// The transmit queue, counted from 1; 0 if nothing chose one.
    pub queue: u16,
}

/// Everything that one packet caused, except for changed state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What became of it.
    pub disposition: Disposition,
    /// The packets that came out. `v1model`: clones and copies of multicast groups among them, in the order in which they
    /// left.
    pub packets: Vec<Packet>,
    /// `tc_model`: copies made by clones and multicast groups, in order. They leave before the packet itself.
    pub copies: Vec<Packet>,
    /// What the traffic manager lost, in order.
    pub drops: Vec<DropReason>,
    /// `tc_model`: what the kernel is to keep beside a packet that lives.
    pub marks: Option<Marks>,
    /// The error with which the parser ended; `None` for `NoError`.
    pub parser_error: Option<SmolStr>,
    /// Whether the parser went to `reject`.
    pub rejected: bool,
    /// Lines of `log_msg`.
    pub log: Vec<String>,
    /// Values for the control plane.
    pub digests: Vec<Digest>,
    /// Packets sent to user space by perf events.
    pub perf_events: Vec<Vec<u8>>,
}
