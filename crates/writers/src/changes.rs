//! How often each table was changed, in memory that programs specialized to the tables' contents read: what they have
//! compiled in counts only as long as this says that nothing has changed since.
//!
//! Nobody counts for a program that nobody has specialized yet. From then on every writer counts, before packets can meet
//! anything of its change; a change that is undone was one too.

use crate::errors::{system, unopened};
use crate::memory::Memory;
use crate::state::State;
use crate::{Store, in_memory};
use control::{Contents, StoreError};
use host::words::Words;
use layout::LookupAbi;
use schema::Table;
use std::io;
use std::sync::atomic::{Ordering, fence};

/// The most elements of an array that are read to see how many entries it has.
const MOST_PLACES: u32 = 4096;

/// The counts of a program's tables.
#[derive(Debug)]
pub struct Changes {
    counts: Words,
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

impl<M: Memory> Store<M> {
    /// The counts, once they are kept.
    pub fn changes(&self) -> Result<Option<Changes>, StoreError> {
        self.state().changes()
    }

    /// Has all writers count from now on.
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

    /// Which tables might be compiled in: all that have something which may change.
    pub fn changeable_tables(&self) -> Vec<Table> {
        let tables = self.memory.contents().tables.iter();
        let kept = tables.filter(|table| !matches!(table.lookup, LookupAbi::Compiled));
        kept.map(|table| Table::from_u32(table.index)).collect()
    }

    /// Of each table how often it was changed and, unless it has more than `most` entries, what is in it; all of it at one
    /// time. Changes are counted by then ([`Store::count_changes`]).
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

impl State<'_> {
    /// The counts, once they are kept.
    fn changes(&self) -> Result<Option<Changes>, StoreError> {
        let counts = self.memory.changes().map_err(unopened)?;
        Ok(counts.map(|counts| Changes { counts }))
    }

    /// Counts a change of each of these tables. What the caller writes next, packets meet after this.
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

    /// Whether reading a table's entries takes no time to speak of.
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
