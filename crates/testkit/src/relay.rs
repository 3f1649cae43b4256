//! Architecture that exists only in tests: `relay_model`, which parses and deparses a packet twice. Its include file is
//! in [`folder`], and programs for it are in `tests/stages/`.

use crate::files::root;
use arch::{Architecture, Block, BlockKind, HEADERS, Model, Slot, Stage, xdp};
use std::path::PathBuf;

/// Slot of the second stage's headers.
const FAR_HEADERS: &str = "far headers";
/// Slot of the program's own scalars, for both stages.
const META: &str = "meta";

const NEAR: Slot = Slot::Program(HEADERS);
const FAR: Slot = Slot::Program(FAR_HEADERS);
const SHARED: Slot = Slot::Program(META);
const INPUT: Slot = Slot::Intrinsic(xdp::INPUT);
const OUTPUT: Slot = Slot::Intrinsic(xdp::OUTPUT);

const fn block(
    name: &'static str,
    kind: BlockKind,
    package_param: &'static str,
    params: &'static [Slot],
) -> Block {
    Block {
        name,
        kind,
        package_param,
        params,
    }
}

/// Makes a stage whose controls may all drop the packet.
const fn stage(blocks: &'static [Block]) -> Stage {
    Stage {
        blocks,
        drops: Some((xdp::OUTPUT, "dropped")),
    }
}

/// Description of the architecture.
pub const ARCHITECTURE: Architecture = Architecture {
    name: "relay_model",
    include: "relay_model.p4",
    package: "relay",
    model: Model::Switch,
    stages: &[
        stage(&[
            block(
                "near parser",
                BlockKind::Parser,
                "np",
                &[Slot::PacketIn, NEAR, SHARED],
            ),
            block(
                "near control",
                BlockKind::Control,
                "nc",
                &[NEAR, SHARED, INPUT, OUTPUT],
            ),
            block(
                "near deparser",
                BlockKind::Deparser,
                "nd",
                &[NEAR, Slot::PacketOut],
            ),
        ]),
        stage(&[
            block(
                "far parser",
                BlockKind::Parser,
                "fp",
                &[Slot::PacketIn, FAR, SHARED],
            ),
            block(
                "far control",
                BlockKind::Control,
                "fc",
                &[FAR, SHARED, INPUT, OUTPUT],
            ),
            block(
                "far deparser",
                BlockKind::Deparser,
                "fd",
                &[FAR, Slot::PacketOut],
            ),
        ]),
    ],
    ..arch::PLAIN
};

/// Returns the folder of its include file.
pub fn folder() -> PathBuf {
    root().join("crates/testkit/p4include")
}

#[linkme::distributed_slice(arch::FURTHER)]
static LINKED: &arch::Architecture = &ARCHITECTURE;
