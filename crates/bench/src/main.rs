//! `bench xdp` (`make bench-xdp`): six programs compiled by Onpath against the same written by hand in C, and both
//! against programs of two instructions. `bench pdm` (`make bench-pdm`): see [`pdm`]. Results go to
//! `bench/results/` as JSON and Markdown.

mod compile_time;
mod error;
mod machine;
mod pdm;
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
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Error> {
    let root = root();
    let which = std::env::args().nth(1).unwrap_or_default();
    let (json, markdown) = match which.as_str() {
        "xdp" => xdp(&root)?,
        "pdm" => pdm::measure(&root)?,
        _ => return Err(Error::new("say what to measure: `xdp` or `pdm`")),
    };
    let folder = root.join("bench/results");
    let write = |kind: &str, text: &str| {
        let path = folder.join(format!("{which}.{kind}"));
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&path, text))
            .map_err(|e| Error::file("write", &path, &e))
    };
    write("json", &json)?;
    write("md", &markdown)?;
    print!("{markdown}");
    Ok(())
}

/// What `make bench-xdp` measures, as JSON and Markdown.
fn xdp(root: &Path) -> Result<(String, String), Error> {
    let workloads = workload::read(&root.join("bench/xdp/workload.json"))?;
    let built = workloads
        .iter()
        .map(|w| programs::build(root, w))
        .collect::<Result<Vec<_>, _>>()?;
    let floors = programs::Floors::build(root)?;
    eprintln!("timing by test runs, in turn ...");
    let times = timing::measure(&built, &floors)?;
    eprintln!("packets through a pair of devices ...");
    let rates = throughput::measure(&built, throughput::FULL)?;
    eprintln!("compiling and loading ...");
    let compile_time = compile_time::measure(root)?;
    let report = report::Report::new(&built, &times, &rates, compile_time);
    Ok((report.json(), report.markdown()))
}

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
