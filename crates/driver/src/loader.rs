//! Reads source files, and has the include files that come with Onpath built in.

use diag::system_message;
use host::files::{self, Streams};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use syntax::{LoadError, Loaded, SourceLoader};

/// Lists files of `programs/` with their texts.
macro_rules! programs {
    ($($name:literal,)*) => {
        [$(($name, include_str!(concat!("../../../programs/", $name)))),*]
    };
}

/// Names and texts of the include files in `p4include/`. They are part of the executable, so that it works wherever
/// it is copied.
pub const HEADERS: [(&str, &str); 14] = [
    ("core.p4", include_str!("../../../p4include/core.p4")),
    (
        "ebpf_model.p4",
        include_str!("../../../p4include/ebpf_model.p4"),
    ),
    (
        "exchanges.p4",
        include_str!("../../../p4include/exchanges.p4"),
    ),
    (
        "flow_state.p4",
        include_str!("../../../p4include/flow_state.p4"),
    ),
    (
        "packet_headers.p4",
        include_str!("../../../p4include/packet_headers.p4"),
    ),
    ("payload.p4", include_str!("../../../p4include/payload.p4")),
    (
        "packet_answers.p4",
        include_str!("../../../p4include/packet_answers.p4"),
    ),
    (
        "stream_verdicts.p4",
        include_str!("../../../p4include/stream_verdicts.p4"),
    ),
    ("streams.p4", include_str!("../../../p4include/streams.p4")),
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

/// Example programs, some of which Onpath's commands run. They and the files that they include are found under
/// [`BUILT_IN_FOLDER`] only.
pub(crate) const PROGRAMS: [(&str, &str); 43] = programs![
    "block/block.p4",
    "deep4r/deep4r.p4",
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
    "requests/requests.p4",
    "router/router.p4",
    "talkers/talkers.p4",
    "tunnel/tunnel.p4",
    "url_firewall/url_firewall.p4",
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

/// Folder of the built-in files, as messages and paths name it.
pub const BUILT_IN_FOLDER: &str = "<onpath>/";

/// Loader that searches the file system, then the include directories, then the built-in files.
pub struct FileLoader {
    /// Directories to search, in order.
    pub include: Vec<PathBuf>,
    /// Name in messages and text of a main program that is in no file.
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
        self.first(path, from, system, &candidates)
    }

    fn load_next(&self, path: &str, from: &str) -> Result<Loaded, LoadError> {
        // Nothing comes after the built-in files.
        if from.starts_with(BUILT_IN_FOLDER) {
            return Err(LoadError::NotFound {
                tried: Vec::new(),
                built_in: Vec::new(),
            });
        }
        // A file that is in none of the folders was found beside another, before all of them.
        let folder = |dir: &PathBuf| Path::new(from).starts_with(dir);
        let after = self.include.iter().position(folder).map_or(0, |at| at + 1);
        let later = self.include[after..].iter().map(|dir| dir.join(path));
        let candidates: Vec<PathBuf> = later.filter(|found| *found != Path::new(from)).collect();
        self.first(path, Some(from), true, &candidates)
    }
}

impl FileLoader {
    /// Reads the first candidate that exists, or the built-in header of this path.
    fn first(
        &self,
        path: &str,
        from: Option<&str>,
        system: bool,
        candidates: &[PathBuf],
    ) -> Result<Loaded, LoadError> {
        let streams = match from {
            None => Streams::Allowed,
            Some(_) => Streams::Refused,
        };
        for candidate in candidates {
            let name = candidate.display().to_string();
            match files::read(candidate, streams) {
                Ok(bytes) if bytes.contains(&0) && std::str::from_utf8(&bytes).is_err() => {
                    let reason = "it is not text".into();
                    return Err(LoadError::Unreadable { name, reason });
                }
                Ok(bytes) => return Ok(Loaded::from_bytes(name, bytes)),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => {
                    let reason = system_message(&error);
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

/// Returns the name in [`PROGRAMS`] that a path would have: a built-in program, or a file that one includes from its
/// folder.
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

    #[test]
    fn the_next_file_of_a_name_is_in_a_later_folder() {
        let folder = tempfile::tempdir().unwrap();
        let folders = ["near", "first", "second"].map(|name| folder.path().join(name));
        for dir in &folders {
            std::fs::create_dir(dir).unwrap();
            std::fs::write(dir.join("x.p4h"), "").unwrap();
        }
        let [near, first, second] = folders.map(|dir| dir.join("x.p4h").display().to_string());
        let loader = FileLoader {
            include: ["first", "second"]
                .map(|dir| folder.path().join(dir))
                .into(),
            ..LOADER
        };
        let next = |from: &str| loader.load_next("x.p4h", from).unwrap().name;
        // The including file's own folder comes before all include folders.
        assert_eq!(next(&near), first);
        assert_eq!(next(&first), second);
        assert!(loader.load_next("x.p4h", &second).is_err());
        let header = loader.load_next("core.p4", &second).unwrap();
        assert_eq!(header.name, "<onpath>/core.p4");
        assert!(loader.load_next("core.p4", &header.name).is_err());
    }

    /// Returns the reason why a file cannot be read, as the main program or included by one.
    fn reason(path: &str, from: Option<&str>) -> String {
        match LOADER.load(path, from, false) {
            Err(LoadError::Unreadable { reason, .. }) => reason,
            other => panic!("{path}: {other:?}"),
        }
    }

    #[test]
    fn only_regular_files_are_programs_or_included() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let pipe = pipe.display().to_string();
        let main = Some("/tmp/main.p4");
        let device = "it is a device or a socket, not a regular file";
        assert_eq!(reason("/dev/zero", main), device);
        assert_eq!(reason("/dev/zero", None), device);
        let named = "it is a pipe, not a regular file";
        assert_eq!(reason(&pipe, main), named);
        assert_eq!(
            reason(&pipe, None),
            format!("{named}; `-` reads standard input")
        );
        // Standard input is the user's to give.
        let included = LOADER.load("-", Some("/nowhere/main.p4"), false);
        assert!(matches!(included, Err(LoadError::NotFound { .. })));
    }

    #[test]
    fn other_programs_do_not_find_it() {
        assert!(LOADER.load("pdm/chain.p4h", Some("my.p4"), true).is_err());
        assert!(LOADER.load("chain.p4h", Some("my.p4"), false).is_err());
        assert!(LOADER.load("<onpath>/pdm/none.p4", None, false).is_err());
    }
}
