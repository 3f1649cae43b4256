//! Every P4 text of the repository is in the language: it parses without a diagnostic.

use std::path::{Path, PathBuf};

use syntax::{LoadError, Loaded, SourceLoader};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Loader of files beside the including one and in `p4include/`.
struct Disk;

impl SourceLoader for Disk {
    fn load(&self, path: &str, from: Option<&str>, _system: bool) -> Result<Loaded, LoadError> {
        let beside = from
            .and_then(|f| Path::new(f).parent())
            .map(|dir| dir.join(path));
        let places = beside
            .into_iter()
            .chain([root().join("p4include").join(path), PathBuf::from(path)]);
        for place in places {
            if let Ok(text) = std::fs::read_to_string(&place) {
                return Ok(Loaded::new(place.display().to_string(), text));
            }
        }
        Err(LoadError::NotFound {
            tried: vec![path.to_string()],
            built_in: Vec::new(),
        })
    }
}

fn collect(dir: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|e| e == "p4") {
            found.push(path);
        }
    }
}

#[test]
fn headers_programs_and_tests_parse() {
    let mut found = Vec::new();
    for dir in ["p4include", "programs", "tests/stf", "tests/scale"] {
        collect(&root().join(dir), &mut found);
    }
    found.sort();
    assert!(!found.is_empty());
    for path in found {
        let mut map = diag::SourceMap::new();
        let parsed = syntax::parse(&mut map, &Disk, &path.display().to_string(), &[]);
        let shown: Vec<String> = parsed
            .diagnostics
            .iter()
            // Some programs have comments after `#`, which are unknown directives.
            .filter(|d| d.code.0 != "W0006")
            .map(|d| {
                let place = map
                    .line_col(d.primary.span)
                    .map(|(f, at)| (map.file(f).name.clone(), at.line, at.column));
                format!("{} {:?}: {}", d.code.0, place, d.message)
            })
            .collect();
        assert!(shown.is_empty(), "{}: {shown:#?}", path.display());
        assert!(!parsed.program.decls.is_empty(), "{}", path.display());
    }
}
