//! Capture files that flags name.

use crate::output::{Stop, refused};
use host::files;
use std::path::{Path, PathBuf};
use telemetry::capture::{self, Capture};
use telemetry::errors;

/// Opens the captures. An error at the beginning of one is reported before any is read.
pub(super) fn captures(paths: &[PathBuf]) -> Result<Vec<Capture<'static>>, Stop> {
    if paths.len() > capture::MOST_CAPTURES {
        return Err(refused(errors::capture::too_many(paths.len())));
    }
    let from_input = |path: &&PathBuf| path.as_path() == Path::new(files::STANDARD_INPUT);
    if paths.iter().filter(from_input).count() > 1 {
        let what = "`--read -` stands there twice: standard input can be read once";
        return Err(Stop::Usage(what.into()));
    }
    let opened = paths.iter().map(|path| {
        let name = path.display().to_string();
        let file = files::open_stream(path);
        let file = file.map_err(|e| refused(errors::capture::unreadable(&name, &e)))?;
        Capture::open(&name, file).map_err(refused)
    });
    opened.collect()
}
