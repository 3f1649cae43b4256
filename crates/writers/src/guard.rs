//! One writer at a time, in whichever process and thread, and nothing half done where one was killed.
//!
//! The lock is on the program's folder: it belongs to this loading, and ends when its holder dies. Before a change of more than
//! one element a journal is put there that records how to undo it; when the change is complete, the journal is removed. So a
//! command that takes the lock and finds a journal, reader or writer, first undoes what a killed writer has begun.

use crate::errors::system;
use crate::state::State;
use crate::steps::{Undo, settle};
use control::StoreError;
use host::safe_dir::{Dir, FolderLock, Hold};
use std::fmt::Debug;
use std::io;
use std::time::Duration;

/// How long a command waits for others: the largest batches take seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// The folder of a program that several processes know, and what it has in it.
pub trait Guard: Debug {
    /// The folder, whose lock writers hold in turn.
    fn folder(&self) -> &Dir;

    /// Whether there is a journal.
    fn has_journal(&self) -> bool;

    /// Puts a journal there, all of it at once.
    fn write_journal(&self, bytes: &[u8]) -> io::Result<()>;

    /// The journal that is there.
    fn journal(&self) -> io::Result<Vec<u8>>;

    /// Removes the journal.
    fn remove_journal(&self) -> io::Result<()>;

    /// Whether there is something of a successor that has not taken over.
    fn has_successor(&self) -> bool;

    /// Has that one take over, if all of it is there, or removes it. The caller holds the lock for writing.
    fn settle_successor(&self) -> Result<(), StoreError>;
}

impl dyn Guard + '_ {
    /// Waits until no other writer and no reader is left.
    pub fn write(&self, patience: Option<Duration>) -> Result<FolderLock, StoreError> {
        self.lock(Hold::Alone, patience.unwrap_or(PATIENCE))
    }

    /// Waits until no writer is left.
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

    /// Whether a writer was killed in the middle of a change.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.has_journal() || self.has_successor()
    }

    /// Whether it was, and nobody has come since who undoes or finishes the change.
    pub fn is_abandoned(&self) -> bool {
        let now = Some(Duration::ZERO);
        self.is_unfinished() && self.write(now).is_ok() && self.is_unfinished()
    }

    /// Writes down how a change is undone, in the order in which that is to happen.
    pub(crate) fn begin(&self, undo: &[Undo<'_>]) -> Result<(), StoreError> {
        let bytes = postcard::to_extend(undo, Vec::new()).map_err(io::Error::other);
        let wrote = bytes.and_then(|bytes| self.write_journal(&bytes));
        wrote.map_err(system("write down how to undo the change"))
    }

    /// The change is complete, or undone.
    pub(crate) fn end(&self) -> Result<(), StoreError> {
        self.remove_journal().map_err(system("end the change"))
    }

    /// Undoes what a killed writer has begun. The caller holds the lock for writing, and the state is of now.
    pub(crate) fn undo(&self, state: &State<'_>) -> Result<(), StoreError> {
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
