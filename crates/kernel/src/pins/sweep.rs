//! Removal of instances, and of the leftovers of killed commands.

use super::empty::empty;
use super::files::{self, SETTINGS};
use super::folder::{self, Folder, whole};
use super::lock::Lock;
use super::{
    Loading, MemberRecord, Owner, PATIENCE_WITH_WRITERS, Pins, Record, moved, ports, record,
};
use crate::errors::{device, load as load_errors};
use crate::store::Guard;
use crate::sys::Link;
use crate::tc::filter;
use bpf::abi::PROGRAMS_MAP;
use diag::Diagnostic;
use host::linux::wait_for_softirqs;
use host::safe_dir::{Dir, FolderLock, Refused};
use net::link_settings::{self, Changed};
use net::netns;
use std::io;
use std::sync::Arc;

/// Waits for packets that are still in detached programs, if these are chained by tail calls. Once the map of the
/// chain is not pinned, the kernel empties it.
fn let_packets_out(record: Option<&Record>) {
    let goes_on = |member: &MemberRecord| member.abi.map(PROGRAMS_MAP).is_some();
    if record.is_some_and(|record| record.members.iter().any(goes_on)) {
        wait_for_softirqs();
    }
}

impl Pins {
    /// Detaches an instance from its interfaces and removes it.
    pub fn remove(&self, instance: &str) -> Result<(), Box<Diagnostic>> {
        let (root, _) = self.existing(instance)?;
        let lock = self.lock(&root)?;
        // Another command, or the process that cleans up after a killed one, may have removed it meanwhile.
        self.existing(instance)?;
        self.take_off(&root, instance)?;
        // What else is left is the business of `mend`, which reports it.
        let _ = self.sweep(&root, &lock);
        Ok(())
    }

    /// Removes an instance like [`Pins::remove`], but only if it is of this loading. `false`: it is gone, and whatever
    /// else runs under its name stays.
    pub fn remove_loading(
        &self,
        instance: &str,
        loading: Loading,
    ) -> Result<bool, Box<Diagnostic>> {
        self.check_name(instance)?;
        let Some(root) = self.open_root()? else {
            return Ok(false);
        };
        let lock = self.lock(&root)?;
        if !self.is_still(instance, loading) {
            return Ok(false);
        }
        self.take_off(&root, instance)?;
        let _ = self.sweep(&root, &lock);
        Ok(true)
    }

    /// Detaches everything of Onpath's, complete or left by a killed command, and returns the names of the instances.
    /// After a failure it goes on with the others.
    pub fn clear_all(&self) -> Result<Vec<String>, Box<Diagnostic>> {
        let Some(root) = self.open_root()? else {
            return Ok(Vec::new());
        };
        let lock = self.lock(&root)?;
        let names = self.names()?;
        let mut failure = None;
        for name in &names {
            if let Err(diagnostic) = self.take_off(&root, name) {
                failure = Some(diagnostic);
            }
        }
        for name in self.folders(&root)? {
            // What is mounted in another mount namespace goes too: it was asked for.
            let is_left = whole(&root, &name).is_ok_and(|whole| whole.is_none());
            if is_left && let Err(diagnostic) = self.clean(&root, &name) {
                failure = Some(diagnostic);
            }
        }
        let swept = self.sweep(&root, &lock);
        failure.or(swept.err()).map_or(Ok(names), Err)
    }

    fn take_off(&self, root: &Dir, instance: &str) -> Result<(), Box<Diagnostic>> {
        let failed = |e: io::Error| self.failed(instance, "remove", &e);
        let folder = Folder::open(root, instance).map_err(failed)?;
        let record = record::read(&folder.dir).ok();
        // Held until the folders are gone: whoever waits for the lock then finds nothing left to change.
        let _writers = hold_writers(&folder.dir);
        let moved;
        if folder.is_mount {
            // Unmounting is not enough: somebody else may hold this file system in another mount namespace.
            folder.dir.unmount().map_err(failed)?;
            let below = root.open_dir(instance).map_err(failed)?;
            moved = moved::follow(&settings(&below).map_err(failed)?, &folder.dir);
        } else {
            moved = moved::follow(&settings(&folder.dir).map_err(failed)?, &folder.dir);
            folder.begin_end().map_err(failed)?;
        }
        detach(&folder.dir).map_err(failed)?;
        let_packets_out(record.as_ref());
        if let Some(record) = record {
            remove_filters(&record).map_err(failed)?;
        }
        restore(&moved)?;
        self.clean(root, instance)
    }

    /// Removes a folder that has no attachment, and restores the settings recorded there. Foreign files stay, and are
    /// reported.
    pub(super) fn clean(&self, root: &Dir, instance: &str) -> Result<(), Box<Diagnostic>> {
        let failed = |e: io::Error| self.failed(instance, "remove", &e);
        let folder = root.open_dir(instance).map_err(failed)?;
        restore(&settings(&folder).map_err(failed)?)?;
        let left = empty(&folder).map_err(failed)?;
        folder.remove_file_if_there(SETTINGS).map_err(failed)?;
        match left {
            None => root.remove_dir(instance).map_err(failed),
            Some(refused) => Err(failed(refused.into())),
        }
    }

    /// Removes the leftovers of killed commands, if there are any. They do no harm, so a command with another purpose
    /// reports a failure and goes on.
    pub fn mend(&self) -> Result<(), Box<Diagnostic>> {
        // What this process may not look at is for the command to report.
        let Ok(Some(root)) = self.open_root() else {
            return Ok(());
        };
        if !is_left(&root).unwrap_or(false) {
            return Ok(());
        }
        let lock = self.lock(&root)?;
        self.sweep(&root, &lock)
    }

    /// Does the same as [`Pins::mend`], however long another command holds the lock.
    pub fn mend_at_last(&self) -> Result<(), Box<Diagnostic>> {
        loop {
            match self.mend() {
                Err(diagnostic) if device::is_busy(&diagnostic) => {}
                done => return done,
            }
        }
    }

    /// Undoes or finishes changes of an instance's tables that killed commands have begun. Until then, different
    /// tables may be in force at different interfaces.
    fn finish_writers(&self, instance: &str, folder: &Arc<Dir>) -> Result<(), Box<Diagnostic>> {
        for number in abandoned(folder) {
            let name = &self.record(instance)?.members[number].name;
            let (_, store) = self.open(instance, Some(name))?;
            store.recover(PATIENCE_WITH_WRITERS).map_err(|e| {
                let error = io::Error::other(e.to_string());
                self.failed(instance, "finish a change of tables in", &error)
            })?;
        }
        Ok(())
    }

    /// Returns true if there is an instance that ends with this process.
    pub(crate) fn has_owned_by(&self, owner: &Owner) -> Result<bool, Box<Diagnostic>> {
        let names = self.names()?;
        let mut records = names.iter().filter_map(|name| self.record(name).ok());
        Ok(records.any(|record| record.owner.as_ref() == Some(owner)))
    }

    /// Removes the leftovers of killed commands: instances whose process has ended, unfinished changes of ports and
    /// tables, folders without an attachment, and filters that run nothing. After a failure it goes on with the others.
    pub(super) fn sweep(&self, root: &Dir, _held: &Lock) -> Result<(), Box<Diagnostic>> {
        let mut done = Ok(());
        for name in self.folders(root)? {
            let Ok(folder) = Folder::open(root, &name) else {
                continue;
            };
            if record::is_orphan(&folder.dir) {
                done = done.and(self.take_off(root, &name));
            } else if folder.is_whole().unwrap_or(false) {
                done = done.and(self.finish_writers(&name, &folder.dir));
                if ports::is_unsettled(&folder.dir) {
                    done = done.and(self.settle(&name));
                }
            }
        }
        let found = folder::instances(root);
        let (names, others) =
            found.map_err(|e| load_errors::pins(root.shown(), "look into", &e))?;
        for name in names {
            let folder = Folder::open(root, &name);
            let garbage =
                folder.and_then(|folder| Ok(!folder.is_whole()? && !folder.is_elsewhere()?));
            done = done.and(match garbage {
                Ok(true) => self.clean(root, &name),
                Ok(false) => Ok(()),
                Err(error) => Err(self.failed(&name, "look into", &error)),
            });
        }
        for other in others {
            done = done.and(Err(load_errors::pins(
                root.shown(),
                "remove",
                &other.into(),
            )));
        }
        done.and(filter::sweep().map_err(|e| device::filters_left(&e)))
    }
}

/// Tests whether there is something to sweep: an instance of a dead process, an unfinished change of ports or tables,
/// a folder without an instance, or a foreign file. Another command may be making a folder.
fn is_left(root: &Dir) -> io::Result<bool> {
    let (names, others) = folder::instances(root)?;
    if !others.is_empty() {
        return Ok(true);
    }
    for name in names {
        let folder = match Folder::open(root, &name) {
            // Another command removed it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) if Refused::of(&error).is_some() => return Ok(true),
            opened => opened?,
        };
        let is_garbage = !folder.is_whole()? && !folder.is_elsewhere()?;
        let is_unfinished = ports::is_unsettled(&folder.dir) || !abandoned(&folder.dir).is_empty();
        if is_garbage || record::is_orphan(&folder.dir) || is_unfinished {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the numbers of an instance's programs whose tables a killed command has begun to change.
fn abandoned(folder: &Arc<Dir>) -> Vec<usize> {
    let guards = files::members(folder).enumerate();
    guards
        .filter_map(|(n, member)| {
            let guard: &dyn writers::Guard = &Guard::new(member, Arc::clone(folder), n);
            guard.is_abandoned().then_some(n)
        })
        .collect()
}

/// Waits for commands that change the tables of an instance, but not for long, and locks others out.
fn hold_writers(folder: &Arc<Dir>) -> Vec<FolderLock> {
    let guards = files::members(folder).enumerate();
    guards
        .filter_map(|(n, member)| {
            let guard: &dyn writers::Guard = &Guard::new(member, Arc::clone(folder), n);
            guard.write(Some(PATIENCE_WITH_WRITERS)).ok()
        })
        .collect()
}

/// Reads the link settings that an instance has changed, as they are recorded.
fn settings(folder: &Dir) -> io::Result<Vec<Changed>> {
    match folder.has(SETTINGS) {
        true => record::read_json(folder, SETTINGS),
        false => Ok(Vec::new()),
    }
}

/// Restores all settings that can be restored, and reports the first that cannot.
fn restore(settings: &[Changed]) -> Result<(), Box<Diagnostic>> {
    let mut failure = Ok(());
    for changed in settings.iter().rev() {
        let restored = link_settings::restore(changed)
            .map_err(|e| device::link_settings_left(&changed.name, &e));
        failure = failure.and(restored);
    }
    failure
}

/// Detaches everything that a folder holds, at once, and empties the folder. For a single attachment, removing its pin
/// is the one step: what this process still holds of it ends with the process.
fn detach(folder: &Dir) -> io::Result<()> {
    let links = files::links(folder)?;
    let links = links.iter().map(|name| Link::open(folder, name));
    let links: Vec<Link> = links.filter_map(Result::ok).collect();
    // What is not Onpath's is reported by who removes the folder.
    empty(folder)?;
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
