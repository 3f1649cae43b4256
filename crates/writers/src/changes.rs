//! Change counts of tables, in memory that specialized programs read. Such a program has table contents compiled in,
//! and uses them only while the count says that nothing has changed since.
//!
//! Nobody counts for a program that was never specialized. Once it was, every writer counts before packets can meet
//! anything of its change. A change that is undone is counted too.

use crate::errors::{system, unopened};
use crate::memory::Memory;
use crate::state::ProgramState;
use crate::{Store, in_memory};
use control::{Contents, StoreError};
use host::words::Words;
use layout::LookupAbi;
use schema::Table;
use std::io;
use std::sync::atomic::{Ordering, fence};

/// Most elements of an array that are read to count its entries.
const MOST_PLACES: u32 = 4096;

/// Change counts of a program's tables.
#[derive(Debug)]
pub struct Changes {
    counts: Words,
}

impl Changes {
    /// Returns the number of changes of a table.
    pub fn of(&self, table: Table) -> Result<u64, StoreError> {
        let count = self.counts.u64(offset(table));
        count.map_err(system("read how often a table was changed"))
    }

    /// Counts one more change of a table.
    fn add(&self, table: Table) -> io::Result<()> {
        let count = self.counts.u64(offset(table))?;
        self.counts.set_u64(offset(table), count.wrapping_add(1))
    }
}

fn offset(table: Table) -> u32 {
    table.as_u32() * 8
}

impl<M: Memory> Store<M> {
    /// Returns the change counts, or `None` if nobody counts yet.
    pub fn changes(&self) -> Result<Option<Changes>, StoreError> {
        self.state().changes()
    }

    /// Makes all writers count changes from now on.
    ///
    /// # Errors
    /// The program was unloaded, another process holds its lock for too long, or the system refuses.
    pub fn count_changes(&mut self) -> Result<(), StoreError> {
        let size = self.memory.schema().tables.len().max(1) * 8;
        self.exclusively(|now| match now.changes()? {
            Some(_) => Ok(()),
            None => {
                let begun = now.memory.begin_changes(size);
                begun.map_err(system("count how often tables are changed"))
            }
        })
    }

    /// Returns the tables that might be compiled in: all whose contents may change.
    pub fn changeable_tables(&self) -> Vec<Table> {
        let tables = self.memory.contents().tables.iter();
        let kept = tables.filter(|table| !matches!(table.lookup, LookupAbi::Compiled));
        kept.map(|table| Table::from_u32(table.index)).collect()
    }

    /// Returns the change count of each table and its contents, read consistently. The contents are `None` if the table
    /// has more than `most` entries. Changes must be counted already ([`Store::count_changes`]).
    pub fn small_contents(
        &self,
        tables: &[Table],
        most: usize,
    ) -> Result<Vec<(u64, Option<Contents>)>, StoreError> {
        self.consistently(|now| {
            let changes = now.changes()?;
            let changes = changes.ok_or(StoreError::System {
                what: "nobody counts how often the tables are changed".into(),
            })?;
            let read = |table: &Table| {
                let contents = match now.is_small(*table, most)? {
                    true => Some(Contents {
                        entries: now.read_entries(*table)?,
                        default_action: now.read_default(*table)?,
                    }),
                    false => None,
                };
                let contents = contents.filter(|found| found.entries.len() <= most);
                Ok((changes.of(*table)?, contents))
            };
            tables.iter().map(read).collect()
        })
    }
}

impl ProgramState<'_> {
    /// Returns the change counts, or `None` if nobody counts yet.
    fn changes(&self) -> Result<Option<Changes>, StoreError> {
        let counts = self.memory.changes().map_err(unopened)?;
        Ok(counts.map(|counts| Changes { counts }))
    }

    /// Counts a change of each of these tables. Packets see the counts before anything that the caller writes next.
    pub(crate) fn note_changes(
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

    /// Returns true if the table's entries can be read quickly: it has at most `most` of them, or is an array of few
    /// elements.
    fn is_small(&self, table: Table, most: usize) -> Result<bool, StoreError> {
        let failed = system("count a table's entries");
        let lookup = &self.table_abi(table)?.lookup;
        if let Some(entries) = in_memory::open(*self, lookup)? {
            return Ok(!entries.has_more_than(most).map_err(failed)?);
        }
        let (name, is_array) = match lookup {
            LookupAbi::Compiled | LookupAbi::MultibitTrie(_) | LookupAbi::Buckets(_) => {
                return Ok(false);
            }
            LookupAbi::Array { map, .. } => (map, true),
            LookupAbi::Hash { map, .. } | LookupAbi::Lpm { map, .. } => (map, false),
            LookupAbi::TupleSpace(abi) => (&abi.shadow, false),
            LookupAbi::BitVectors(abi) => (&abi.shadow, false),
        };
        let map = self.map(name)?;
        if is_array {
            return Ok(map.info().max_entries <= MOST_PLACES);
        }
        Ok(!map.has_more_than(most).map_err(failed)?)
    }
}
