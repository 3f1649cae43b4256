//! Hooks: what differs from one place in the kernel to another. A file a hook, which implements [`HookCode`](code::HookCode).
//!
//! Parsers, controls, tables and deparsers know no hook, since the headers that the C includes give the packet's
//! primitives the same names.

pub(crate) mod code;
mod ports;
mod tap;
pub(crate) mod tc;
mod traffic;
mod v1model;
pub(crate) mod verdict;
mod xdp;

use crate::abi::Hook;
use code::HookCode;

/// A hook's code.
pub(crate) fn of(hook: Hook) -> &'static dyn HookCode {
    match hook {
        Hook::Xdp => &xdp::Xdp,
        Hook::TcIngress => &tc::INGRESS,
        Hook::TcEgress => &tc::EGRESS,
    }
}
