//! Removing instances, and what killed commands left.

use super::folder::{self, RECORD, SETTINGS};
use super::{
    Loading, MemberRecord, Owner, PATIENCE_WITH_WRITERS, Pins, Record, moved, ports, record,
};
use crate::errors::{device, load as load_errors};
use crate::link_settings::{self, Changed};
use crate::store::{Guard, HeldLock};
use crate::sys::{Link, wait_for_softirqs};
use crate::{netns, tc};
use bpf::abi::PROGRAMS_MAP;
use diag::Diagnostic;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::mount::{MntFlags, umount2};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The right to change what is in a folder, or on it. It ends with the process.
#[derive(Debug)]
pub(super) struct Lock {
    _folder: Flock<File>,
}

/// Waits for packets that are still in programs which are attached no longer, where these go on in others: as soon as they are not pinned, the
/// kernel forgets which.
fn let_packets_out(record: Option<&Record>) {
    let goes_on = |member: &MemberRecord| member.abi.map(PROGRAMS_MAP).is_some();
    if record.is_some_and(|record| record.members.iter().any(goes_on)) {
        wait_for_softirqs();
    }
}

impl Pins {
    pub(super) fn lock(&self) -> Result<Lock, Box<Diagnostic>> {
        self.lock_folder(&self.root())
    }

    /// Waits for another command that holds a folder, as long as these are patient.
    pub(super) fn lock_folder(&self, folder: &Path) -> Result<Lock, Box<Diagnostic>> {
        let failed = |e: io::Error| load_errors::pins(folder, "lock", &e);
        let mut file = File::open(folder).map_err(failed)?;
        let started = Instant::now();
        loop {
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(folder) => return Ok(Lock { _folder: folder }),
                Err((back, Errno::EWOULDBLOCK)) if started.elapsed() < self.patience => file = back,
                Err((_, Errno::EWOULDBLOCK)) => return Err(device::busy()),
                Err((_, error)) => return Err(failed(error.into())),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Detaches an instance from its interfaces and removes it.
    pub fn remove(&self, instance: &str) -> Result<(), Box<Diagnostic>> {
        let folder = self.existing(instance)?;
        let lock = self.lock()?;
        self.take_off(&folder)?;
        // What else is left is the business of `mend`, which reports it.
        let _ = self.sweep(&lock);
        Ok(())
    }

    /// As [`Pins::remove`], but only if it is the instance of that loading. `false`: it is not there any more, and
    /// what else runs under its name stays.
    pub fn remove_loading(
        &self,
        instance: &str,
        loading: Loading,
    ) -> Result<bool, Box<Diagnostic>> {
        let folder = self.folder(instance)?;
        if !self.root().is_dir() {
            return Ok(false);
        }
        let lock = self.lock()?;
        if !self.is_still(instance, loading) {
            return Ok(false);
        }
        self.take_off(&folder)?;
        let _ = self.sweep(&lock);
        Ok(true)
    }

    /// Detaches everything of ours, complete or left by a killed command, and gives the names of the
    /// instances there were. What can be removed is, even where something else cannot.
    pub fn clear_all(&self) -> Result<Vec<String>, Box<Diagnostic>> {
        let names = self.names()?;
        if !self.root().is_dir() {
            return Ok(names);
        }
        let lock = self.lock()?;
        let mut failure = None;
        for name in &names {
            if let Err(diagnostic) = self.take_off(&self.root().join(name)) {
                failure = Some(diagnostic);
            }
        }
        for name in self.folders()? {
            // What is mounted in another mount namespace goes too: it was asked for.
            let folder = self.root().join(name);
            if folder::is_whole(&folder).is_ok_and(|whole| !whole)
                && let Err(diagnostic) = self.clean(&folder)
            {
                failure = Some(diagnostic);
            }
        }
        let swept = self.sweep(&lock);
        failure.or(swept.err()).map_or(Ok(names), Err)
    }

    fn take_off(&self, folder: &Path) -> Result<(), Box<Diagnostic>> {
        let failed = |e: io::Error| load_errors::pins(folder, "remove", &e);
        let record = record::read(&folder.join(RECORD)).ok();
        // Until the folders are gone: who waits for the lock then finds that there is nothing to change any more.
        let _writers = hold_writers(folder);
        let moved;
        if folder::is_mount(folder).map_err(failed)? {
            // Somebody else may hold this file system in a mount namespace of their own; so that is not all.
            let inside = File::open(folder).map_err(failed)?;
            umount2(folder, MntFlags::MNT_DETACH).map_err(|e| failed(e.into()))?;
            let inside: PathBuf = format!("/proc/self/fd/{}", inside.as_raw_fd()).into();
            moved = moved::follow(&settings(folder).map_err(failed)?, &inside);
            detach(&inside).map_err(failed)?;
            let_packets_out(record.as_ref());
        } else {
            moved = moved::follow(&settings(folder).map_err(failed)?, folder);
            folder::begin_end(folder).map_err(failed)?;
            detach(folder).map_err(failed)?;
            let_packets_out(record.as_ref());
        }
        if let Some(record) = record {
            remove_filters(&record).map_err(failed)?;
        }
        restore(&moved)?;
        self.clean(folder)
    }

    /// Removes a folder that has no attachment, and restores the settings written down there.
    pub(super) fn clean(&self, folder: &Path) -> Result<(), Box<Diagnostic>> {
        let failed = |e: io::Error| load_errors::pins(folder, "remove", &e);
        restore(&settings(folder).map_err(failed)?)?;
        let settings = folder.join(SETTINGS);
        folder::empty(folder).map_err(failed)?;
        if settings.exists() {
            fs::remove_file(&settings).map_err(failed)?;
        }
        fs::remove_dir(folder).map_err(failed)
    }

    /// Removes what killed commands left, if there is anything. What cannot be removed is in nobody's way: a command that
    /// is about something else reports it and goes on.
    pub fn mend(&self) -> Result<(), Box<Diagnostic>> {
        // What this process may not look at is for the command to report.
        let is_left = self.is_left().unwrap_or(false);
        if !self.root().is_dir() || !is_left {
            return Ok(());
        }
        let lock = self.lock()?;
        self.sweep(&lock)
    }

    /// As [`Pins::mend`], however long another command holds the lock.
    pub fn mend_at_last(&self) -> Result<(), Box<Diagnostic>> {
        loop {
            match self.mend() {
                Err(diagnostic) if device::is_busy(&diagnostic) => {}
                done => return done,
            }
        }
    }

    /// Whether an instance of a dead process, a change of ports or tables that was begun or a folder without an instance is there.
    /// Another command may be making the latter.
    fn is_left(&self) -> io::Result<bool> {
        let folders = self
            .folders()
            .map_err(|_| io::ErrorKind::PermissionDenied)?;
        for folder in folders.iter().map(|name| self.root().join(name)) {
            let is_elsewhere = match folder::is_elsewhere(&folder) {
                // Another command removed it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                other => other,
            };
            let is_garbage = !folder::is_whole(&folder)? && !is_elsewhere?;
            let is_unfinished = ports::is_unsettled(&folder) || !abandoned(&folder).is_empty();
            if is_garbage || is_orphan(&folder) || is_unfinished {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Undoes or finishes what killed commands have begun of changes of an instance's tables: at several interfaces
    /// different tables may be in force until then.
    fn finish_writers(&self, instance: &str, folder: &Path) -> Result<(), Box<Diagnostic>> {
        for number in abandoned(folder) {
            let name = &self.record(instance)?.members[number].name;
            let (_, store) = self.open(instance, Some(name))?;
            store.recover(PATIENCE_WITH_WRITERS).map_err(|e| {
                let error = io::Error::other(e.to_string());
                load_errors::pins(folder, "finish a change of tables in", &error)
            })?;
        }
        Ok(())
    }

    /// Whether there is an instance that ends with this process.
    pub(crate) fn has_owned_by(&self, owner: &Owner) -> Result<bool, Box<Diagnostic>> {
        let names = self.names()?;
        let mut records = names.iter().filter_map(|name| self.record(name).ok());
        Ok(records.any(|record| record.owner.as_ref() == Some(owner)))
    }

    /// Removes what killed commands left: instances that end with a process which has ended, changes of ports and tables
    /// that are not complete, folders without an attachment, and filters that run nothing. What can be removed is, even where
    /// something else cannot.
    pub(super) fn sweep(&self, _held: &Lock) -> Result<(), Box<Diagnostic>> {
        let root = self.root();
        let mut done = Ok(());
        for name in self.folders()? {
            let folder = root.join(&name);
            if is_orphan(&folder) {
                done = done.and(self.take_off(&folder));
            } else if folder::is_whole(&folder).unwrap_or(false) {
                done = done.and(self.finish_writers(&name, &folder));
                if ports::is_unsettled(&folder) {
                    done = done.and(self.settle(&name));
                }
            }
        }
        for name in self.folders()? {
            let folder = root.join(name);
            let garbage = folder::is_whole(&folder)
                .and_then(|whole| Ok(!whole && !folder::is_elsewhere(&folder)?))
                .map_err(|e| load_errors::pins(&folder, "look into", &e));
            done = done.and(match garbage {
                Ok(true) => self.clean(&folder),
                Ok(false) => Ok(()),
                Err(diagnostic) => Err(diagnostic),
            });
        }
        done.and(tc::sweep().map_err(|e| device::filters_left(&e)))
    }
}

/// The numbers of those programs of an instance of whose tables a killed command has begun a change.
fn abandoned(folder: &Path) -> Vec<usize> {
    let guards = folder::members(folder).enumerate();
    guards
        .filter_map(|(n, member)| Guard::new(member, n).is_abandoned().then_some(n))
        .collect()
}

/// Waits for those who change the tables of an instance, but not for long, and keeps others away.
fn hold_writers(folder: &Path) -> Vec<HeldLock> {
    let guards = folder::members(folder).enumerate();
    guards
        .filter_map(|(n, member)| Guard::new(member, n).write_within(PATIENCE_WITH_WRITERS))
        .collect()
}

/// Whether an instance's process has ended, and it with it.
fn is_orphan(folder: &Path) -> bool {
    let record = record::read(&folder.join(RECORD));
    record.is_ok_and(|record| record.owner.is_some_and(|owner| owner.has_ended()))
}

/// The links' settings that an instance has changed, as they are written down.
fn settings(folder: &Path) -> io::Result<Vec<Changed>> {
    let path = folder.join(SETTINGS);
    match path.exists() {
        true => record::read_json(&path),
        false => Ok(Vec::new()),
    }
}

fn restore(settings: &[Changed]) -> Result<(), Box<Diagnostic>> {
    for changed in settings.iter().rev() {
        link_settings::restore(changed)
            .map_err(|e| device::link_settings_left(&changed.name, &e))?;
    }
    Ok(())
}

/// Takes everything off that a folder holds, at once, and removes it. Where it is one attachment, removing its pin
/// is the one step: what this process holds of it after that ends with the process.
fn detach(folder: &Path) -> io::Result<()> {
    let links = folder::links(folder)?;
    let links: Vec<Link> = links.iter().filter_map(|l| Link::open(l).ok()).collect();
    folder::empty(folder)?;
    for link in links {
        // An interface that is gone took its attachment along.
        let _ = link.detach();
    }
    Ok(())
}

fn remove_filters(record: &Record) -> io::Result<()> {
    let interfaces = record.members.iter().flat_map(|m| &m.interfaces);
    let mut filters: Vec<_> = interfaces
        .filter_map(|i| i.filter.map(|filter| (i.netns, filter)))
        .collect();
    // The one that brought the qdisc goes last, so that the qdisc is empty by then.
    filters.sort_by_key(|(_, filter)| filter.made_qdisc);
    for (netns, filter) in filters {
        netns::run_in(netns, || filter.remove())?;
    }
    Ok(())
}
