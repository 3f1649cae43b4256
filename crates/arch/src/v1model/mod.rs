//! `v1model`: a switch with ingress and egress, and checksums before and after.

pub mod unicast;

use crate::{Anew, Architecture, Block, BlockKind, Slot};
use ir::OnReject;

/// The slot of the program's own metadata.
pub const META: &str = "meta";
/// The slot of `standard_metadata_t`, its fields under their own names.
pub const STANDARD_METADATA: &str = "standard_metadata";
/// The value of `egress_spec` that drops a packet.
pub const DROP_PORT: u32 = 511;
/// The numbers of `instance_type`: how a packet came to where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum InstanceType {
    /// In ingress from a port, in egress as ingress sent it.
    Normal = 0,
    /// In egress, as a copy that ingress made.
    IngressClone = 1,
    /// In egress, as a copy that egress made.
    EgressClone = 2,
    /// In ingress again, deparsed.
    Recirculated = 4,
    /// In egress, as the copy of a multicast group.
    Replicated = 5,
    /// In ingress again, as it came in.
    Resubmitted = 6,
}

/// The block that checks the checksums of what came in.
pub const VERIFY_CHECKSUM: &str = "verify checksum";
/// The block before the traffic manager.
pub const INGRESS: &str = "ingress";
/// The block after the traffic manager.
pub const EGRESS: &str = "egress";
/// The block that computes the checksums of what goes out.
pub const COMPUTE_CHECKSUM: &str = "compute checksum";

/// The model.
pub const ARCHITECTURE: Architecture = Architecture {
    name: "v1model",
    include: "v1model.p4",
    package: "V1Switch",
    on_reject: OnReject::Continue,
    blocks: &[
        Block {
            name: crate::PARSER,
            kind: BlockKind::Parser,
            package_param: "p",
            params: &[
                Slot::PacketIn,
                Slot::Program(crate::HEADERS),
                Slot::Program(META),
                Slot::Intrinsic(STANDARD_METADATA),
            ],
        },
        Block {
            name: VERIFY_CHECKSUM,
            kind: BlockKind::Control,
            package_param: "vr",
            params: &[Slot::Program(crate::HEADERS), Slot::Program(META)],
        },
        Block {
            name: INGRESS,
            kind: BlockKind::Control,
            package_param: "ig",
            params: MATCH_ACTION,
        },
        Block {
            name: EGRESS,
            kind: BlockKind::Control,
            package_param: "eg",
            params: MATCH_ACTION,
        },
        Block {
            name: COMPUTE_CHECKSUM,
            kind: BlockKind::Control,
            package_param: "ck",
            params: &[Slot::Program(crate::HEADERS), Slot::Program(META)],
        },
        Block {
            name: crate::DEPARSER,
            kind: BlockKind::Deparser,
            package_param: "dep",
            params: &[Slot::PacketOut, Slot::Program(crate::HEADERS)],
        },
    ],
    anew: Some(&Anew {
        keeps: META,
        copies: &["clone", "clone_preserving_field_list"],
        by_fields: &[
            ("clone3", "clone_preserving_field_list"),
            ("resubmit", "resubmit_preserving_field_list"),
            ("recirculate", "recirculate_preserving_field_list"),
        ],
    }),
    externs: &[EXTERNS],
};

const MATCH_ACTION: &[Slot] = &[
    Slot::Program(crate::HEADERS),
    Slot::Program(META),
    Slot::Intrinsic(STANDARD_METADATA),
];

const EXTERNS: &[&str] = &[
    "counter",
    "direct_counter",
    "meter",
    "direct_meter",
    "register",
    "action_profile",
    "action_selector",
    "Checksum16",
    "random",
    "digest",
    "mark_to_drop",
    "hash",
    "verify_checksum",
    "verify_checksum_with_payload",
    "update_checksum",
    "update_checksum_with_payload",
    "clone",
    "clone_preserving_field_list",
    "clone3",
    "resubmit_preserving_field_list",
    "resubmit",
    "recirculate_preserving_field_list",
    "recirculate",
    "truncate",
    "assert",
    "assume",
    "log_msg",
];
