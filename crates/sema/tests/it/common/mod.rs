//! Programs from files and texts, for the tests.

use diag::{Diagnostics, SourceMap};
use std::path::{Path, PathBuf};
use syntax::{LoadError, Loaded, SourceLoader};

/// Returns the repository's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Loader of files: beside the including file, then in `p4include`. One text may replace a file.
pub(crate) struct Files {
    given: Option<(String, String)>,
}

impl Files {
    /// Makes a loader of files alone.
    #[allow(dead_code)]
    pub(crate) fn new() -> Files {
        Files { given: None }
    }

    /// Makes a loader with `text` under the name `name`.
    #[allow(dead_code)]
    pub(crate) fn with(name: &str, text: &str) -> Files {
        Files {
            given: Some((name.to_owned(), text.to_owned())),
        }
    }
}

impl SourceLoader for Files {
    fn load(&self, path: &str, from: Option<&str>, _: bool) -> Result<Loaded, LoadError> {
        if let Some((name, text)) = &self.given
            && name == path
        {
            return Ok(Loaded::new(name.clone(), text.as_str()));
        }
        let beside = from
            .and_then(|f| Path::new(f).parent())
            .map(|d| root().join(d).join(path));
        let places = [
            beside,
            Some(root().join("p4include").join(path)),
            Some(PathBuf::from(path)),
        ];
        for place in places.into_iter().flatten() {
            if let Ok(text) = std::fs::read_to_string(&place) {
                return Ok(Loaded::new(shown(&place), text));
            }
        }
        Err(LoadError::NotFound {
            tried: vec![path.to_owned()],
            built_in: Vec::new(),
        })
    }
}

/// Returns a file's name within the repository, or else in full.
fn shown(place: &Path) -> String {
    let root = root();
    let within = place
        .strip_prefix(&root)
        .map(|p| p.to_string_lossy().into_owned());
    within.unwrap_or_else(|_| place.to_string_lossy().into_owned())
}

/// Parses and checks a program.
#[allow(dead_code)]
pub(crate) fn check(loader: &Files, main: &str) -> (SourceMap, Option<hir::Module>, Diagnostics) {
    let mut map = SourceMap::new();
    let parsed = syntax::parse(&mut map, loader, main, &[]);
    let checked = sema::check(&parsed.program, &map);
    let clean = !parsed.diagnostics.has_errors();
    let mut diagnostics = parsed.diagnostics;
    diagnostics.append(checked.diagnostics);
    (map, checked.module.filter(|_| clean), diagnostics)
}
