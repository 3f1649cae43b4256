//! Plot of a query's metrics, in a file.

use crate::output::{Stop, refused};
use host::safe_dir::replace_file;
use std::path::{Path, PathBuf};
use telemetry::Report;
use telemetry::errors::plot as errors;
use telemetry::view::plot::History;

/// A file that always holds a complete picture.
pub(super) struct Drawing {
    file: PathBuf,
    history: History,
}

impl Drawing {
    /// Writes a picture without metrics, so that a write error is reported before anything else begins.
    pub(super) fn begin(
        file: &Path,
        query: &telemetry::Query,
        text: &str,
    ) -> Result<Drawing, Stop> {
        let drawing = Drawing {
            file: file.to_owned(),
            history: History::new(query, text),
        };
        drawing.write()?;
        Ok(drawing)
    }

    /// Returns true if it shows metrics over time.
    pub(super) fn is_over_time(&self) -> bool {
        self.history.is_over_time()
    }

    /// Adds a report, `elapsed` seconds after the beginning.
    pub(super) fn take(&mut self, report: &Report, elapsed: f64) {
        self.history.take(report, elapsed);
    }

    /// Writes the picture so far. Readers see the picture before, or this one.
    pub(super) fn write(&self) -> Result<(), Stop> {
        let svg = self.history.svg();
        let svg = svg.map_err(|e| Stop::Failed(e.to_string()))?;
        let name = self.file.display().to_string();
        replace_file(&self.file, svg.as_bytes()).map_err(|e| refused(errors::unwritable(&name, &e)))
    }
}
