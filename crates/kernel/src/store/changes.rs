//! How often each table was changed, in memory that programs specialized to the tables' contents read: what they have
//! compiled in counts only as long as this says that nothing has changed since.
//!
//! Nobody counts for a program that nobody has specialized yet. From then on every writer counts, before packets can meet
//! anything of its change; a change that is undone was one too.

use super::{KernelStore, system, unopened};
use crate::pins::map_file;
use crate::store::Globals;
use crate::sys::Map;
use bpf::abi::CHANGES_SECTION;
use control::StoreError;
use schema::Table;
use std::io;
use std::sync::atomic::{Ordering, fence};

/// `BPF_F_MMAPABLE`
const MMAPABLE: u32 = 1 << 10;

/// The counts of a program's tables.
#[derive(Debug)]
pub struct Changes {
    counts: Globals,
}

impl Changes {
    /// How often a table was changed.
    pub fn of(&self, table: Table) -> Result<u64, StoreError> {
        let count = self.counts.u64(offset(table));
        count.map_err(system("read how often a table was changed"))
    }

    /// One more change of a table.
    fn add(&self, table: Table) -> io::Result<()> {
        let count = self.counts.u64(offset(table))?;
        self.counts.set_u64(offset(table), count.wrapping_add(1))
    }
}

fn offset(table: Table) -> u32 {
    table.as_u32() * 8
}

impl KernelStore {
    /// The counts, once they are kept.
    pub fn changes(&self) -> Result<Option<Changes>, StoreError> {
        let map = match self.maps.get(CHANGES_SECTION) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            found => found.map_err(unopened)?,
        };
        let counts = map.map(Globals::map).transpose();
        let counts = counts.map_err(system("open how often tables were changed"))?;
        Ok(counts.map(|counts| Changes { counts }))
    }

    /// Has all writers count from now on.
    ///
    /// # Errors
    /// The program was unloaded, another process holds its lock for too long, or the system refuses.
    pub fn count_changes(&mut self) -> Result<(), StoreError> {
        let failed = system("count how often tables are changed");
        let size = self.schema.tables.len().max(1) * 8;
        let make = || {
            let array = libbpf_sys::BPF_MAP_TYPE_ARRAY;
            Map::create(array, "onpath_changes", 4, size as u32, 1, MMAPABLE).map_err(&failed)
        };
        let Some(guard) = &self.guard else {
            if self.changes()?.is_none() {
                self.maps.add(CHANGES_SECTION, make()?);
            }
            return Ok(());
        };
        self.exclusively(|now| match now.changes()? {
            Some(_) => Ok(()),
            None => {
                let pin = map_file(CHANGES_SECTION);
                make()?.pin(guard.folder(), &pin).map_err(&failed)
            }
        })
    }

    /// Counts a change of each of these tables. What the caller writes next, packets meet after this.
    pub(super) fn note_changes(
        &self,
        tables: impl IntoIterator<Item = Table>,
    ) -> Result<(), StoreError> {
        let Some(changes) = self.changes()? else {
            return Ok(());
        };
        for table in tables {
            let noted = changes.add(table);
            noted.map_err(system("count a change of a table"))?;
        }
        fence(Ordering::SeqCst);
        Ok(())
    }
}
