//! `v1model`: a switch with ingress and egress, and checksums before and after.

pub mod copying;
mod lower;
pub mod traffic;
pub mod unicast;

use crate::{
    Anew, Architecture, AttachPoint, Block, BlockKind, EnumMemberName, Fixed, Model, Slot, Stage,
};
use diag::Span;
use ir::passes::Rejects;
use ir::{OnReject, Program};

/// The slot of the program's own metadata.
pub const META: &str = "meta";
/// The slot of `standard_metadata_t`, its fields under their own names.
pub const STANDARD_METADATA: &str = "standard_metadata";
/// The value of `egress_spec` that drops a packet.
pub const DROP_PORT: u32 = 511;
/// Values of `instance_type`: how a packet came to its current block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum InstanceType {
    /// In ingress from a port, in egress as ingress sent it.
    Normal = 0,
    /// In egress, as a clone that ingress made.
    IngressClone = 1,
    /// In egress, as a clone that egress made.
    EgressClone = 2,
    /// In ingress again, with the bytes that the deparser made.
    Recirculated = 4,
    /// In egress, as the copy of a multicast group.
    Replicated = 5,
    /// In ingress again, with the bytes that were received.
    Resubmitted = 6,
}

/// The block that verifies the checksums of received packets.
pub const VERIFY_CHECKSUM: &str = "verify checksum";
/// The block before the traffic manager.
pub const INGRESS: &str = "ingress";
/// The block after the traffic manager.
pub const EGRESS: &str = "egress";
/// The block that computes the checksums of packets to be sent.
pub const COMPUTE_CHECKSUM: &str = "compute checksum";

/// Returns the program for targets. If packets go to one port, or unchanged to all ports of a group, [`unicast`] makes
/// it; otherwise [`copying`] does.
fn for_targets(program: &Program) -> (Program, Rejects) {
    match copying::asks(program) {
        None => unicast::of(program).unwrap_or_else(|| copying::of(program)),
        Some(_) => copying::of(program),
    }
}

/// Returns the first feature of each kind for which a program needs a hook that can copy packets, with its location:
/// the extern that it calls, or "multicast groups".
pub fn copies(program: &Program) -> Vec<(&'static str, Span)> {
    let groups = unicast::sends_to_groups(program).map(|chosen| ("multicast groups", chosen));
    copying::asks(program).into_iter().chain(groups).collect()
}

/// Names all features by which a program resubmits, recirculates or copies packets: externs, "multicast groups".
pub fn ways(program: &Program) -> Vec<&'static str> {
    let asked = copying::all_asked(program).into_iter();
    let groups = unicast::sends_to_groups(program).map(|_| "multicast groups");
    asked.map(|(name, _)| name).chain(groups).collect()
}

/// Returns true if copies of a program's packets may differ, or packets are resubmitted or recirculated. Targets then
/// get the program from [`copying`].
pub fn copies_differ(program: &Program) -> bool {
    let (of_targets, _) = for_targets(program);
    of_targets
        .slots
        .iter()
        .any(|slot| slot.name == copying::REQUESTS)
}

/// The model.
pub const ARCHITECTURE: Architecture = Architecture {
    name: "v1model",
    include: "v1model.p4",
    package: "V1Switch",
    model: Model::Pipeline,
    // Its ports are those by which packets come in.
    places: &[AttachPoint::BeforeStack, AttachPoint::TrafficIn],
    on_reject: OnReject::Continue,
    stages: &[Stage::of(&[
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
    ])],
    anew: Some(&Anew {
        keeps: META,
        copies: &["clone", "clone_preserving_field_list"],
        by_fields: &[
            ("clone3", "clone_preserving_field_list"),
            ("resubmit", "resubmit_preserving_field_list"),
            ("recirculate", "recirculate_preserving_field_list"),
        ],
    }),
    fixed: &[
        Fixed {
            of: "HashAlgorithm",
            member: "crc32_custom",
            like: "crc32",
        },
        Fixed {
            of: "HashAlgorithm",
            member: "crc16_custom",
            like: "crc16",
        },
    ],
    draws: &[EnumMemberName {
        of: "HashAlgorithm",
        member: "random",
    }],
    externs: &[EXTERNS, crate::TELEMETRY, crate::payload::EXTERNS],
    editions: Some(("__v1model_version", &[20180101, 20200408])),
    drop_port: Some(DROP_PORT),
    group_field: Some("mcast_grp"),
    copies,
    for_targets,
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
