//! Finds the bundle or object in a folder that `onpath build -o` wrote.

use super::{OBJECT, errors};
use crate::bundle::is_bundle;
use diag::Diagnostic;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns true if a file's name is that of an object.
pub fn is_object(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == OBJECT)
}

/// Returns the bundle in a folder, or its object if it has no bundle. A path that is no folder is returned as it is.
///
/// # Errors
///
/// The folder has neither, or several, or cannot be read.
pub fn find(file: &Path) -> Result<PathBuf, Box<Diagnostic>> {
    if !file.is_dir() {
        return Ok(file.to_owned());
    }
    let unreadable = |error: std::io::Error| errors::unreadable(file, &error);
    let mut all = Vec::new();
    for entry in fs::read_dir(file).map_err(unreadable)? {
        all.push(entry.map_err(unreadable)?.path());
    }
    all.sort();
    for (kind, is_bundle_wanted) in [("bundles", true), ("objects", false)] {
        let wanted = |path: &&PathBuf| match is_bundle_wanted {
            true => is_bundle(path),
            false => is_object(path),
        };
        let found: Vec<&PathBuf> = all.iter().filter(wanted).collect();
        match found[..] {
            [] => {}
            [only] => return Ok(only.clone()),
            _ => return Err(errors::several(file, kind, &found)),
        }
    }
    Err(errors::nothing(file))
}
