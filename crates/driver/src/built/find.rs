//! Which file a user means who names a folder that `onpath build -o` wrote.

use super::{OBJECT, errors};
use crate::bundle::is_bundle;
use diag::{Diagnostic, system_message};
use std::fs;
use std::path::{Path, PathBuf};

/// Whether a file is an object, by its name.
pub fn is_object(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == OBJECT)
}

/// The bundle in a folder or, without one, the object: the file itself if it is no folder.
///
/// # Errors
///
/// The folder has neither, or several, or cannot be read.
pub fn find(file: &Path) -> Result<PathBuf, Box<Diagnostic>> {
    if !file.is_dir() {
        return Ok(file.to_owned());
    }
    let unreadable = |error: std::io::Error| errors::unreadable(file, &system_message(&error));
    let mut all = Vec::new();
    for entry in fs::read_dir(file).map_err(unreadable)? {
        all.push(entry.map_err(unreadable)?.path());
    }
    all.sort();
    let kinds: [(&str, fn(&Path) -> bool); 2] = [("bundles", is_bundle), ("objects", is_object)];
    for (kind, wanted) in kinds {
        let mut found = all.iter().filter(|path| wanted(path));
        match (found.next(), found.next()) {
            (None, _) => {}
            (Some(only), None) => return Ok(only.clone()),
            (Some(_), Some(_)) => {
                let names: Vec<&PathBuf> = all.iter().filter(|path| wanted(path)).collect();
                return Err(errors::several(file, kind, &names));
            }
        }
    }
    Err(errors::nothing(file))
}
