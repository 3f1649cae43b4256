//! Tests of the command line as users meet it: sessions with every error case and its full text.
//!
//! `sessions/` needs no privileges; `kernel/` runs programs by XDP in namespaces of its own and needs root.
//! The blocks of documents that begin with "```console" are sessions too, one a document. [`pages`] runs the examples of
//! diagnostics. `ONPATH_BLESS=1` writes the present output of the commands to the files.

mod kernels;
mod pages;
mod session;

use libtest_mimic::{Arguments, Failed, Trial};
use session::{Environment, blur, difference, parse, print, run};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use testkit::files;

const HERE: &str = "crates/onpath/tests/cli";

fn main() {
    let mut args = Arguments::from_args();
    args.test_threads.get_or_insert(testkit::threads());
    let mut trials = Vec::new();
    for (folder, in_kernel) in [("sessions", false), ("kernel", true)] {
        for file in files::below(&format!("{HERE}/{folder}"), "txt") {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            let name = format!("{folder}::{stem}");
            trials.push(Trial::test(name, move || check(&file, false, in_kernel)));
        }
    }
    let has_session = |document: &PathBuf| {
        std::fs::read_to_string(document).is_ok_and(|text| text.contains("\n```console\n"))
    };
    for document in files::documents().into_iter().filter(has_session) {
        let name = format!("documents::{}", files::short(&document));
        trials.push(Trial::test(name, move || check(&document, true, true)));
    }
    trials.extend(pages::trials());
    libtest_mimic::run(&args, trials).exit();
}

/// Runs the session in a file and compares.
fn check(file: &Path, fenced: bool, in_kernel: bool) -> Result<(), Failed> {
    if in_kernel && !is_root() {
        return Err("it runs programs in the kernel, which needs root".into());
    }
    let text = std::fs::read_to_string(file)?;
    let written = parse(&text, fenced);
    let bless = std::env::var_os("ONPATH_BLESS").is_some();
    let kernel = host::linux::kernel_version();
    if bless && !kernels::is_newest(&written, kernel) {
        return Err(
            "sessions are written on the newest kernel; this one prints something else".into(),
        );
    }
    let expected = match bless {
        true => written,
        false => kernels::on(&written, kernel),
    };
    let folder = tempfile::tempdir()?;
    furnish(folder.path())?;
    let bin = PathBuf::from(env!("CARGO_BIN_EXE_onpath"));
    let environment = Environment {
        folder: folder.path(),
        bin: bin.parent().ok_or("the binary has no folder")?,
        in_kernel,
        first_try: fenced && bless,
        longest: session::LONGEST,
    };
    let found = run(&expected, &environment)?;
    let (before, now) = (blur(&print(&expected)), blur(&print(&found)));
    if bless {
        // A document for readers keeps real numbers, those of this run.
        std::fs::write(file, if fenced { print(&found) } else { now })?;
        return Ok(());
    }
    let [before, now] = [before, now].map(|output| kernels::compared(output, kernel));
    if before == now {
        return Ok(());
    }
    Err(format!(
        "{}: the commands print something else now:\n{}",
        files::short(file),
        difference(&before, &now)
    )
    .into())
}

/// Puts the repository's programs, demo and tests, and the sessions' own files, into a session's folder.
fn furnish(folder: &Path) -> std::io::Result<()> {
    // Other users run commands here too.
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))?;
    for shared in ["docs", "demo", "programs", "tests"] {
        symlink(files::root().join(shared), folder.join(shared))?;
    }
    for file in std::fs::read_dir(files::root().join(HERE).join("files"))? {
        let path = file?.path();
        if let Some(name) = path.file_name() {
            std::fs::copy(&path, folder.join(name))?;
        }
    }
    Ok(())
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|about| about.uid() == 0)
}
