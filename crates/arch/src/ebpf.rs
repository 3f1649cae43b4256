//! `ebpf_model`: a packet filter. A parser, and a control that decides whether the packet passes.

use crate::{Architecture, Block, BlockKind, Model, Slot, Stage};

/// The slot that holds the filter's verdict: one `bool`, true to pass the packet.
pub const ACCEPT: &str = "accept";
/// The block that accepts a packet or not.
pub const FILTER: &str = "filter";

/// The model.
pub const ARCHITECTURE: Architecture = Architecture {
    name: "ebpf_model",
    include: "ebpf_model.p4",
    package: "ebpfFilter",
    model: Model::Filter,
    stages: &[Stage::of(&[
        Block::parser("prs"),
        Block {
            name: FILTER,
            kind: BlockKind::Control,
            package_param: "filt",
            params: &[Slot::Program(crate::HEADERS), Slot::Intrinsic(ACCEPT)],
        },
    ])],
    externs: &[EXTERNS, crate::TELEMETRY, crate::payload::EXTERNS],
    ..crate::PLAIN
};

/// Externs that all models of the kernel share.
pub(crate) const EXTERNS: &[&str] = &["CounterArray", "flow_state", "array_table", "hash_table"];
