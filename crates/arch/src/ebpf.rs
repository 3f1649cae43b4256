//! `ebpf_model`: a packet filter. A parser, and a control that says whether the packet may go on.

use crate::{Architecture, Block, Extern, Slot, object, property};
use ir::Role;

/// The slot that holds the filter's verdict: one `bool`, true to let the packet go on.
pub const ACCEPT: &str = "accept";

/// The model.
pub const ARCHITECTURE: Architecture = Architecture {
    name: "ebpf_model",
    include: "ebpf_model.p4",
    package: "ebpfFilter",
    blocks: &[
        Block {
            role: Role::Parser,
            package_param: "prs",
            params: &[Slot::PacketIn, Slot::Shared(crate::xdp::HEADERS)],
        },
        Block {
            role: Role::Filter,
            package_param: "filt",
            params: &[Slot::Shared(crate::xdp::HEADERS), Slot::Shared(ACCEPT)],
        },
    ],
    externs: &[EXTERNS],
};

/// What the kernel's models share.
pub(crate) const EXTERNS: &[Extern] = &[
    object("CounterArray"),
    object("flow_state"),
    property("array_table"),
    property("hash_table"),
];
