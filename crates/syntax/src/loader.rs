//! Loading of source texts. This crate reads no files: the caller supplies a [`SourceLoader`].

use std::collections::HashMap;
use std::sync::Arc;

/// A source text with the name to show for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loaded {
    /// Name to show, to which `#include`s in the text are relative too. Two loads of the same file have the same name.
    pub name: String,
    /// The whole text.
    pub text: Arc<str>,
    /// True if bytes of the file are not UTF-8. Each of them is a U+FFFD in `text`. That is a warning in a comment, and
    /// an error elsewhere.
    pub replaced: bool,
}

impl Loaded {
    /// Wraps a text that is valid UTF-8.
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Loaded {
        Loaded {
            name: name.into(),
            text: text.into(),
            replaced: false,
        }
    }

    /// Converts the bytes of a file to text.
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

/// Reason why a source text could not be loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoadError {
    /// There is no such file on any of the paths tried.
    NotFound {
        /// The paths tried.
        tried: Vec<String>,
        /// Names of the compiler's own headers, which `#include <...>` finds without any search path. Empty if the path
        /// was not in angle brackets.
        built_in: Vec<String>,
    },
    /// The file exists, but cannot be read.
    Unreadable {
        /// The file.
        name: String,
        /// Reason, in a few words.
        reason: String,
    },
}

/// Loader of the texts that `#include` and the command line name.
pub trait SourceLoader {
    /// Loads the text of `path`. `from` is the [`Loaded::name`] of the file with the `#include`, `None` for the main
    /// file. `system` is true for `#include <path>`.
    ///
    /// # Errors [`LoadError`] if there is no such text, or none that can be read.
    fn load(&self, path: &str, from: Option<&str>, system: bool) -> Result<Loaded, LoadError>;

    /// Loads the text of `path` for `#include_next`: from the folders after the one in which `from` was found. A loader
    /// without an order of folders finds none.
    ///
    /// # Errors As [`SourceLoader::load`].
    fn load_next(&self, _path: &str, _from: &str) -> Result<Loaded, LoadError> {
        Err(LoadError::NotFound {
            tried: Vec::new(),
            built_in: Vec::new(),
        })
    }
}

/// Loader of texts in memory, by name. An `#include` is searched beside the including file and then by its whole name.
#[derive(Clone, Debug, Default)]
pub struct MemoryLoader {
    texts: HashMap<String, Arc<str>>,
}

impl MemoryLoader {
    /// Makes a loader without texts.
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
