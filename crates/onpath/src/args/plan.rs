//! Flags of `onpath plan`.

use crate::complete::names;
use clap::{Args, ValueEnum};

/// Where a parser of payloads may run.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlanTarget {
    /// Linux, by XDP
    Xdp,
    /// Linux, by traffic control
    Tc,
    /// A Tofino switch, by a model
    Tofino,
    /// A Netronome NFP card, by a model
    Nfp,
}

impl PlanTarget {
    /// Returns the target of this name.
    pub fn target(self) -> payload::plan::Platform {
        match self {
            PlanTarget::Xdp => payload::plan::Platform::Xdp,
            PlanTarget::Tc => payload::plan::Platform::Tc,
            PlanTarget::Tofino => payload::plan::Platform::Tofino,
            PlanTarget::Nfp => payload::plan::Platform::Nfp,
        }
    }
}

/// `onpath plan`
#[derive(Args, Debug)]
pub struct PlanArgs {
    /// A built-in message, or the file of a schema (TOML)
    #[arg(value_name = "SCHEMA", required_unless_present_any = ["list", "names"], add = names::messages())]
    pub schema: Option<String>,
    /// The attribute to find
    #[arg(long, value_name = "NAME", required_unless_present_any = ["list", "names"])]
    pub attribute: Option<String>,
    /// Where the parser runs; without it, every target is planned for
    #[arg(long, value_enum)]
    pub target: Option<PlanTarget>,
    /// Look for the attribute in the first BYTES of the payload, instead of what the schema says
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=65_535))]
    pub bytes: Option<u32>,
    /// Look for it among NUMBER attributes, instead of what the schema says; where their order is fixed, it decides
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=4_096))]
    pub attributes: Option<u32>,
    /// List the messages that are built in, with their attributes
    #[arg(long, conflicts_with_all = ["schema", "attribute", "target", "bytes", "attributes"])]
    pub list: bool,
    /// Plan for the automaton of a list of names on a Tofino, as published: names in text, slices of one byte (see `onpath
    /// firewall`)
    #[arg(long, value_name = "LIST", conflicts_with_all = ["schema", "attribute", "target", "bytes", "attributes", "list"])]
    pub names: Vec<std::path::PathBuf>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}
