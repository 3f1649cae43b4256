//! Architecture models: the blocks of a program, the storage passed between blocks, the externs that it may use, and
//! the meaning of its verdicts.
//!
//! A model is data. Elaboration reads it to bind the parameters of a program's parsers and controls to storage; the
//! interpreter and the targets read it to find the verdict or a port. How any target emits code is not known here.
//!
//! A new architecture is one [`Architecture`], listed in [`all`] or added to [`FURTHER`], and an include file with the
//! same package. An architecture that shares a [`Model`] with others shares its implementation too.

pub mod ebpf;
pub mod errors;
mod model;
pub mod payload;
mod stage;
pub mod tap;
pub mod tc;
pub mod v1model;
pub mod xdp;

pub use model::{AttachPoint, Model};
pub use stage::Stage;

use diag::Span;
use ir::passes::Rejects;
use ir::{OnReject, Program};

/// The block that turns bytes into headers, in every architecture.
pub const PARSER: &str = "parser";
/// The block that turns headers into bytes, in every architecture that has one.
pub const DEPARSER: &str = "deparser";
/// The slot that holds the program's headers, in every architecture.
pub const HEADERS: &str = "headers";

/// The externs of `telemetry.p4`, which programs of every architecture may include.
pub(crate) const TELEMETRY: &[&str] = &[
    "tally",
    "histogram",
    "distinct_count",
    "top_keys",
    "monotonic_ns",
    "digest",
];

/// An architecture model.
#[derive(Debug)]
pub struct Architecture {
    /// The name users know it by.
    pub name: &'static str,
    /// The include file that declares its interface.
    pub include: &'static str,
    /// The package whose instance is `main`.
    pub package: &'static str,
    /// Path that its packets take.
    pub model: Model,
    /// Positions at which its programs run, the default first.
    pub places: &'static [AttachPoint],
    /// Treatment of a packet that the parser rejects.
    pub on_reject: OnReject,
    /// Its stages in the order in which a packet meets them.
    pub stages: &'static [Stage],
    /// Resubmission, recirculation and copies of its packets; `None` if there are none.
    pub anew: Option<&'static Anew>,
    /// Members of enums that have the same meaning as others, since nothing sets the parameters by which they differ.
    pub fixed: &'static [Fixed],
    /// Members of enums by which an extern draws a random number. A call with one is not `@pure`, whatever its
    /// declaration says.
    pub draws: &'static [EnumMemberName],
    /// Names of the externs of its include file and of the files that it includes, except `core.p4`: a list a file.
    /// Their parameters and whether they are `@pure` come from the include file.
    pub externs: &'static [&'static [&'static str]],
    /// Constant that tells the edition of the interface that a program is written for, and the existing editions.
    pub editions: Option<(&'static str, &'static [u32])>,
    /// The port by which programs drop packets on purpose, if there is one.
    pub drop_port: Option<u32>,
    /// The field by which programs choose a multicast group, if there is one.
    pub group_field: Option<&'static str>,
    /// Returns the calls for which a program, as elaborated, needs a hook that can copy packets: the first of each
    /// kind.
    pub copies: fn(&Program) -> Vec<(&'static str, Span)>,
    /// Returns the program for targets, see [`for_targets`].
    pub for_targets: fn(&Program) -> (Program, Rejects),
}

/// Default values, which many architectures share.
pub const PLAIN: Architecture = Architecture {
    name: "",
    include: "",
    package: "",
    model: Model::Filter,
    places: AttachPoint::ALL,
    on_reject: OnReject::Stop,
    stages: &[],
    anew: None,
    fixed: &[],
    draws: &[],
    externs: &[],
    editions: None,
    drop_port: None,
    group_field: None,
    copies: |_| Vec::new(),
    for_targets: |program| (with_payload(program), Rejects::Stay),
};

/// A member of an enum whose parameters always have their initial values.
#[derive(Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The enum.
    pub of: &'static str,
    /// The member.
    pub member: &'static str,
    /// The member with the same effect.
    pub like: &'static str,
}

/// A member of an enum.
#[derive(Debug, PartialEq, Eq)]
pub struct EnumMemberName {
    /// The enum.
    pub of: &'static str,
    /// The member.
    pub member: &'static str,
}

/// Resubmission, recirculation and copies of packets.
#[derive(Debug, PartialEq, Eq)]
pub struct Anew {
    /// Slot whose fields a packet preserves if a `@field_list` names them.
    pub keeps: &'static str,
    /// Externs whose copies enter a block that other packets enter as well.
    pub copies: &'static [&'static str],
    /// Externs whose last argument gives the preserved fields. Each comes with the extern that takes the number of a
    /// field list instead.
    pub by_fields: &'static [(&'static str, &'static str)],
}

/// A block that a program supplies.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    /// Name of the block, which is that of an [`ir::PipelineBlock`].
    pub name: &'static str,
    /// Kind of the block.
    pub kind: BlockKind,
    /// The package's constructor parameter that takes it.
    pub package_param: &'static str,
    /// Storage that its parameters are bound to, in order.
    pub params: &'static [Slot],
}

impl Block {
    /// Makes the parser block of the kernel's models.
    pub(crate) const fn parser(package_param: &'static str) -> Block {
        Block {
            name: PARSER,
            kind: BlockKind::Parser,
            package_param,
            params: &[Slot::PacketIn, Slot::Program(HEADERS)],
        }
    }

    /// Makes the deparser block of the kernel's models that rewrite packets.
    pub(crate) const fn deparser(package_param: &'static str) -> Block {
        Block {
            name: DEPARSER,
            kind: BlockKind::Deparser,
            package_param,
            params: &[Slot::Program(HEADERS), Slot::PacketOut],
        }
    }
}

/// Kind of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// A parser.
    Parser,
    /// A control.
    Control,
    /// A control that emits headers.
    Deparser,
}

/// Storage that a block's parameter is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The packet as a parser reads it.
    PacketIn,
    /// The packet as a deparser builds it.
    PacketOut,
    /// Storage of the program's own, one for all blocks that name it; zero and invalid when a packet arrives. The
    /// name is that of an [`ir::Slot`].
    Program(&'static str),
    /// Storage that the architecture reads and writes too, one for all blocks that name it. The name is that of an
    /// [`ir::Slot`].
    Intrinsic(&'static str),
}

impl Architecture {
    /// Returns the names of its externs.
    pub fn externs(&self) -> impl Iterator<Item = &'static str> {
        self.externs.iter().copied().flatten().copied()
    }

    /// Returns the position at which a program, as elaborated, runs by default.
    pub fn default_place(&self, program: &Program) -> Option<AttachPoint> {
        let is_copied = !(self.copies)(program).is_empty();
        let mut fit = self.places.iter().copied();
        fit.find(|place| place.copies() || !is_copied)
    }

    /// Returns the blocks of all stages, in the order in which a packet meets them.
    pub fn blocks(&self) -> impl Iterator<Item = &'static Block> {
        self.stages.iter().flat_map(|stage| stage.blocks)
    }

    /// Returns the stages of a program; `None` if it lacks a required block.
    pub fn stages_of(&self, program: &Program) -> Option<Vec<ir::Stage>> {
        self.stages
            .iter()
            .map(|stage| stage.find(program))
            .collect()
    }

    /// Returns true if blocks of several stages name the slot.
    pub fn crosses(&self, slot: &str) -> bool {
        let names = |stage: &&Stage| {
            let mut slots = stage.blocks.iter().flat_map(|block| block.params);
            slots.any(|param| matches!(param, Slot::Program(name) | Slot::Intrinsic(name) if *name == slot))
        };
        self.stages.iter().filter(names).count() > 1
    }

    /// Returns the names of the shared slots, each once, in the order in which blocks name them.
    pub fn shared_slots(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for slot in self.blocks().flat_map(|b| b.params) {
            if let Slot::Program(name) | Slot::Intrinsic(name) = slot
                && !names.contains(name)
            {
                names.push(*name);
            }
        }
        names
    }
}

/// Returns a program for targets that emit code, and how its passes treat packets that the parser rejects. Only passes
/// come after this step: the control plane and the interpreter have the program as elaborated.
pub fn for_targets(program: &Program) -> (Program, Rejects) {
    (by_package(&program.arch).unwrap_or(&PLAIN).for_targets)(program)
}

/// Returns the program with the start of the payload passed to the calls that read it.
fn with_payload(program: &Program) -> Program {
    let mut program = program.clone();
    payload::lower(&mut program, payload::Calls::All);
    program.number_stmts();
    program
}

/// Models that come with Onpath, which messages and documents name.
pub const OWN: [&Architecture; 5] = [
    &tc::ARCHITECTURE,
    &xdp::ARCHITECTURE,
    &v1model::ARCHITECTURE,
    &tap::ARCHITECTURE,
    &ebpf::ARCHITECTURE,
];

/// Models that do not come with Onpath: a linked crate adds its own.
#[linkme::distributed_slice]
pub static FURTHER: [&'static Architecture];

/// All architecture models.
pub fn all() -> impl Iterator<Item = &'static Architecture> {
    OWN.into_iter().chain(FURTHER.iter().copied())
}

/// Returns the editions of the interface whose edition constant has this name.
pub fn editions(constant: &str) -> Option<&'static [u32]> {
    let mut editions = all().filter_map(|arch| arch.editions);
    editions.find_map(|(known, editions)| (known == constant).then_some(editions))
}

/// Returns the port by which programs of a package drop packets on purpose, if there is one.
pub fn drop_port(package: &str) -> Option<u32> {
    by_package(package)?.drop_port
}

/// Returns the model whose `main` is an instance of this package.
pub fn by_package(name: &str) -> Option<&'static Architecture> {
    all().find(|a| a.package == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn include(name: &str) -> String {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../p4include/");
        std::fs::read_to_string(format!("{path}{name}")).unwrap()
    }

    /// Returns type and name of each parameter in the declaration `keyword NAME<…>(…)` of `name`.
    fn params<'t>(text: &'t str, keyword: &str, name: &str) -> Vec<(&'t str, &'t str)> {
        let declaration = text
            .split_once(&format!("{keyword} {name}<"))
            .and_then(|(_, rest)| rest.split_once(';'))
            .map(|(declaration, _)| declaration)
            .unwrap_or_else(|| panic!("no {keyword} {name}"));
        let list = declaration.split_once('(').unwrap().1;
        let mut depth = 0;
        let split = |c: char| {
            depth += i32::from(c == '<') - i32::from(c == '>');
            c == ',' && depth == 0
        };
        list.trim_end_matches(')')
            .split(split)
            .map(|param| param.trim().rsplit_once(' ').unwrap())
            .collect()
    }

    #[test]
    fn packages_are_declared_in_the_include_files_with_the_blocks_in_order() {
        for arch in all() {
            let text = include(arch.include);
            let declared = params(&text, "package", arch.package);
            let names: Vec<_> = declared.iter().map(|&(_, name)| name).collect();
            let blocks: Vec<_> = arch.blocks().map(|b| b.package_param).collect();
            assert_eq!(names, blocks, "{}", arch.name);
            for (block, (ty, _)) in arch.blocks().zip(declared) {
                let (ty, _) = ty.split_once('<').unwrap();
                let keyword = match block.kind {
                    BlockKind::Parser => "parser",
                    BlockKind::Control | BlockKind::Deparser => "control",
                };
                let declared = params(&text, keyword, ty);
                assert_eq!(declared.len(), block.params.len(), "{ty} of {}", arch.name);
                for ((ty, name), slot) in declared.iter().zip(block.params) {
                    let expected = match slot {
                        Slot::PacketIn => ty.ends_with("packet_in"),
                        Slot::PacketOut => ty.ends_with("packet_out"),
                        Slot::Program(_) | Slot::Intrinsic(_) => !ty.contains("packet_"),
                    };
                    assert!(expected, "{ty} {name} of {} is no {slot:?}", arch.name);
                }
            }
        }
    }

    #[test]
    fn blocks_and_slots_have_names_of_their_own() {
        for arch in all() {
            let names: HashSet<_> = arch.blocks().map(|b| b.name).collect();
            assert_eq!(names.len(), arch.blocks().count(), "{}", arch.name);
            let mut program = HashSet::new();
            let mut intrinsic = HashSet::new();
            for slot in arch.blocks().flat_map(|b| b.params) {
                match slot {
                    Slot::Program(name) => program.insert(*name),
                    Slot::Intrinsic(name) => intrinsic.insert(*name),
                    Slot::PacketIn | Slot::PacketOut => continue,
                };
            }
            assert!(program.is_disjoint(&intrinsic), "{}", arch.name);
        }
    }

    #[test]
    fn every_extern_is_declared_in_its_include_file() {
        for arch in all() {
            let mut text =
                include(arch.include) + &include("telemetry.p4") + &include("payload.p4");
            if arch.include != "v1model.p4" {
                text += &include("flow_state.p4");
            }
            if matches!(
                arch.include,
                "xdp_model.p4" | "tc_model.p4" | "tap_model.p4"
            ) {
                text += &include("ebpf_model.p4");
                text += &include("xdp_model.p4");
            }
            for item in arch.externs() {
                let declared = text.lines().any(|line| {
                    line.trim_start_matches("@pure ").starts_with("extern ")
                        && line
                            .split(|c: char| !c.is_alphanumeric() && c != '_')
                            .any(|word| word == item)
                });
                assert!(declared, "{item} of {}", arch.name);
            }
        }
    }

    #[test]
    fn slots_are_shared_by_name() {
        assert_eq!(
            v1model::ARCHITECTURE.shared_slots(),
            ["headers", "meta", "standard_metadata"]
        );
        assert_eq!(ebpf::ARCHITECTURE.shared_slots(), ["headers", "accept"]);
    }
}
