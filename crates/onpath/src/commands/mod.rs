//! Commands, a file for each.

mod attached;
mod build;
mod captures;
mod changes;
mod check;
mod completions;
mod counter;
mod digests;
mod doctor;
mod drops;
pub(crate) mod explain;
mod firewall;
mod flows;
mod graph;
mod group;
mod guard;
mod instance;
mod loads_from;
mod log;
mod look_up;
mod ls;
mod man;
mod meter;
mod metrics;
mod mirror;
mod named;
mod names;
pub mod pdm;
mod plan;
mod port;
mod presence;
mod profile;
pub mod query;
mod register;
mod source;
mod start;
mod started;
mod stream;
mod table;
mod test;
mod unload;

use crate::args::Command;
use crate::output::{Done, err_line};

/// Runs the command of the command line.
pub fn run(command: Command) -> Done {
    if let Some(why) = clang::object_cache::unused() {
        let variable = clang::object_cache::VARIABLE;
        err_line!(
            "warning: what clang makes is not kept ({variable} names a folder for it): {why}"
        );
    }
    match command {
        Command::Check(args) => check::run(args),
        Command::Build(args) => build::run(args),
        Command::Test(args) => test::run(args),
        Command::Run(args) => start::run(args),
        Command::Ls(args) => ls::run(args),
        Command::Unload(args) => unload::run(args),
        Command::Table(args) => table::run(args),
        Command::Counter(args) => counter::run(args),
        Command::Metrics(args) => metrics::run(args),
        Command::Flows(args) => flows::run(args),
        Command::Group(args) => group::run(args),
        Command::Mirror(args) => mirror::run(args),
        Command::Names(args) => names::run(args),
        Command::Profile(args) => profile::run(args),
        Command::Meter(args) => meter::run(args),
        Command::Register(args) => register::run(args),
        Command::Digests(args) => digests::run(args),
        Command::Log(args) => log::run(args),
        Command::Drops(args) => drops::run(args),
        Command::Port(args) => port::run(args),
        Command::Graph(args) => graph::run(args),
        Command::Plan(args) => plan::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
        Command::Guard => guard::run(),
        Command::Keep { name } => guard::keep(&name),
        Command::Pdm(args) => pdm::run(args),
        Command::Firewall(args) => firewall::run(args),
        Command::Query(args) => query::run(args),
    }
}
