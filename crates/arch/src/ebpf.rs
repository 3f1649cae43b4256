//! `ebpf_model`: a packet filter. A parser, and a control that says whether the packet may go on.

use crate::{Architecture, Block, Extern, Slot, effect, object, property, pure};
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
    externs: EXTERNS,
};

const EXTERNS: &[Extern] = &[
    object("CounterArray"),
    object("flow_state"),
    property("array_table"),
    property("hash_table"),
];

/// The functions of `xdp_model`, which shares this model's objects.
pub(crate) const XDP_EXTERNS: &[Extern] = &[
    object("CounterArray"),
    object("flow_state"),
    property("array_table"),
    property("hash_table"),
    pure("ebpf_ipv4_checksum"),
    pure("csum_replace2"),
    pure("csum_replace4"),
    effect("BPF_KTIME_GET_NS"),
    effect("BPF_PERF_EVENT_OUTPUT"),
];

/// The functions of `tc_model`, which has those of `xdp_model` too.
pub(crate) const TC_EXTERNS: &[Extern] = &[
    object("CounterArray"),
    object("flow_state"),
    property("array_table"),
    property("hash_table"),
    pure("ebpf_ipv4_checksum"),
    pure("csum_replace2"),
    pure("csum_replace4"),
    effect("BPF_KTIME_GET_NS"),
    effect("BPF_PERF_EVENT_OUTPUT"),
    effect("l4_csum_replace2"),
    effect("l4_csum_replace4"),
    effect("random32"),
];
