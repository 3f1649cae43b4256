//! Reads source files, and has the include files that come with Onpath built in.

use diag::system_message;
use std::path::{Path, PathBuf};
use syntax::{LoadError, Loaded, SourceLoader};

/// The include files of `p4include/`, part of the program so that it works wherever it is copied.
const BUILT_IN: [(&str, &str); 6] = [
    ("core.p4", include_str!("../../../p4include/core.p4")),
    (
        "ebpf_model.p4",
        include_str!("../../../p4include/ebpf_model.p4"),
    ),
    (
        "flow_state.p4",
        include_str!("../../../p4include/flow_state.p4"),
    ),
    (
        "tc_model.p4",
        include_str!("../../../p4include/tc_model.p4"),
    ),
    ("v1model.p4", include_str!("../../../p4include/v1model.p4")),
    (
        "xdp_model.p4",
        include_str!("../../../p4include/xdp_model.p4"),
    ),
];

/// The programs that commands of Onpath run. They and what they include are found under
/// [`BUILT_IN_FOLDER`] only.
const PROGRAMS: [(&str, &str); 7] = [
    (
        "pdm/chain.p4h",
        include_str!("../../../programs/pdm/chain.p4h"),
    ),
    (
        "pdm/clamp.p4h",
        include_str!("../../../programs/pdm/clamp.p4h"),
    ),
    (
        "pdm/egress.p4",
        include_str!("../../../programs/pdm/egress.p4"),
    ),
    (
        "pdm/ingress.p4",
        include_str!("../../../programs/pdm/ingress.p4"),
    ),
    (
        "pdm/mark.p4h",
        include_str!("../../../programs/pdm/mark.p4h"),
    ),
    ("pdm/pdm.p4h", include_str!("../../../programs/pdm/pdm.p4h")),
    (
        "pdm/read.p4h",
        include_str!("../../../programs/pdm/read.p4h"),
    ),
];

/// How the built-in files are named in messages.
pub const BUILT_IN_FOLDER: &str = "<onpath>/";

/// A file larger than this is no P4 program.
const LARGEST: u64 = 64 << 20;

/// Files of the file system, then of the include directories, then the built-in ones.
pub struct FileLoader {
    /// Directories to search, in order.
    pub include: Vec<PathBuf>,
}

impl SourceLoader for FileLoader {
    fn load(&self, path: &str, from: Option<&str>, system: bool) -> Result<Loaded, LoadError> {
        let mut places: Vec<PathBuf> = Vec::new();
        if let Some(name) = built_in_program(path, from, system) {
            let found = PROGRAMS.iter().find(|(known, _)| *known == name);
            if let Some((name, text)) = found {
                return Ok(built_in(name, text));
            }
        }
        match from {
            None => places.push(PathBuf::from(path)),
            Some(from) => {
                let inside_built_in = from.starts_with(BUILT_IN_FOLDER);
                if !system && !inside_built_in {
                    places.push(Path::new(from).with_file_name(path));
                }
                if !inside_built_in {
                    places.extend(self.include.iter().map(|dir| dir.join(path)));
                }
            }
        }
        for place in &places {
            match read(place) {
                Ok(text) => {
                    return Ok(Loaded {
                        name: place.display().to_string(),
                        text: text.into(),
                    });
                }
                Err(ReadError::Missing) => {}
                Err(ReadError::Unreadable(reason)) => {
                    let name = place.display().to_string();
                    return Err(LoadError::Unreadable { name, reason });
                }
            }
        }
        let header = BUILT_IN
            .iter()
            .find(|(name, _)| *name == path && from.is_some());
        match header {
            Some((name, text)) => Ok(built_in(name, text)),
            None => {
                let mut tried: Vec<String> =
                    places.iter().map(|p| p.display().to_string()).collect();
                if from.is_some() {
                    tried.push(format!("{BUILT_IN_FOLDER}{path}"));
                }
                Err(LoadError::NotFound { tried })
            }
        }
    }
}

/// The name that a built-in program, or what it includes from its own folder, would have.
fn built_in_program(path: &str, from: Option<&str>, system: bool) -> Option<String> {
    match from {
        None => path.strip_prefix(BUILT_IN_FOLDER).map(String::from),
        Some(_) if system => None,
        Some(from) => {
            let beside = Path::new(from.strip_prefix(BUILT_IN_FOLDER)?).with_file_name(path);
            Some(beside.to_string_lossy().into_owned())
        }
    }
}

fn built_in(name: &str, text: &'static str) -> Loaded {
    Loaded {
        name: format!("{BUILT_IN_FOLDER}{name}"),
        text: text.into(),
    }
}

/// A file that a command was given by name, or why it cannot be read.
pub fn read_text(path: &Path) -> Result<String, String> {
    let shown = path.display();
    read(path).map_err(|error| match error {
        ReadError::Missing => format!("cannot read `{shown}`: there is no such file"),
        ReadError::Unreadable(reason) => format!("cannot read `{shown}`: {reason}"),
    })
}

enum ReadError {
    Missing,
    Unreadable(String),
}

fn read(path: &Path) -> Result<String, ReadError> {
    let unreadable = |error: std::io::Error| ReadError::Unreadable(system_message(&error));
    let about = match std::fs::metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(ReadError::Missing);
        }
        Err(error) => return Err(unreadable(error)),
    };
    if about.is_dir() {
        return Err(ReadError::Unreadable("it is a directory".into()));
    }
    if about.len() > LARGEST {
        return Err(ReadError::Unreadable(format!(
            "it is larger than {} MiB",
            LARGEST >> 20
        )));
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at]
            .iter()
            .filter(|&&b| b == b'\n')
            .count()
            + 1;
        ReadError::Unreadable(format!("line {line} is not UTF-8 text"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOADER: FileLoader = FileLoader {
        include: Vec::new(),
    };

    #[test]
    fn a_built_in_program_finds_what_is_beside_it() {
        let main = LOADER.load("<onpath>/pdm/egress.p4", None, false).unwrap();
        assert_eq!(main.name, "<onpath>/pdm/egress.p4");
        let beside = LOADER.load("chain.p4h", Some(&main.name), false).unwrap();
        assert_eq!(beside.name, "<onpath>/pdm/chain.p4h");
        let header = LOADER.load("core.p4", Some(&main.name), true).unwrap();
        assert_eq!(header.name, "<onpath>/core.p4");
    }

    #[test]
    fn other_programs_do_not_find_it() {
        assert!(LOADER.load("pdm/chain.p4h", Some("my.p4"), true).is_err());
        assert!(LOADER.load("chain.p4h", Some("my.p4"), false).is_err());
        assert!(LOADER.load("<onpath>/pdm/none.p4", None, false).is_err());
    }
}
