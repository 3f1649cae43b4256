//! Programs that stay loaded when the process that loaded them ends: pinned in a folder of their own
//! in the BPF file system, with a record from which any other process can find it.
//!
//! Several programs can be one instance (a bundle), and an instance is complete or not there, at whatever moment
//! the process that makes or removes it is killed:
//!
//! - Links and gates (see [`tc::filter`](crate::tc::filter)) work while a descriptor or pin of theirs lives. Before anything of
//!   an instance is pinned where it stays, the death of its process detaches all of it.
//! - An instance with one attachment is pinned in its folder with the attachment last. That pin is the step
//!   from nothing to everything.
//! - An instance with several is pinned in a BPF file system of its own that is mounted nowhere, and that dies
//!   with the process too. Mounting it on the instance's folder is the one step. Detaching it begins with
//!   unmounting: as far as nothing else holds that file system, this ends everything in it.
//!
//! An instance may also end with its process although it is pinned: the record names the process then, and what is
//! left of a dead one is garbage too.
//!
//! - An instance that got further attachments later (see [`PortUse`]) is removed from a mark on that makes a folder
//!   with attachments garbage too.
//!
//! An interface that is deleted takes its attachment along, and the pin of that stays: the instance is complete all the same, and gets
//! an interface that appears by that name (`absences`).
//!
//! So a folder without an attachment in it is garbage. A command that changes something holds a lock on
//! our folder, and sweeps what it finds of that kind first, with the links' settings that such a
//! command has changed ([`Settings`](net::link_settings)).
//!
//! The mount belongs to a mount namespace, as the BPF file system itself does: programs with several
//! attachments that are loaded from a mount namespace of its own (a container) end with it.

mod absences;
mod alone;
mod begin;
pub(crate) mod empty;
pub(crate) mod files;
mod folder;
mod keeping;
mod lock;
mod moved;
mod order;
pub(crate) mod owner;
mod ports;
mod prepare;
mod presence;
mod record;
mod sweep;

pub use absences::{Absence, Followed};
pub use begin::Begun;
pub use moved::Moved;
pub use owner::Owner;
pub use ports::PortUse;
pub use presence::Presence;
pub use record::{Asked, Interface, Loading, MemberRecord, Record, Target};

use crate::errors::{device, load as load_errors};
use crate::store::{Guard, KernelMemory, KernelStore, Maps, SEED_SECTION};
use bpf::abi::{CHANGES_SECTION, Hook};
use diag::Diagnostic;
use files::{RECORD, map_file, member_folder};
use folder::{Folder, whole};
use host::safe_dir::{Dir, Given, Refused};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Where the BPF file system is, or is mounted if it is nowhere.
pub const BPFFS: &str = "/sys/fs/bpf";
/// Our folder there.
const FOLDER: &str = "onpath";

/// How long a command waits for another one.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a command that others wait for waits itself for those who change tables: so that others, which wait for
/// both, do not give up first.
const PATIENCE_WITH_WRITERS: Duration = Duration::from_secs(5);

/// Whether a path is in a BPF file system.
pub fn is_bpffs(path: &Path) -> bool {
    Given::open(path).is_ok_and(|folder| folder.is_bpffs().unwrap_or(false))
}

/// Pinned programs under one BPF file system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pins {
    bpffs: PathBuf,
    patience: Duration,
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
            patience: PATIENCE,
        }
    }

    /// The same, for who waits for another command only so long: each waits for 20 seconds else.
    pub fn patient_for(self, patience: Duration) -> Pins {
        Pins { patience, ..self }
    }

    fn root(&self) -> PathBuf {
        self.bpffs.join(FOLDER)
    }

    /// Our folder, if it is there.
    pub(crate) fn open_root(&self) -> Result<Option<Dir>, Box<Diagnostic>> {
        let open = || -> io::Result<Option<Dir>> {
            let above = Given::open(&self.bpffs)?;
            match above.is_bpffs()? {
                true => above.open_dir(FOLDER).map(Some),
                false => Ok(None),
            }
        };
        match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            done => done.map_err(|e| load_errors::pins(&self.root(), "look into", &e)),
        }
    }

    /// Fails if an instance cannot have this name.
    fn check_name(&self, instance: &str) -> Result<(), Box<Diagnostic>> {
        match folder::is_instance_name(instance) {
            true => Ok(()),
            false => Err(device::bad_instance_name(instance)),
        }
    }

    /// Fails if a program is loaded under this name already, or the name cannot be one.
    pub fn check_free(&self, instance: &str) -> Result<(), Box<Diagnostic>> {
        self.check_name(instance)?;
        let Some(root) = self.open_root()? else {
            return Ok(());
        };
        match whole(&root, instance) {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err(device::instance_exists(instance)),
            Err(error) => Err(self.failed(instance, "look at", &error)),
        }
    }

    /// The names of all pinned instances. Fails if this process may not see them.
    pub fn names(&self) -> Result<Vec<String>, Box<Diagnostic>> {
        let Some(root) = self.open_root()? else {
            return Ok(Vec::new());
        };
        let mut names = self.folders(&root)?;
        let mut failure = None;
        names.retain(|name| match whole(&root, name) {
            Ok(found) => found.is_some(),
            // What is not ours has no instance, and is reported by who sweeps.
            Err(error) if Refused::of(&error).is_some() => false,
            Err(error) => {
                failure = Some(self.failed(name, "look into", &error));
                false
            }
        });
        failure.map_or(Ok(names), Err)
    }

    /// The folders in ours that may be instances', complete or not.
    fn folders(&self, root: &Dir) -> Result<Vec<String>, Box<Diagnostic>> {
        let found = folder::instances(root);
        let found = found.map_err(|e| load_errors::pins(&self.root(), "look into", &e));
        found.map(|(names, _)| names)
    }

    /// Something was not possible in an instance's folder.
    pub(crate) fn failed(&self, instance: &str, what: &str, error: &io::Error) -> Box<Diagnostic> {
        load_errors::pins(&self.root().join(instance), what, error)
    }

    /// The one instance that a command means: the named one, or the only one.
    pub fn choose(&self, named: Option<&str>) -> Result<String, Box<Diagnostic>> {
        let present = self.names()?;
        match (named, present.as_slice()) {
            (Some(name), _) if present.iter().any(|p| p == name) => Ok(name.to_owned()),
            (Some(name), _) => Err(device::no_instance(name, &present, self.are_hidden())),
            (None, [only]) => Ok(only.clone()),
            (None, []) => Err(device::none_loaded(self.are_hidden())),
            (None, _) => Err(device::which_instance(&present)),
        }
    }

    /// What is written down about an instance.
    pub fn record(&self, instance: &str) -> Result<Record, Box<Diagnostic>> {
        let (_, folder) = self.existing(instance)?;
        let record = record::read(&folder.dir);
        record.map_err(|e| load_errors::pins(&folder.dir.shown().join(RECORD), "read", &e))
    }

    /// Which loading of an instance is there.
    pub fn loading(&self, instance: &str) -> Result<Loading, Box<Diagnostic>> {
        let (_, folder) = self.existing(instance)?;
        let loading = record::loading(&folder.dir);
        loading.map_err(|e| load_errors::pins(&folder.dir.shown().join(RECORD), "read", &e))
    }

    /// Whether an instance is still the one of a loading, as far as that can be seen: neither unloaded nor loaded
    /// anew under the same name.
    pub fn is_still(&self, instance: &str, loading: Loading) -> bool {
        match self.loading(instance) {
            Ok(now) => now == loading,
            // What cannot be read may be there all the same.
            Err(_) => self.check_free(instance).is_err(),
        }
    }

    /// Opens the tables and counters of one program of an instance: the named one, or the only one. Its maps are
    /// opened when they are needed. All of it is of one loading: if that is unloaded, it fails, whatever is loaded under
    /// the name by then.
    pub fn open(
        &self,
        instance: &str,
        member: Option<&str>,
    ) -> Result<(MemberRecord, KernelStore), Box<Diagnostic>> {
        // By the open folder from here on, which cannot be replaced as its path can.
        let (_, folder) = self.existing(instance)?;
        // Not found: it was unloaded meanwhile.
        let failed = |what, e: io::Error| match e.kind() {
            io::ErrorKind::NotFound => self.missing(instance),
            _ => self.failed(instance, what, &e),
        };
        let record = record::read(&folder.dir).map_err(|e| failed("read", e))?;
        let number = record.number(member)?;
        let own = folder.dir.open_dir(member_folder(number));
        let own = own.map_err(|e| failed("open", e))?;
        let guard = Guard::new(own, folder.dir, number);
        let record = record.members[number].clone();
        let sections = record
            .abi
            .contents
            .globals
            .iter()
            .map(|g| g.section.as_str());
        let seed = record.abi.contents.is_seeded().then_some(SEED_SECTION);
        let own = record.abi.maps.iter().map(|m| m.name.as_str());
        let all = own.chain(sections).chain(seed).chain([CHANGES_SECTION]);
        let all = all.map(|name| (name.to_owned(), map_file(name)));
        let maps = Maps::pinned(guard.folder(), all);
        let abi = Arc::new(record.abi.clone());
        let memory = KernelMemory {
            abi,
            schema: Arc::new(record.schema.clone()),
            maps,
            allowance: record.memory,
            guard: Some(guard),
        };
        let store = KernelStore::new(memory, true);
        Ok((record, store))
    }

    /// Our folder, and the one of a complete instance in it.
    fn existing(&self, instance: &str) -> Result<(Dir, Folder), Box<Diagnostic>> {
        self.check_name(instance)?;
        let Some(root) = self.open_root()? else {
            return Err(self.missing(instance));
        };
        match whole(&root, instance) {
            Ok(Some(folder)) => Ok((root, folder)),
            Err(error) if Refused::of(&error).is_some() => {
                Err(self.failed(instance, "open", &error))
            }
            _ => Err(self.missing(instance)),
        }
    }

    /// There is no such instance.
    fn missing(&self, instance: &str) -> Box<Diagnostic> {
        match self.names() {
            Ok(present) => device::no_instance(instance, &present, self.are_hidden()),
            Err(diagnostic) => diagnostic,
        }
    }

    /// The pinned instance that is attached to an interface by XDP.
    pub fn on_interface(&self, index: u32) -> Option<Record> {
        let has = |member: &MemberRecord| {
            let is_it = |i: &Interface| i.index == index && i.is_here();
            member.hook == Hook::Xdp && member.interfaces.iter().any(is_it)
        };
        self.names()
            .unwrap_or_default()
            .iter()
            .filter_map(|n| self.record(n).ok())
            .find(|r| r.members.iter().any(has))
    }
}
