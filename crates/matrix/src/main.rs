//! `make test-kernels`: the tests that concern the kernel, on the kernels that people run.
//!
//! A guest's root is this machine's, over which what it writes is laid in its memory: it has the tools, the test
//! binaries and the repository at the same paths, and changes none of them. What it reports, and the objects that it
//! compiles, it writes to folders of this machine.

mod accelerator;
mod arguments;
mod binaries;
mod boot;
mod built;
mod cpio;
mod document;
mod drivers;
mod error;
mod expected;
mod guests;
mod image;
mod interrupt;
mod packages;
mod plan;
mod progress;
mod queries;
mod report;
mod results;
mod runner;
mod share;
mod suite;
mod table;
mod trial;
mod warm;
mod wires;

use arguments::{Command, HOST, Run};
use error::Error;
use expected::Expected;
use packages::Flavour;
use progress::Progress;
use results::Results;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use trial::{Event, Sink};

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("matrix: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all was as documented.
fn run() -> Result<bool, Error> {
    match arguments::parse(std::env::args().skip(1))? {
        Command::Help => {
            print!("{}", arguments::HELP);
            Ok(true)
        }
        Command::Guest { plan, events } => guests::inside(&plan, &events).map(|()| true),
        Command::Run(run) => {
            interrupt::listen();
            on_kernels(&run)
        }
    }
}

fn on_kernels(run: &Run) -> Result<bool, Error> {
    let root = root()?;
    let expected = Expected::read(&root)?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let folder = target.join("kernels");
    let objects = std::env::var_os("ONPATH_OBJECT_CACHE")
        .filter(|folder| !folder.is_empty())
        .map_or_else(|| target.join("objects"), PathBuf::from);
    for folder in [&folder, &objects] {
        fs::create_dir_all(folder).map_err(Error::file("make", folder))?;
    }
    let (folder, objects) = (absolute(&folder)?, absolute(&objects)?);
    let binaries = binaries::Binaries::build(&root)?;
    let plan = plan::plan(&root, &binaries, &folder, &objects, &run.choice)?;
    if plan.suites.is_empty() {
        return Err(Error::new("no trial is chosen"));
    }
    eprintln!("{} trials on each kernel", plan.len());
    let mut all = Vec::new();
    for kernel in &run.kernels {
        all.push(on_kernel(kernel, &plan, &folder)?);
        let file = folder.join("results.json");
        let text = serde_json::to_string_pretty(&all).map_err(|e| Error::new(e.to_string()))?;
        fs::write(&file, text).map_err(Error::file("write", &file))?;
        if interrupt::is_requested() {
            break;
        }
    }
    let tables = table::tables(&all, &expected);
    for (title, grid) in &tables {
        println!("\n{title}\n\n{}", grid.text());
    }
    if let Some(file) = &run.markdown {
        let machine = lab::Machine::this().to_string();
        let accelerator = accelerator::Accelerator::of_this_machine();
        let text = document::document(&machine, accelerator, &tables);
        fs::write(file, text).map_err(Error::file("write", file))?;
    }
    let mut differs = String::new();
    for results in &all {
        let found = expected.differences(results, run.choice.is_everything());
        differs += &report::differences(results, &found);
    }
    if differs.is_empty() {
        println!("all is as {} documents it", expected::FILE);
        return Ok(true);
    }
    println!("not as {} documents it:\n\n{differs}", expected::FILE);
    println!(
        "what each trial printed: {}",
        folder.join("results.json").display()
    );
    Ok(false)
}

/// The results on one kernel. That a guest ended early is one of them, so that the other kernels have their turn.
fn on_kernel(name: &str, plan: &plan::Plan, folder: &Path) -> Result<Results, Error> {
    let plan = match name {
        HOST => plan.without_wires(),
        _ => plan.clone(),
    };
    let mut results = Results::new(name);
    let mut progress = Progress::new(name);
    let mut take = |event: Event| {
        // Nobody may be looking.
        let _ = progress.take(&event, &mut std::io::stderr().lock());
        results.take(event);
    };
    let ended = if name == HOST {
        runner::run(&plan, &mut take);
        Ok(())
    } else {
        warm::run(&plan, name);
        let mut guests = plan.guests().into_iter();
        guests.try_for_each(|(flavour, part)| in_guest(name, flavour, &part, folder, &mut take))
    };
    results.seconds = progress.elapsed().as_secs();
    results
        .trouble
        .extend(ended.err().map(|error| error.to_string()));
    results.finish(&plan);
    Ok(results)
}

/// Runs what one guest is to do.
fn in_guest(
    name: &str,
    flavour: Flavour,
    plan: &plan::Plan,
    folder: &Path,
    take: &mut dyn Sink,
) -> Result<(), Error> {
    let kernel = packages::fetch(name, flavour, &folder.join("packages"))?;
    let logs = folder.join("logs").join(flavour.folder(name));
    fs::create_dir_all(&logs).map_err(Error::file("make", &logs))?;
    eprintln!(
        "{name}: booting by {}",
        accelerator::Accelerator::of_this_machine().name()
    );
    guests::run(&kernel, plan, &logs, take)
}

/// The repository.
fn root() -> Result<PathBuf, Error> {
    absolute(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
}

fn absolute(path: &Path) -> Result<PathBuf, Error> {
    path.canonicalize().map_err(Error::file("read", path))
}
