//! Reads source files, and has the include files that come with Onpath built in.

use diag::system_message;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use syntax::{LoadError, Loaded, SourceLoader};

/// Files of `programs/` with their texts.
macro_rules! programs {
    ($($name:literal,)*) => {
        [$(($name, include_str!(concat!("../../../programs/", $name)))),*]
    };
}

/// The include files of `p4include/`, part of the program so that it works wherever it is copied: names and texts.
pub const HEADERS: [(&str, &str); 9] = [
    ("core.p4", include_str!("../../../p4include/core.p4")),
    (
        "ebpf_model.p4",
        include_str!("../../../p4include/ebpf_model.p4"),
    ),
    (
        "flow_state.p4",
        include_str!("../../../p4include/flow_state.p4"),
    ),
    ("payload.p4", include_str!("../../../p4include/payload.p4")),
    (
        "tap_model.p4",
        include_str!("../../../p4include/tap_model.p4"),
    ),
    (
        "tc_model.p4",
        include_str!("../../../p4include/tc_model.p4"),
    ),
    (
        "telemetry.p4",
        include_str!("../../../p4include/telemetry.p4"),
    ),
    ("v1model.p4", include_str!("../../../p4include/v1model.p4")),
    (
        "xdp_model.p4",
        include_str!("../../../p4include/xdp_model.p4"),
    ),
];

/// The example programs, some of which commands of Onpath run. They and what they include are found under
/// [`BUILT_IN_FOLDER`] only.
pub(crate) const PROGRAMS: [(&str, &str); 39] = programs![
    "firewall/firewall.p4",
    "firewall_router/firewall_router.p4",
    "guard/guard.p4h",
    "guard/in.p4",
    "guard/out.p4",
    "ipv4_counter/ipv4_counter.p4",
    "l2_switch/l2_switch.p4",
    "mpls/mpls.p4",
    "nat/nat.p4",
    "payload/automaton.p4",
    "payload/byte_by_byte.p4",
    "payload/direct_jump.p4",
    "payload/names/names.p4",
    "payload/recirculation/recirculation.p4",
    "payload/skip_ahead.p4",
    "pdm/chain.p4h",
    "pdm/clamp.p4h",
    "pdm/egress.p4",
    "pdm/ingress.p4",
    "pdm/mark.p4h",
    "pdm/pdm.p4h",
    "pdm/read.p4h",
    "router/router.p4",
    "talkers/talkers.p4",
    "tunnel/tunnel.p4",
    "v1model/bloom_firewall/bloom_firewall.p4",
    "v1model/calculator/calculator.p4",
    "v1model/learning_switch/learning_switch.p4",
    "v1model/load_balancer/load_balancer.p4",
    "v1model/marking/marking.p4",
    "v1model/router/router.p4",
    "v1model/source_routing/source_routing.p4",
    "vlan_stack/vlan_stack.p4",
    "xdp1/xdp1.p4",
    "xdp11/xdp11.p4",
    "xdp15/xdp15.p4",
    "xdp3/xdp3.p4",
    "xdp6/xdp6.p4",
    "xdp7/xdp7.p4",
];

/// How the built-in files are named in messages.
pub const BUILT_IN_FOLDER: &str = "<onpath>/";

/// A file larger than this is no P4 program.
const LARGEST: u64 = 64 << 20;

/// Files of the file system, then of the include directories, then the built-in ones.
pub struct FileLoader {
    /// Directories to search, in order.
    pub include: Vec<PathBuf>,
    /// A main program that is in no file: how messages name it, and its text.
    pub given: Option<(String, Arc<str>)>,
}

impl SourceLoader for FileLoader {
    fn load(&self, path: &str, from: Option<&str>, system: bool) -> Result<Loaded, LoadError> {
        let given = self.given.as_ref();
        if let Some((name, text)) = given.filter(|(name, _)| from.is_none() && name == path) {
            return Ok(Loaded::new(name.clone(), Arc::clone(text)));
        }
        let mut candidates: Vec<PathBuf> = Vec::new();
        if let Some(name) = built_in_program(path, from, system) {
            let found = PROGRAMS.iter().find(|(known, _)| *known == name);
            if let Some((name, text)) = found {
                return Ok(built_in(name, text));
            }
        }
        match from {
            None => candidates.push(PathBuf::from(path)),
            Some(from) => {
                let inside_built_in = from.starts_with(BUILT_IN_FOLDER);
                if !system && !inside_built_in {
                    candidates.push(Path::new(from).with_file_name(path));
                }
                if !inside_built_in {
                    candidates.extend(self.include.iter().map(|dir| dir.join(path)));
                }
            }
        }
        // A pipe may be given as the program; one that an `#include` finds would wait for a writer.
        let pipes = if from.is_none() {
            Pipes::Read
        } else {
            Pipes::Refuse
        };
        for candidate in &candidates {
            let name = candidate.display().to_string();
            match read(candidate, pipes) {
                Ok(bytes) if bytes.contains(&0) && std::str::from_utf8(&bytes).is_err() => {
                    let reason = "it is not text".into();
                    return Err(LoadError::Unreadable { name, reason });
                }
                Ok(bytes) => return Ok(Loaded::from_bytes(name, bytes)),
                Err(ReadError::Missing) => {}
                Err(ReadError::Unreadable(reason)) => {
                    return Err(LoadError::Unreadable { name, reason });
                }
            }
        }
        let header = HEADERS
            .iter()
            .find(|(name, _)| *name == path && from.is_some());
        match header {
            Some((name, text)) => Ok(built_in(name, text)),
            None => {
                let mut tried: Vec<String> =
                    candidates.iter().map(|p| p.display().to_string()).collect();
                if from.is_some() {
                    tried.push(format!("{BUILT_IN_FOLDER}{path}"));
                }
                let offered = HEADERS.iter().filter(|_| system);
                let built_in = offered.map(|(name, _)| name.to_string()).collect();
                Err(LoadError::NotFound { tried, built_in })
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
    Loaded::new(format!("{BUILT_IN_FOLDER}{name}"), text)
}

/// A file that a command was given by name, or why it cannot be read.
pub fn read_text(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let unreadable = |reason: String| format!("cannot read `{shown}`: {reason}");
    let bytes = read(path, Pipes::Read).map_err(|error| match error {
        ReadError::Missing => unreadable("there is no such file".into()),
        ReadError::Unreadable(reason) => unreadable(reason),
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let before = &error.as_bytes()[..at];
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        unreadable(format!("line {line} is not UTF-8 text"))
    })
}

/// Whether pipes are read as files are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pipes {
    Read,
    Refuse,
}

enum ReadError {
    Missing,
    Unreadable(String),
}

/// The bytes of a regular file or, if wanted, a pipe. Devices have no end, and directories no text.
fn read(path: &Path, pipes: Pipes) -> Result<Vec<u8>, ReadError> {
    let unreadable = |error: std::io::Error| ReadError::Unreadable(system_message(&error));
    let about = match std::fs::metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(ReadError::Missing);
        }
        Err(error) => return Err(unreadable(error)),
    };
    let kind = about.file_type();
    let refused = match pipes {
        _ if kind.is_file() => None,
        _ if kind.is_dir() => Some("it is a directory"),
        Pipes::Read if kind.is_fifo() => None,
        Pipes::Refuse if kind.is_fifo() => Some("it is a pipe, not a regular file"),
        _ => Some("it is a device or a socket, not a regular file"),
    };
    if let Some(reason) = refused {
        return Err(ReadError::Unreadable(reason.into()));
    }
    let mut bytes = Vec::new();
    // What a pipe or a file of the kernel holds is known only once it is read.
    let mut bounded = std::fs::File::open(path)
        .map_err(unreadable)?
        .take(LARGEST + 1);
    if about.len() <= LARGEST {
        bounded.read_to_end(&mut bytes).map_err(unreadable)?;
    }
    if about.len() > LARGEST || bytes.len() as u64 > LARGEST {
        return Err(ReadError::Unreadable(format!(
            "it is larger than {} MiB",
            LARGEST >> 20
        )));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOADER: FileLoader = FileLoader {
        include: Vec::new(),
        given: None,
    };

    #[test]
    fn a_program_may_be_in_no_file() {
        let loader = FileLoader {
            given: Some(("a query".into(), "#include <core.p4>\n".into())),
            ..LOADER
        };
        let loaded = loader.load("a query", None, false).unwrap();
        assert_eq!(&*loaded.text, "#include <core.p4>\n");
        assert!(loader.load("a query", Some("a query"), false).is_err());
    }

    #[test]
    fn every_example_is_built_in() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../programs"));
        let mut there = Vec::new();
        let mut open = vec![folder.to_path_buf()];
        while let Some(of) = open.pop() {
            for entry in std::fs::read_dir(of).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else if path.extension().is_some_and(|e| e == "p4" || e == "p4h") {
                    there.push(path.strip_prefix(folder).unwrap().display().to_string());
                }
            }
        }
        there.sort();
        assert_eq!(PROGRAMS.map(|(name, _)| name.to_string()).to_vec(), there);
    }

    #[test]
    fn a_built_in_program_finds_what_is_beside_it() {
        let main = LOADER.load("<onpath>/pdm/egress.p4", None, false).unwrap();
        assert_eq!(main.name, "<onpath>/pdm/egress.p4");
        let beside = LOADER.load("chain.p4h", Some(&main.name), false).unwrap();
        assert_eq!(beside.name, "<onpath>/pdm/chain.p4h");
        let header = LOADER.load("core.p4", Some(&main.name), true).unwrap();
        assert_eq!(header.name, "<onpath>/core.p4");
    }

    /// Why a file cannot be included by `/tmp/main.p4`.
    fn reason(path: &str) -> String {
        match LOADER.load(path, Some("/tmp/main.p4"), false) {
            Err(LoadError::Unreadable { reason, .. }) => reason,
            other => panic!("{path}: {other:?}"),
        }
    }

    #[test]
    fn only_regular_files_are_included_and_none_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(
            reason("/dev/zero"),
            "it is a device or a socket, not a regular file"
        );
        assert_eq!(
            reason(&pipe.display().to_string()),
            "it is a pipe, not a regular file"
        );
        let huge = folder.path().join("huge");
        let file = std::fs::File::create(&huge).unwrap();
        file.set_len(LARGEST + 1).unwrap();
        let huge = huge.display().to_string();
        assert_eq!(reason(&huge), "it is larger than 64 MiB");
        file.set_len(LARGEST).unwrap();
        assert!(LOADER.load(&huge, Some("/tmp/main.p4"), false).is_ok());
    }

    #[test]
    fn a_pipe_may_be_the_program_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let name = pipe.display().to_string();
        let load_of = |bytes: usize| {
            let writer = pipe.clone();
            let writer = std::thread::spawn(move || {
                // The reader leaves when the limit is reached.
                let _ = std::fs::write(writer, vec![b'\n'; bytes]);
            });
            let loaded = LOADER.load(&name, None, false);
            writer.join().unwrap();
            loaded.map(|loaded| loaded.text.len())
        };
        assert_eq!(load_of(3), Ok(3));
        assert!(load_of(LARGEST as usize + 4096).is_err());
    }

    #[test]
    fn other_programs_do_not_find_it() {
        assert!(LOADER.load("pdm/chain.p4h", Some("my.p4"), true).is_err());
        assert!(LOADER.load("chain.p4h", Some("my.p4"), false).is_err());
        assert!(LOADER.load("<onpath>/pdm/none.p4", None, false).is_err());
    }
}
