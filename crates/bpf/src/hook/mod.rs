//! Hooks: the differences between the points of the kernel where programs run. A file a hook, which implements
//! [`HookCode`](code::HookCode).

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

/// Returns a hook's code.
pub(crate) fn of(hook: Hook) -> &'static dyn HookCode {
    match hook {
        Hook::Xdp => &xdp::Xdp,
        Hook::TcIngress => &tc::INGRESS,
        Hook::TcEgress => &tc::EGRESS,
    }
}
