//! Programs that stay loaded when the process that loaded them ends. They are pinned in a folder of their own in the
//! BPF file system, with a record by which any other process can find them.
//!
//! Several programs can be one instance (a bundle), and an instance is complete or not there, at whatever moment
//! the process that makes or removes it is killed:
//!
//! - Links and gates (see [`tc::filter`](crate::tc::filter)) work while a descriptor or pin of theirs lives. Before
//!   anything of an instance is pinned where it stays, the death of its process detaches all of it.
//! - An instance with one attachment is pinned in its folder with the attachment last. That pin is the step
//!   from nothing to everything.
//! - An instance with several is pinned in a BPF file system of its own that is mounted nowhere, and that dies
//!   with the process too. Mounting it on the instance's folder is the one step. Detaching it begins with
//!   unmounting: as far as nothing else holds that file system, this ends everything in it.
//!
//! An instance may also end with its process although it is pinned. The record names the process then, and the
//! instance is garbage once the process has ended.
//!
//! To remove an instance that got further attachments later (see [`PortUse`]), a mark is made first. With the mark,
//! a folder with attachments is garbage too.
//!
//! An interface that is deleted takes its attachment along, but its pin stays. So the instance is still complete, and
//! it gets an interface that appears by that name (`absences`).
//!
//! So a folder without an attachment in it is garbage. A command that changes something locks Onpath's folder and
//! first removes such garbage. It also restores the link settings that a killed command has changed
//! ([`Settings`](net::link_settings)).
//!
//! The mount belongs to a mount namespace, as the BPF file system itself does. So programs with several attachments
//! that are loaded from a mount namespace of their own (a container) end with it.

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
pub use record::{Asked, Interface, Loading, MemberRecord, Record, RedirectTarget};

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

/// Mount point of the BPF file system. It is mounted there if it is not yet.
pub const BPFFS: &str = "/sys/fs/bpf";
/// Name of Onpath's folder there.
const FOLDER: &str = "onpath";

/// Longest wait of a command for another one.
const PATIENCE: Duration = Duration::from_secs(20);
/// Longest wait for commands that change tables, if other commands wait for this one. It is shorter, so that commands
/// that wait for both do not give up first.
const PATIENCE_WITH_WRITERS: Duration = Duration::from_secs(5);

/// Tests whether a path is in a BPF file system.
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
    /// Returns the pins under another mount point.
    pub fn at(bpffs: &Path) -> Pins {
        Pins {
            bpffs: bpffs.to_owned(),
            patience: PATIENCE,
        }
    }

    /// Limits the wait for another command to `patience`, instead of 20 seconds.
    pub fn patient_for(self, patience: Duration) -> Pins {
        Pins { patience, ..self }
    }

    fn root(&self) -> PathBuf {
        self.bpffs.join(FOLDER)
    }

    /// Opens Onpath's folder, if it is there.
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

    /// Returns the names of all pinned instances. Fails if this process may not see them.
    pub fn names(&self) -> Result<Vec<String>, Box<Diagnostic>> {
        let Some(root) = self.open_root()? else {
            return Ok(Vec::new());
        };
        let mut names = self.folders(&root)?;
        let mut failure = None;
        names.retain(|name| match whole(&root, name) {
            Ok(found) => found.is_some(),
            // A foreign file holds no instance; the next sweep reports it.
            Err(error) if Refused::of(&error).is_some() => false,
            Err(error) => {
                failure = Some(self.failed(name, "look into", &error));
                false
            }
        });
        failure.map_or(Ok(names), Err)
    }

    /// Lists the folders that may be instances', complete or not.
    fn folders(&self, root: &Dir) -> Result<Vec<String>, Box<Diagnostic>> {
        let found = folder::instances(root);
        let found = found.map_err(|e| load_errors::pins(&self.root(), "look into", &e));
        found.map(|(names, _)| names)
    }

    /// Reports that something was not possible in an instance's folder.
    pub(crate) fn failed(&self, instance: &str, what: &str, error: &io::Error) -> Box<Diagnostic> {
        load_errors::pins(&self.root().join(instance), what, error)
    }

    /// Returns the instance that a command means: the named one, or the only one.
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

    /// Reads the record of an instance.
    pub fn record(&self, instance: &str) -> Result<Record, Box<Diagnostic>> {
        let (_, folder) = self.existing(instance)?;
        let record = record::read(&folder.dir);
        record.map_err(|e| load_errors::pins(&folder.dir.shown().join(RECORD), "read", &e))
    }

    /// Returns the identity of the present loading of an instance.
    pub fn loading(&self, instance: &str) -> Result<Loading, Box<Diagnostic>> {
        let (_, folder) = self.existing(instance)?;
        let loading = record::loading(&folder.dir);
        loading.map_err(|e| load_errors::pins(&folder.dir.shown().join(RECORD), "read", &e))
    }

    /// Tests whether an instance is still of this loading, as far as can be seen: neither unloaded, nor loaded again
    /// under the same name.
    pub fn is_still(&self, instance: &str, loading: Loading) -> bool {
        match self.loading(instance) {
            Ok(now) => now == loading,
            // What cannot be read may be there all the same.
            Err(_) => self.check_free(instance).is_err(),
        }
    }

    /// Opens the tables and counters of one program of an instance: the named one, or the only one. Its maps are
    /// opened when they are needed. All of them belong to one loading. If that is unloaded, access to them fails, even
    /// if something else is loaded under the name by then.
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

    /// Opens Onpath's folder, and that of a complete instance in it.
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

    /// Reports that there is no such instance.
    fn missing(&self, instance: &str) -> Box<Diagnostic> {
        match self.names() {
            Ok(present) => device::no_instance(instance, &present, self.are_hidden()),
            Err(diagnostic) => diagnostic,
        }
    }

    /// Returns the record of the pinned instance that is attached to an interface by XDP.
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
