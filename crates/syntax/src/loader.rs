//! Where source texts come from. This crate reads no files: the caller gives it a [`SourceLoader`].

use std::collections::HashMap;
use std::sync::Arc;

/// A source text and the name to show for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loaded {
    /// The name to show, which is also what later `#include`s of the text are relative to. Two loads
    /// of the same file have the same name.
    pub name: String,
    /// The whole text.
    pub text: Arc<str>,
    /// Whether bytes of the file are not UTF-8. Each of them is a U+FFFD in `text`; that is a warning
    /// in a comment and an error elsewhere.
    pub replaced: bool,
}

impl Loaded {
    /// A text that was UTF-8 from the start.
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Loaded {
        Loaded {
            name: name.into(),
            text: text.into(),
            replaced: false,
        }
    }

    /// The bytes of a file as text.
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Loaded {
        match String::from_utf8(bytes) {
            Ok(text) => Loaded::new(name, text),
            Err(error) => Loaded {
                name: name.into(),
                text: String::from_utf8_lossy(error.as_bytes()).into(),
                replaced: true,
            },
        }
    }
}

/// Why a source text could not be had.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoadError {
    /// There is no such file on any of the paths tried.
    NotFound {
        /// The paths tried.
        tried: Vec<String>,
        /// What `#include <...>` finds without any search path: the headers that come with the
        /// compiler, by name. Empty if the path was not in angle brackets.
        built_in: Vec<String>,
    },
    /// There is one, but it cannot be read.
    Unreadable {
        /// The file.
        name: String,
        /// Why, in a few words.
        reason: String,
    },
}

/// Gives the texts that `#include` and the command line ask for.
pub trait SourceLoader {
    /// The text of `path`. `from` is the [`Loaded::name`] of the file with the `#include`, none for
    /// the main file; `system` is true for `#include <path>`.
    ///
    /// # Errors
    /// [`LoadError`] if there is no such text, or none that can be read.
    fn load(&self, path: &str, from: Option<&str>, system: bool) -> Result<Loaded, LoadError>;

    /// The text of `path` for `#include_next`: in the folders after the one that `from` was found in. A loader without an
    /// order of folders has none.
    ///
    /// # Errors
    /// As [`SourceLoader::load`].
    fn load_next(&self, _path: &str, _from: &str) -> Result<Loaded, LoadError> {
        Err(LoadError::NotFound {
            tried: Vec::new(),
            built_in: Vec::new(),
        })
    }
}

/// Texts in memory, by name. An `#include` is looked for beside the file that has it and then by
/// its whole name.
#[derive(Clone, Debug, Default)]
pub struct MemoryLoader {
    texts: HashMap<String, Arc<str>>,
}

impl MemoryLoader {
    /// No texts.
    pub fn new() -> MemoryLoader {
        MemoryLoader::default()
    }

    /// Adds a text, or replaces it.
    pub fn with(mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> MemoryLoader {
        self.texts.insert(name.into(), text.into());
        self
    }
}

impl SourceLoader for MemoryLoader {
    fn load(&self, path: &str, from: Option<&str>, system: bool) -> Result<Loaded, LoadError> {
        let beside = from
            .filter(|_| !system)
            .and_then(|f| f.rsplit_once('/'))
            .map(|(dir, _)| format!("{dir}/{path}"));
        let names: Vec<String> = beside.into_iter().chain([path.to_string()]).collect();
        for name in &names {
            if let Some(text) = self.texts.get(name) {
                return Ok(Loaded::new(name.clone(), Arc::clone(text)));
            }
        }
        Err(LoadError::NotFound {
            tried: names,
            built_in: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_beside_comes_first_unless_in_angle_brackets() {
        let loader = MemoryLoader::new()
            .with("d/x.p4", "near")
            .with("x.p4", "far");
        assert_eq!(
            &*loader.load("x.p4", Some("d/main.p4"), false).unwrap().text,
            "near"
        );
        assert_eq!(
            &*loader.load("x.p4", Some("d/main.p4"), true).unwrap().text,
            "far"
        );
        assert!(matches!(
            loader.load("y.p4", None, false),
            Err(LoadError::NotFound { .. })
        ));
    }
}
