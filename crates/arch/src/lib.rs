//! Architecture models: which blocks a program has, what passes from block to block, which externs
//! it may use, and what its verdicts mean.
//!
//! A model is data. Elaboration reads it to bind the parameters of a program's parsers and controls to
//! storage; the interpreter and the targets read it to know where a verdict or a port is found. How any
//! target emits code is not known here.
//!
//! A new architecture is a new module with one [`Architecture`], listed in [`all`], and an include file
//! with the same package.

pub mod ebpf;
pub mod errors;
pub mod tc;
pub mod v1model;
pub mod xdp;

use ir::Role;

/// An architecture model.
#[derive(Debug, PartialEq, Eq)]
pub struct Architecture {
    /// The name users know it by.
    pub name: &'static str,
    /// The include file that declares its interface.
    pub include: &'static str,
    /// The package whose instance is `main`.
    pub package: &'static str,
    /// Its blocks in the order in which a packet meets them. Each is one constructor parameter of the
    /// package, in the same order.
    pub blocks: &'static [Block],
    /// The externs of its include file and of those that it includes, `core.p4` left out: a list a file.
    pub externs: &'static [&'static [Extern]],
}

/// A block that a program supplies.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    /// What it is for.
    pub role: Role,
    /// The package's constructor parameter that takes it.
    pub package_param: &'static str,
    /// What its parameters are bound to, in order.
    pub params: &'static [Slot],
}

/// What a block's parameter is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The packet as a parser reads it.
    PacketIn,
    /// The packet as a deparser builds it.
    PacketOut,
    /// Storage of the pipeline, one for all blocks that name it; zero and invalid when a packet
    /// arrives. The name is that of an [`ir::Slot`].
    Shared(&'static str),
}

/// An extern that an architecture declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extern {
    /// Its name in P4.
    pub name: &'static str,
    /// Whether it is an object or a function.
    pub kind: ExternKind,
}

/// What sort of extern it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExternKind {
    /// An object that keeps state from packet to packet.
    Stateful,
    /// An object that gives the same answer to the same question.
    Stateless,
    /// An object that is the value of a table's property and has no methods that programs call.
    TableProperty,
    /// A function that depends on its arguments alone.
    Pure,
    /// A function that reads or changes something outside its arguments.
    Effect,
}

const fn object(name: &'static str) -> Extern {
    Extern {
        name,
        kind: ExternKind::Stateful,
    }
}

const fn property(name: &'static str) -> Extern {
    Extern {
        name,
        kind: ExternKind::TableProperty,
    }
}

const fn pure(name: &'static str) -> Extern {
    Extern {
        name,
        kind: ExternKind::Pure,
    }
}

const fn effect(name: &'static str) -> Extern {
    Extern {
        name,
        kind: ExternKind::Effect,
    }
}

impl Architecture {
    /// The block with a role.
    pub fn block(&self, role: Role) -> Option<&'static Block> {
        self.blocks.iter().find(|b| b.role == role)
    }

    /// Its externs.
    pub fn externs(&self) -> impl Iterator<Item = &'static Extern> {
        self.externs.iter().copied().flatten()
    }

    /// The extern of a name.
    pub fn find_extern(&self, name: &str) -> Option<&'static Extern> {
        self.externs().find(|e| e.name == name)
    }

    /// The names of the shared slots, each once, in the order in which blocks name them.
    pub fn shared_slots(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for slot in self.blocks.iter().flat_map(|b| b.params) {
            if let Slot::Shared(name) = slot
                && !names.contains(name)
            {
                names.push(*name);
            }
        }
        names
    }
}

/// All architecture models.
pub fn all() -> &'static [&'static Architecture] {
    &[
        &ebpf::ARCHITECTURE,
        &xdp::ARCHITECTURE,
        &tc::ARCHITECTURE,
        &v1model::ARCHITECTURE,
    ]
}

/// The model whose `main` is an instance of this package.
pub fn by_package(name: &str) -> Option<&'static Architecture> {
    all().iter().copied().find(|a| a.package == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn include(name: &str) -> String {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../p4include/");
        std::fs::read_to_string(format!("{path}{name}")).unwrap()
    }

    #[test]
    fn packages_are_declared_in_the_include_files_with_the_blocks_in_order() {
        for arch in all() {
            let text = include(arch.include);
            let declaration = text
                .split_once(&format!("package {}<", arch.package))
                .and_then(|(_, rest)| rest.split_once(';'))
                .map(|(declaration, _)| declaration)
                .unwrap();
            let params: Vec<&str> = declaration
                .split_once('(')
                .unwrap()
                .1
                .trim_end_matches(')')
                .split_whitespace()
                .filter(|word| !word.ends_with('>') && !word.contains('<') || word.ends_with(','))
                .map(|word| word.trim_end_matches([',', ')']))
                .collect();
            for block in arch.blocks {
                assert!(
                    params.contains(&block.package_param),
                    "{block:?}: {params:?}"
                );
            }
        }
    }

    #[test]
    fn every_extern_is_declared_in_its_include_file() {
        for arch in all() {
            let mut text = include(arch.include);
            if arch.include != "v1model.p4" {
                text += &include("flow_state.p4");
            }
            if matches!(arch.include, "xdp_model.p4" | "tc_model.p4") {
                text += &include("ebpf_model.p4");
                text += &include("xdp_model.p4");
            }
            for item in arch.externs() {
                let declared = text.lines().any(|line| {
                    line.starts_with("extern ")
                        && line
                            .split(|c: char| !c.is_alphanumeric() && c != '_')
                            .any(|word| word == item.name)
                });
                assert!(declared, "{} of {}", item.name, arch.name);
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
