//! Programs that stay loaded when the process that loaded them ends: pinned in a folder of their own
//! in the BPF file system, with a description from which any other process can find its way.

use crate::description::Description;
use crate::errors::{device, load as load_errors};
use crate::load::{Instance, open_globals};
use crate::store::KernelStore;
use crate::sys::{Link, Map, Update, XdpMode};
use bpf::abi::Abi;
use diag::Diagnostic;
use nix::mount::{MsFlags, mount};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the BPF file system is, or is mounted if it is nowhere.
pub const BPFFS: &str = "/sys/fs/bpf";
/// Our folder there.
const FOLDER: &str = "onpath";
/// The pinned map whose only value is the JSON of [`Record`].
const RECORD: &str = "record";

/// What is written down about a pinned program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The version of this form.
    pub version: u32,
    /// The instance's name.
    pub instance: String,
    /// The interfaces it is attached to.
    pub interfaces: Vec<Interface>,
    /// When it was loaded, in seconds since 1970.
    pub loaded: u64,
    /// What is where in its maps.
    pub abi: Abi,
    /// The P4 names.
    pub program: Description,
}

impl Record {
    /// The version that this code writes and reads.
    pub const VERSION: u32 = 1;
}

/// An interface that a pinned program is attached to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Interface {
    /// Its name when the program was attached.
    pub name: String,
    /// Its index.
    pub index: u32,
    /// Its port number in the program.
    pub port: u32,
    /// How the program is attached: `native` or `generic`.
    pub mode: String,
}

/// Whether a path is in a BPF file system.
pub fn is_bpffs(path: &Path) -> bool {
    const BPF_FS_MAGIC: u64 = 0xcafe_4a11;
    nix::sys::statfs::statfs(path).is_ok_and(|s| s.filesystem_type().0 as u64 == BPF_FS_MAGIC)
}

/// Pinned programs under one BPF file system.
#[derive(Clone, Debug)]
pub struct Pins {
    bpffs: PathBuf,
}

impl Default for Pins {
    fn default() -> Pins {
        Pins::at(Path::new(BPFFS))
    }
}

impl Pins {
    /// Those under another mount point.
    pub fn at(bpffs: &Path) -> Pins {
        Pins {
            bpffs: bpffs.to_owned(),
        }
    }

    fn root(&self) -> PathBuf {
        self.bpffs.join(FOLDER)
    }

    fn folder(&self, instance: &str) -> Result<PathBuf, Box<Diagnostic>> {
        let fits = !instance.is_empty()
            && instance.len() <= 64
            && instance
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if fits {
            Ok(self.root().join(instance))
        } else {
            Err(device::bad_instance_name(instance))
        }
    }

    /// Makes sure that there is a BPF file system and our folder in it, for root only.
    fn prepare(&self) -> Result<(), Box<Diagnostic>> {
        if !is_bpffs(&self.bpffs) {
            mount(
                Some("bpf"),
                &self.bpffs,
                Some("bpf"),
                MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC,
                Some("mode=0700"),
            )
            .map_err(|e| load_errors::no_bpffs(&self.bpffs, &e.into()))?;
        }
        let root = self.root();
        if !root.is_dir() {
            make_folder(&root).map_err(|e| load_errors::pins(&root, "make", &e))?;
        }
        fs::set_permissions(&root, fs::Permissions::from_mode(0o700))
            .map_err(|e| load_errors::pins(&root, "protect", &e))
    }

    /// Fails if a program is loaded under this name already, or the name cannot be one.
    pub fn check_free(&self, instance: &str) -> Result<(), Box<Diagnostic>> {
        let folder = self.folder(instance)?;
        match folder.try_exists() {
            Ok(false) => Ok(()),
            Ok(true) => Err(device::instance_exists(instance)),
            Err(error) => Err(load_errors::pins(&folder, "look at", &error)),
        }
    }

    /// Pins a program with its maps and attachments, so that all of it outlives this process. All is
    /// pinned, or nothing.
    pub fn save(
        &self,
        instance: &str,
        loaded: &Instance,
        attached: &[(Interface, &Link)],
    ) -> Result<(), Box<Diagnostic>> {
        self.check_free(instance)?;
        self.prepare()?;
        let folder = self.folder(instance)?;
        let failed = |e: io::Error| load_errors::pins(&folder, "pin the program in", &e);
        make_folder(&folder).map_err(failed)?;
        let record = Record {
            version: Record::VERSION,
            instance: instance.to_owned(),
            interfaces: attached.iter().map(|(i, _)| i.clone()).collect(),
            loaded: std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(0, |d| d.as_secs()),
            abi: (*loaded.store.abi).clone(),
            program: Description::of(&loaded.store.program),
        };
        let done = pin_all(&folder, loaded, attached, &record);
        if done.is_err() {
            // What is left of it holds nothing that is attached beyond the caller's own links.
            let _ = remove_folder(&folder);
        }
        done.map_err(failed)
    }

    /// The names of all pinned programs. Fails if this process may not see them.
    pub fn names(&self) -> Result<Vec<String>, Box<Diagnostic>> {
        let root = self.root();
        let list = match fs::read_dir(&root) {
            Ok(list) => list,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(load_errors::pins(&root, "look into", &error)),
        };
        let mut names: Vec<String> = list
            .filter_map(|e| e.ok()?.file_name().into_string().ok())
            .collect();
        names.sort();
        Ok(names)
    }

    /// The one program that a command means: the named one, or the only one.
    pub fn choose(&self, named: Option<&str>) -> Result<String, Box<Diagnostic>> {
        let present = self.names()?;
        match (named, present.as_slice()) {
            (Some(name), _) if present.iter().any(|p| p == name) => Ok(name.to_owned()),
            (Some(name), _) => Err(device::no_instance(name, &present)),
            (None, [only]) => Ok(only.clone()),
            (None, []) => Err(device::none_loaded()),
            (None, _) => Err(device::which_instance(&present)),
        }
    }

    /// What is written down about a program.
    pub fn record(&self, instance: &str) -> Result<Record, Box<Diagnostic>> {
        let folder = self.existing(instance)?;
        read_record(&folder.join(RECORD))
            .map_err(|e| load_errors::pins(&folder.join(RECORD), "read", &e))
    }

    /// Opens a program's tables and counters.
    pub fn open(&self, instance: &str) -> Result<(Record, KernelStore), Box<Diagnostic>> {
        let record = self.record(instance)?;
        let folder = self.existing(instance)?;
        let mut maps = BTreeMap::new();
        let sections = record.abi.globals.iter().map(|g| &g.section);
        for name in record.abi.maps.iter().map(|m| &m.name).chain(sections) {
            let path = folder.join(map_file(name));
            let map = Map::open(&path).map_err(|e| load_errors::pins(&path, "open", &e))?;
            maps.insert(name.clone(), map);
        }
        let abi = Arc::new(record.abi.clone());
        let store = KernelStore {
            globals: open_globals(&abi, &maps)?,
            abi,
            program: Arc::new(record.program.program()),
            maps,
            live: true,
        };
        Ok((record, store))
    }

    /// Takes a program off its interfaces and forgets it.
    pub fn remove(&self, instance: &str) -> Result<(), Box<Diagnostic>> {
        let folder = self.existing(instance)?;
        let failed = |e: io::Error| load_errors::pins(&folder, "remove", &e);
        for file in fs::read_dir(&folder).map_err(failed)? {
            let path = file.map_err(failed)?.path();
            let is_link = path
                .file_name()
                .is_some_and(|n| n.to_string_lossy().starts_with(LINK));
            // An interface that is gone took its attachment along.
            if is_link && let Ok(link) = Link::open(&path) {
                let _ = link.detach();
            }
        }
        remove_folder(&folder).map_err(failed)
    }

    fn existing(&self, instance: &str) -> Result<PathBuf, Box<Diagnostic>> {
        let folder = self.folder(instance)?;
        if folder.is_dir() {
            Ok(folder)
        } else {
            Err(device::no_instance(instance, &self.names()?))
        }
    }

    /// The pinned program that is attached to an interface.
    pub fn on_interface(&self, index: u32) -> Option<Record> {
        self.names()
            .unwrap_or_default()
            .iter()
            .filter_map(|n| self.record(n).ok())
            .find(|r| r.interfaces.iter().any(|i| i.index == index))
    }
}

const LINK: &str = "link-";

/// The BPF file system allows no dots in names.
fn map_file(name: &str) -> String {
    format!("map-{}", name.replace('.', "-"))
}

fn make_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(path)
}

fn remove_folder(path: &Path) -> io::Result<()> {
    for file in fs::read_dir(path)? {
        fs::remove_file(file?.path())?;
    }
    fs::remove_dir(path)
}

fn pin_all(
    folder: &Path,
    loaded: &Instance,
    attached: &[(Interface, &Link)],
    record: &Record,
) -> io::Result<()> {
    write_record(&folder.join(RECORD), record)?;
    for (name, map) in &loaded.store.maps {
        map.pin(&folder.join(map_file(name)))?;
    }
    loaded.xdp.pin(&folder.join("program"))?;
    for (interface, link) in attached {
        // By index: an interface's name may hold characters that file names here may not.
        link.pin(&folder.join(format!("{LINK}{}", interface.index)))?;
    }
    Ok(())
}

fn write_record(path: &Path, record: &Record) -> io::Result<()> {
    let json = serde_json::to_vec(record)?;
    let size = u32::try_from(json.len()).map_err(|_| io::ErrorKind::InvalidData)?;
    let map = Map::create(
        libbpf_sys::BPF_MAP_TYPE_ARRAY,
        "onpath_record",
        4,
        size,
        1,
        0,
    )?;
    map.set(&0u32.to_ne_bytes(), &json, Update::Any)?;
    map.pin(path)
}

fn read_record(path: &Path) -> io::Result<Record> {
    let map = Map::open(path)?;
    let json = map.get(&0u32.to_ne_bytes())?.unwrap_or_default();
    let record: Record = serde_json::from_slice(&json)?;
    if record.version != Record::VERSION {
        return Err(io::Error::other(
            "it was written by another version of Onpath",
        ));
    }
    Ok(record)
}

impl Interface {
    /// An interface as it is attached now.
    pub fn new(name: &str, index: u32, port: u32, mode: XdpMode) -> Interface {
        Interface {
            name: name.to_owned(),
            index,
            port,
            mode: mode.name().to_owned(),
        }
    }
}
