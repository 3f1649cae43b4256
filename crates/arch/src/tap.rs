//! `tap_model`: reads passing packets. A parser, and a control that changes nothing; every packet continues unchanged.

use crate::{Architecture, Block, BlockKind, Model, Slot, Stage};
use ir::passes::Rejects;
use ir::{OnReject, Program};

/// The slot of `tap_input`, whose scalars have the names of its fields.
pub const INPUT: &str = "tap_input";
/// The scalar with the error of the packet's parser.
pub const PARSER_ERROR: &str = "parser_error";
/// The block that looks at the packet.
pub const WATCH: &str = "watch";

/// The model.
pub const ARCHITECTURE: Architecture = Architecture {
    name: "tap_model",
    include: "tap_model.p4",
    package: "tap",
    model: Model::Tap,
    on_reject: OnReject::Continue,
    stages: &[Stage::of(&[
        Block::parser("p"),
        Block {
            name: WATCH,
            kind: BlockKind::Control,
            package_param: "w",
            params: &[Slot::Program(crate::HEADERS), Slot::Intrinsic(INPUT)],
        },
    ])],
    externs: &[
        crate::ebpf::EXTERNS,
        crate::TELEMETRY,
        crate::payload::EXTERNS,
    ],
    for_targets,
    ..crate::PLAIN
};

/// Returns the program for targets: unchanged, except that packets which its parser rejects reach the control too.
fn for_targets(program: &Program) -> (Program, Rejects) {
    let error = program.slot_var(INPUT, PARSER_ERROR);
    (crate::with_payload(program), Rejects::Edges(error))
}
