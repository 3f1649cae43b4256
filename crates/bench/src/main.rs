//! Benchmarks. Results go to `bench/results/` as JSON and Markdown, plots as SVG.
//!
//! - `bench xdp` (`make bench-xdp`): eight programs compiled by Onpath against hand-written C, and both against
//!   programs of two instructions.
//! - `bench pdm` (`make bench-pdm`): see [`pdm`].
//! - `bench tables` (`make bench-tables`): see [`tables`].
//! - `bench specialized` (`make bench-specialized`): see [`specialized`].
//! - `bench payload` (`make bench-payload`): see [`payload`].
//! - `bench names` (`make bench-names`): see [`names`].
//! - `bench firewall` (`make bench-firewall`): see [`firewall`].
//! - `bench telemetry` (`make bench-telemetry`): see [`telemetry`].
//! - `bench slow` (`make bench-slow`): see [`slow`].

mod architectures;
mod arguments;
mod compile_time;
mod copies;
mod error;
mod firewall;
mod key_hash;
mod look_ups;
mod machine;
mod names;
mod payload;
mod pdm;
mod programs;
mod report;
mod slow;
mod specialized;
mod tables;
mod telemetry;
mod throughput;
mod timing;
mod workload;

use arguments::{Arguments, Command, OfTables};
use clap::Parser;
use error::Error;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), Error> {
    if let Some(folder) = clang::object_cache::folder() {
        return Err(Error::new(format!(
            "{} keeps objects, and clang's time is measured: set {} to nothing",
            folder.display(),
            clang::object_cache::VARIABLE
        )));
    }
    let root = root();
    match command {
        Command::Xdp { only: None } => write(&root, "xdp", xdp(&root)?)?,
        Command::Xdp { only: Some(name) } => print!("{}", one_of_xdp(&root, &name)?),
        Command::Tables { only: None } => write(&root, "tables", tables::measure(&root)?)?,
        Command::Specialized => write(&root, "specialized", specialized::measure(&root)?)?,
        Command::Payload => {
            let results = payload::measure(&root, payload::EFFORT)?;
            write(&root, "payload", (json(&results)?, results.markdown()))?;
        }
        Command::Names => {
            let results = names::measure(&root, payload::EFFORT)?;
            write(&root, "names", (json(&results)?, results.markdown()))?;
        }
        Command::Slow { seconds, seed } => {
            let effort = slow::Effort {
                time: std::time::Duration::from_secs(seconds.into()),
                seed,
            };
            let results = slow::measure(&root, effort)?;
            write(&root, "slow", (json(&results)?, results.markdown()))?;
        }
        Command::Telemetry { rounds } => {
            let results = telemetry::measure(&telemetry::Effort::of_rounds(rounds.into()))?;
            for (name, plot) in results.plots()? {
                let path = root.join(format!("bench/results/{name}.svg"));
                fs::write(&path, plot).map_err(|e| Error::file("write", &path, &e))?;
            }
            write(&root, "telemetry", (json(&results)?, results.markdown()))?;
        }
        Command::Firewall {
            quick,
            only: Some(part),
        } => print!(
            "{}",
            firewall::measure_part(&root, &firewall::Effort::new(quick), part)?
        ),
        Command::Firewall { quick, only: None } => {
            let results = firewall::measure(&root, &firewall::Effort::new(quick))?;
            for (name, plot) in results.plots()? {
                let path = root.join(format!("bench/results/{name}.svg"));
                fs::write(&path, plot).map_err(|e| Error::file("write", &path, &e))?;
            }
            write(&root, "firewall", (json(&results)?, results.markdown()))?;
        }
        Command::Tables { only: Some(part) } => {
            let table = match part {
                OfTables::KeyHash => {
                    key_hash::markdown(&key_hash::measure(&root, key_hash::EFFORT)?)
                }
                OfTables::LookUps => look_ups::markdown(&look_ups::measure()?),
            };
            print!("{table}");
        }
        Command::Pdm { only: None } => write(&root, "pdm", pdm::measure(&root)?)?,
        Command::Pdm { only: Some(part) } => print!("{}", pdm::measure_part(&root, part)?),
    }
    Ok(())
}

/// Formats results as JSON.
fn json(results: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string_pretty(results).map_err(|e| Error::new(e.to_string()))
}

/// Writes results to their files, and prints the Markdown.
fn write(root: &Path, name: &str, (json, markdown): (String, String)) -> Result<(), Error> {
    let folder = root.join("bench/results");
    let write = |kind: &str, text: &str| {
        let path = folder.join(format!("{name}.{kind}"));
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&path, text))
            .map_err(|e| Error::file("write", &path, &e))
    };
    write("json", &json)?;
    write("md", &markdown)?;
    print!("{markdown}");
    Ok(())
}

/// Runs the measurements of `make bench-xdp`, and returns JSON and Markdown.
fn xdp(root: &Path) -> Result<(String, String), Error> {
    let workloads = workload::read(&root.join("bench/xdp/workload.json"))?;
    let built = workloads
        .iter()
        .map(|w| programs::build(root, w))
        .collect::<Result<Vec<_>, _>>()?;
    let baselines = programs::Baselines::build(root)?;
    eprintln!("timing by test runs, in turn ...");
    let times = timing::measure(&built, &baselines)?;
    eprintln!("packets through a pair of devices ...");
    let rates = throughput::measure(&built, throughput::FULL)?;
    eprintln!("compiling and loading ...");
    let compile_time = compile_time::measure(root)?;
    eprintln!("the router for two architectures ...");
    let routers = architectures::measure(root, &baselines, timing::effort())?;
    eprintln!("copies at tc ...");
    let copies = copies::measure(root, timing::effort())?;
    let report = report::Report::new(&built, &times, &rates, compile_time, routers, copies);
    Ok((report.json(), report.markdown()))
}

/// Measures time and size of one program of `make bench-xdp`, and returns Markdown.
fn one_of_xdp(root: &Path, name: &str) -> Result<String, Error> {
    if name == architectures::NAME {
        let baselines = programs::Baselines::build(root)?;
        let routers = architectures::measure(root, &baselines, timing::effort())?;
        return Ok(routers.markdown());
    }
    if name == copies::NAME {
        return Ok(copies::measure(root, timing::effort())?.markdown());
    }
    let workloads = workload::read(&root.join("bench/xdp/workload.json"))?;
    let Some(workload) = workloads.iter().find(|w| w.name == name) else {
        let names: Vec<&str> = workloads.iter().map(|w| w.name.as_str()).collect();
        return Err(Error::new(format!(
            "there is no program `{name}`; the programs are {}, `{}` is the router for two architectures, and `{}` are copies at tc",
            names.join(", "),
            architectures::NAME,
            copies::NAME
        )));
    };
    let built = [programs::build(root, workload)?];
    let times = timing::measure(&built, &programs::Baselines::build(root)?)?;
    Ok(report::of_one(&built[0], &times[0]))
}

/// Returns the repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
