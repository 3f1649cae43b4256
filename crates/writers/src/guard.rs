//! Lock and journal of a program: one writer at a time over all processes and threads, and no partial change after a
//! writer was killed.
//!
//! The lock is on the program's folder. It belongs to this loading of the program, and is released when its holder
//! dies. Before a change of more than one element, the writer puts a journal into the folder, which records how to undo
//! the change. It removes the journal when the change is complete. A reader or writer that takes the lock and finds a
//! journal first undoes the partial change.

use crate::errors::system;
use crate::state::ProgramState;
use crate::steps::{Undo, settle};
use control::StoreError;
use host::safe_dir::{Dir, FolderLock, Hold};
use std::fmt::Debug;
use std::io;
use std::time::Duration;

/// Longest wait for other commands' locks: the largest batches take seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// Folder of a program that several processes know, with its contents.
pub trait Guard: Debug {
    /// Returns the folder, whose lock writers take.
    fn folder(&self) -> &Dir;

    /// Returns true if there is a journal.
    fn has_journal(&self) -> bool;

    /// Writes the journal atomically.
    fn write_journal(&self, bytes: &[u8]) -> io::Result<()>;

    /// Reads the journal.
    fn journal(&self) -> io::Result<Vec<u8>>;

    /// Removes the journal.
    fn remove_journal(&self) -> io::Result<()>;

    /// Returns true if a successor exists, even a partial one, that has not taken over.
    fn has_successor(&self) -> bool;

    /// Makes the successor take over if it is complete, else removes it. The caller holds the lock for writing.
    fn settle_successor(&self) -> Result<(), StoreError>;
}

impl dyn Guard + '_ {
    /// Takes the lock for writing: waits until no other writer and no reader is left.
    pub fn write(&self, patience: Option<Duration>) -> Result<FolderLock, StoreError> {
        self.lock(Hold::Alone, patience.unwrap_or(PATIENCE))
    }

    /// Takes the lock for reading: waits until no writer is left.
    pub(crate) fn read(&self) -> Result<FolderLock, StoreError> {
        self.lock(Hold::Together, PATIENCE)
    }

    fn lock(&self, how: Hold, patience: Duration) -> Result<FolderLock, StoreError> {
        let taken = FolderLock::take(self.folder(), how, patience);
        let taken = taken.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => StoreError::Unloaded,
            _ => system("lock the program's tables")(error),
        })?;
        taken.ok_or_else(|| StoreError::System {
            what: format!(
                "another process has been changing the program's tables for {} seconds; try again later",
                patience.as_secs()
            ),
        })
    }

    /// Returns true if a change is in progress, or its writer was killed in the middle of it.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.has_journal() || self.has_successor()
    }

    /// Returns true if a writer was killed in the middle of a change, and no other has undone or finished it since.
    pub fn is_abandoned(&self) -> bool {
        let now = Some(Duration::ZERO);
        self.is_unfinished() && self.write(now).is_ok() && self.is_unfinished()
    }

    /// Writes the journal: the steps that undo a change, in the order in which they must run.
    pub(crate) fn begin(&self, undo: &[Undo<'_>]) -> Result<(), StoreError> {
        let bytes = postcard::to_extend(undo, Vec::new()).map_err(io::Error::other);
        let wrote = bytes.and_then(|bytes| self.write_journal(&bytes));
        wrote.map_err(system("write down how to undo the change"))
    }

    /// Removes the journal, since the change is complete or undone.
    pub(crate) fn end(&self) -> Result<(), StoreError> {
        self.remove_journal().map_err(system("end the change"))
    }

    /// Undoes the partial change of a killed writer. The caller holds the lock for writing, and `state` is current.
    pub(crate) fn undo(&self, state: &ProgramState<'_>) -> Result<(), StoreError> {
        let failed = system("read how to undo what a killed command has begun");
        let bytes = self.journal().map_err(&failed)?;
        let undo: Vec<Undo<'_>> =
            postcard::from_bytes(&bytes).map_err(|e| failed(io::Error::other(e)))?;
        for step in &undo {
            step.run(state)?;
        }
        settle(state);
        self.end()
    }
}
