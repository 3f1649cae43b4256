//! `make bench-xdp`: six programs compiled by Onpath against the same written by hand in C, and both
//! against programs of two instructions. Results go to `bench/results/` as JSON and Markdown.

mod compile_time;
mod error;
mod machine;
mod programs;
mod report;
mod throughput;
mod timing;
mod workload;

use error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-xdp: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Error> {
    let root = root();
    let workloads = workload::read(&root.join("bench/xdp/workload.json"))?;
    let built = workloads
        .iter()
        .map(|w| programs::build(&root, w))
        .collect::<Result<Vec<_>, _>>()?;
    let floors = programs::Floors::build(&root)?;
    eprintln!("timing by test runs, in turn ...");
    let times = timing::measure(&built, &floors)?;
    eprintln!("packets through a pair of devices ...");
    let rates = throughput::measure(&built, throughput::FULL)?;
    eprintln!("compiling and loading ...");
    let compile_time = compile_time::measure(&root)?;
    let report = report::Report::new(&built, &times, &rates, compile_time);
    let folder = root.join("bench/results");
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&path, text))
            .map_err(|e| Error::file("write", &path, &e))
    };
    let markdown = report.markdown();
    write("xdp.json", &report.json())?;
    write("xdp.md", &markdown)?;
    print!("{markdown}");
    Ok(())
}

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
