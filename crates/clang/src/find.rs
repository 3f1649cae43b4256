//! The compilers on this machine, and the one to use.

use crate::compiler::{CLANG_VARIABLE, Clang, OLDEST};
use crate::errors;
use diag::Diagnostic;
use host::child::{self, Ended};
use host::interrupt::Deferred;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Newest version that is looked for by a versioned name.
const NEWEST_NAME: u32 = 40;
/// Time that a compiler has to report its version.
const LONGEST_ANSWER: Duration = Duration::from_secs(10);

/// Finds the compiler to use: the one that `ONPATH_CLANG` names, else the newest on `PATH`.
pub fn find() -> Result<Clang, Box<Diagnostic>> {
    if let Some(named) = std::env::var_os(CLANG_VARIABLE) {
        let path = PathBuf::from(&named);
        let version = version_of(&path).ok_or_else(|| errors::named_clang_unusable(&path))?;
        return accept(Clang { path, version });
    }
    match installed().into_iter().next() {
        Some(clang) => accept(clang),
        None => Err(errors::no_clang()),
    }
}

fn accept(clang: Clang) -> Result<Clang, Box<Diagnostic>> {
    if clang.version < OLDEST {
        return Err(errors::clang_too_old(&clang));
    }
    Ok(clang)
}

/// Lists every clang on `PATH`, newest first.
pub fn installed() -> Vec<Clang> {
    let Some(path) = std::env::var_os("PATH") else {
        return Vec::new();
    };
    let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let lookup = |name: &str| dirs.iter().map(|d| d.join(name)).find(|p| p.is_file());
    let mut found: Vec<Clang> = (1..=NEWEST_NAME)
        .rev()
        .filter_map(|version| {
            let path = lookup(&format!("clang-{version}"))?;
            Some(Clang { path, version })
        })
        .collect();
    if let Some(path) = lookup("clang")
        && let Some(version) = version_of(&path)
        && !found.iter().any(|c| c.version == version)
    {
        found.push(Clang { path, version });
    }
    found.sort_by_key(|c| std::cmp::Reverse(c.version));
    found
}

/// Returns the major version that a compiler reports.
fn version_of(path: &Path) -> Option<u32> {
    let interrupts = Deferred::begin().ok()?;
    let mut command = Command::new(path);
    match child::run(command.arg("--version"), &interrupts, LONGEST_ANSWER) {
        Ok(Ended::ByItself(_, output)) => parse_version(&String::from_utf8_lossy(&output)),
        _ => None,
    }
}

/// Parses the major version: `Debian clang version 19.1.7 (…)` → 19
fn parse_version(text: &str) -> Option<u32> {
    let rest = text.split("clang version ").nth(1)?;
    rest.split(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_every_distributions_wording() {
        assert_eq!(
            parse_version("Debian clang version 14.0.6\nTarget: x"),
            Some(14)
        );
        assert_eq!(parse_version("clang version 19.1.7 (3 b1)"), Some(19));
        assert_eq!(
            parse_version("Ubuntu clang version 18.1.3 (1ubuntu1)"),
            Some(18)
        );
        assert_eq!(parse_version("gcc (Debian) 12"), None);
    }
}
