//! `make test-kernels`: the tests that concern the kernel, on the kernels that people run.
//!
//! A guest's root is this machine's, with an overlay in the guest's memory for everything that it writes. So it has the
//! tools, the test binaries and the repository at the same paths, and changes none of them. It writes its report, and
//! the objects that it compiles, to folders of this machine.

mod accelerator;
mod arguments;
mod binaries;
mod boot;
mod built;
mod document;
mod error;
mod expected;
#[cfg(test)]
mod fake;
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

use accelerator::Accelerator;
use arguments::{Arguments, HOST, Inner, Run};
use clap::Parser;
use error::Error;
use expected::Expected;
use packages::Flavour;
use progress::Progress;
use results::Results;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use trial::Event;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.inner {
        Some(Inner::Guest { plan, events }) => guests::inside(&plan, &events).map(|()| true),
        None => {
            interrupt::listen();
            on_kernels(&arguments.run)
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("matrix: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the trials on all kernels. Returns true if the results are as documented.
fn on_kernels(run: &Run) -> Result<bool, Error> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().map_err(Error::file("read", &root))?;
    let expected = Expected::read(&root)?;
    let set = |variable| std::env::var_os(variable).filter(|value| !value.is_empty());
    let target = set("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let objects = set("ONPATH_OBJECT_CACHE").map_or_else(|| target.join("objects"), PathBuf::from);
    let (folder, objects) = (made(&target.join("kernels"))?, made(&objects)?);
    let binaries = binaries::build(&root)?;
    let plan = plan::plan(&root, &binaries, &folder, &objects, &run.choice)?;
    if plan.suites.is_empty() {
        return Err(Error::new("no trial is chosen"));
    }
    eprintln!("{} trials on each kernel", plan.names().count());
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
        let text = document::document(&machine, Accelerator::of_this_machine(), &tables);
        fs::write(file, text).map_err(Error::file("write", file))?;
    }
    let mut differs = String::new();
    for results in &all {
        let found = expected.differences(results, run.choice.is_everything());
        differs += &report::report(results, &found);
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

/// Runs the plan on one kernel, and returns the results. A guest that ends early is one of them, so that the other
/// kernels are still tried.
fn on_kernel(name: &str, plan: &plan::GuestPlan, folder: &Path) -> Result<Results, Error> {
    let plan = match name {
        HOST => plan.with_wires(false),
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

/// Runs one guest's plan.
fn in_guest(
    name: &str,
    flavour: Flavour,
    plan: &plan::GuestPlan,
    folder: &Path,
    take: &mut dyn FnMut(Event),
) -> Result<(), Error> {
    let kernel = packages::fetch(name, flavour, &folder.join("packages"))?;
    let logs = made(&folder.join("logs").join(flavour.folder(name)))?;
    eprintln!("{name}: booting by {}", Accelerator::of_this_machine().name);
    guests::run(&kernel, plan, &logs, take)
}

/// Makes a folder if it does not exist, and returns its absolute path.
fn made(folder: &Path) -> Result<PathBuf, Error> {
    let made = fs::create_dir_all(folder).and_then(|()| folder.canonicalize());
    made.map_err(Error::file("make", folder))
}
