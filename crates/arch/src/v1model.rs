//! `v1model`: a switch with ingress and egress, and checksums before and after.

use crate::xdp::HEADERS;
use crate::{Architecture, Block, Extern, ExternKind, Slot, effect, object, property, pure};
use ir::Role;

/// The slot of the program's own metadata.
pub const META: &str = "meta";
/// The slot of `standard_metadata_t`, its fields under their own names.
pub const STANDARD_METADATA: &str = "standard_metadata";
/// The value of `egress_spec` that drops a packet.
pub const DROP_PORT: u32 = 511;

/// The model.
pub const ARCHITECTURE: Architecture = Architecture {
    name: "v1model",
    include: "v1model.p4",
    package: "V1Switch",
    blocks: &[
        Block {
            role: Role::Parser,
            package_param: "p",
            params: &[
                Slot::PacketIn,
                Slot::Shared(HEADERS),
                Slot::Shared(META),
                Slot::Shared(STANDARD_METADATA),
            ],
        },
        Block {
            role: Role::VerifyChecksum,
            package_param: "vr",
            params: &[Slot::Shared(HEADERS), Slot::Shared(META)],
        },
        Block {
            role: Role::Ingress,
            package_param: "ig",
            params: MATCH_ACTION,
        },
        Block {
            role: Role::Egress,
            package_param: "eg",
            params: MATCH_ACTION,
        },
        Block {
            role: Role::ComputeChecksum,
            package_param: "ck",
            params: &[Slot::Shared(HEADERS), Slot::Shared(META)],
        },
        Block {
            role: Role::Deparser,
            package_param: "dep",
            params: &[Slot::PacketOut, Slot::Shared(HEADERS)],
        },
    ],
    externs: &[EXTERNS],
};

const MATCH_ACTION: &[Slot] = &[
    Slot::Shared(HEADERS),
    Slot::Shared(META),
    Slot::Shared(STANDARD_METADATA),
];

const EXTERNS: &[Extern] = &[
    object("counter"),
    object("direct_counter"),
    object("meter"),
    object("direct_meter"),
    object("register"),
    property("action_profile"),
    property("action_selector"),
    Extern {
        name: "Checksum16",
        kind: ExternKind::Stateless,
    },
    effect("random"),
    effect("digest"),
    effect("mark_to_drop"),
    pure("hash"),
    effect("verify_checksum"),
    effect("verify_checksum_with_payload"),
    pure("update_checksum"),
    effect("update_checksum_with_payload"),
    effect("clone"),
    effect("clone_preserving_field_list"),
    effect("clone3"),
    effect("resubmit_preserving_field_list"),
    effect("resubmit"),
    effect("recirculate_preserving_field_list"),
    effect("recirculate"),
    effect("truncate"),
    effect("assert"),
    effect("assume"),
    effect("log_msg"),
];
