//! Folder of a program, as the guard of its state.

use control::StoreError;
use host::safe_dir::Dir;
use std::io::{self, Read, Write};

const JOURNAL: &str = "journal";
const NEW_JOURNAL: &str = "journal.new";

/// Folder of a program, whose lock writers take.
#[derive(Debug)]
pub(crate) struct Guard(pub Dir);

impl writers::Guard for Guard {
    fn folder(&self) -> &Dir {
        &self.0
    }

    fn has_journal(&self) -> bool {
        self.0.has(JOURNAL)
    }

    fn write_journal(&self, bytes: &[u8]) -> io::Result<()> {
        // A killed writer may have left one.
        self.0.remove_file_if_there(NEW_JOURNAL)?;
        self.0.make_file(NEW_JOURNAL)?.write_all(bytes)?;
        self.0.rename(NEW_JOURNAL, JOURNAL)
    }

    fn journal(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.0.open_file(JOURNAL)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn remove_journal(&self) -> io::Result<()> {
        self.0.remove_file(JOURNAL)
    }

    /// Returns false: a successor takes effect by a single store, before which no other process knows of it.
    fn has_successor(&self) -> bool {
        false
    }

    fn settle_successor(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
