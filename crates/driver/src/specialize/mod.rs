//! Specialization of a running program to the contents of its tables, repeated when these change.
//!
//! [`compile`] makes the specialized object. [`Specializer`] watches a running program, has the object compiled, and
//! replaces the program by it. A table that has changed since is looked up as usual, so packets always see its
//! present entries.

mod watch;
mod watchers;

pub use watchers::{Specialization, Watchers};

use crate::bpf_target::{self, Compiled, Request};
use bpf::abi::Hook;
use control::StoreError;
use diag::{Diagnostics, SourceMap};
use ir::passes::specialize;
pub use ir::passes::specialize::{Contents, LeftAlone, MOST_ENTRIES};
use ir::{Program, Table};
use kernel::KernelStore;
use kernel::pins::Owner;
use kernel::store::{Specialized, SpecializedTable, put_in_place};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use watch::Watch;
use writers::Changes;

/// Result for each table that was to be compiled in.
pub type Outcome = Vec<(Table, Result<(), LeftAlone>)>;

/// Compiles an elaborated program for the contents of some of its tables. The object is `None` if none of them can be
/// compiled in.
pub fn compile(
    program: &Program,
    contents: &[(Table, Contents)],
    sources: &SourceMap,
    request: Request<'_>,
) -> (Outcome, Option<Result<Compiled, Diagnostics>>) {
    let mut special = program.clone();
    let outcome = specialize::run(&mut special, contents);
    let any = outcome.iter().any(|(_, done)| done.is_ok());
    let compiled = any.then(|| bpf_target::compile(&special, sources, request));
    (outcome, compiled)
}

/// Source of a running program.
#[derive(Debug)]
pub struct Origin {
    /// The program as elaborated.
    pub program: Arc<Program>,
    /// Its texts.
    pub sources: SourceMap,
    /// Hook at which it runs.
    pub hook: Hook,
    /// C files for its extern functions.
    pub externs: Vec<PathBuf>,
    /// Bytes that each table may take for a faster search, instead of the default.
    pub table_memory: Option<u64>,
}

/// A program that is to be specialized.
#[derive(Debug)]
pub struct Specializable {
    /// Its name in its instance.
    pub name: String,
    /// The program, as the user knows it.
    pub program: String,
    /// The origin of its object.
    pub origin: Origin,
}

/// Specializes a running program.
#[derive(Debug)]
pub struct Specializer {
    origin: Origin,
    store: KernelStore,
    changes: Changes,
    watcher: Owner,
    tables: Vec<Table>,
    watch: Watch,
    /// Tables that are compiled in, each with its generation: the number of changes before.
    in_place: Vec<(Table, u64)>,
}

/// Result of a specialization.
#[derive(Debug)]
pub struct Done {
    /// Tables whose contents are compiled in now.
    pub tables: Vec<SpecializedTable>,
    /// Names of tables that are looked up as before, and why.
    pub left_alone: Vec<(String, LeftAlone)>,
    /// Time that it took.
    pub took: Duration,
}

/// Reason why a program was not specialized. The earlier code keeps running.
#[derive(Debug)]
pub enum Failed {
    /// The program was unloaded.
    Unloaded,
    /// The target refuses the specialized program. Locations are in [`Specializer::sources`].
    Refused(Diagnostics),
    /// The kernel or the system failed.
    Store(StoreError),
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Failed {
        match error {
            StoreError::Unloaded => Failed::Unloaded,
            error => Failed::Store(error),
        }
    }
}

impl Specializer {
    /// Prepares a running program. From now on every writer of its tables counts its changes.
    pub fn new(
        origin: Origin,
        mut store: KernelStore,
        watcher: Owner,
    ) -> Result<Specializer, Failed> {
        store.count_changes()?;
        let changes = store.changes()?.ok_or(Failed::Unloaded)?;
        let tables = store.changeable_tables();
        Ok(Specializer {
            watch: Watch::new(tables.len(), Instant::now()),
            tables,
            changes,
            watcher,
            store,
            origin,
            in_place: Vec::new(),
        })
    }

    /// Returns the texts that a refusal is about.
    pub fn sources(&self) -> &SourceMap {
        &self.origin.sources
    }

    /// Specializes the program again if tables have changed and have been unchanged for a while since. Returns `None`
    /// if there was nothing to do.
    pub fn step(&mut self) -> Result<Option<Done>, Failed> {
        let counts = self.tables.iter().map(|table| self.changes.of(*table));
        let counts = counts.collect::<Result<Vec<u64>, StoreError>>()?;
        let begun = Instant::now();
        let Some(quiet) = self.watch.due(begun, &counts) else {
            return Ok(None);
        };
        let done = self.specialize(&quiet, begun);
        // A failed specialization is not tried again before something changes.
        self.watch.done(&quiet, Instant::now(), begun.elapsed());
        done
    }

    fn specialize(&mut self, quiet: &[usize], begun: Instant) -> Result<Option<Done>, Failed> {
        let quiet: Vec<Table> = quiet.iter().map(|number| self.tables[*number]).collect();
        let read = self.store.small_contents(&quiet, MOST_ENTRIES)?;
        let mut left_alone = Vec::new();
        let mut contents = Vec::new();
        for (table, (generation, found)) in quiet.into_iter().zip(read) {
            match found {
                None => left_alone.push((self.name(table), LeftAlone::TooManyEntries)),
                Some(found) => {
                    let contents_now = Contents {
                        generation,
                        entries: found.entries,
                        default_action: found.default_action,
                    };
                    contents.push((table, contents_now));
                }
            }
        }
        if kernel::store::specialized(&self.store)?.is_none() {
            // The replacement of a whole table has brought back the program that is not specialized.
            self.in_place.clear();
        }
        let wanted: Vec<(Table, u64)> = contents.iter().map(|(t, c)| (*t, c.generation)).collect();
        let is_in_place = |wanted: &(Table, u64)| self.in_place.contains(wanted);
        if !wanted.is_empty() && wanted.iter().all(is_in_place) {
            return Ok(None);
        }
        let request = Request {
            externs: &self.origin.externs,
            table_memory: self.origin.table_memory,
            ..Request::hook(self.origin.hook)
        };
        let (outcome, compiled) = compile(
            &self.origin.program,
            &contents,
            &self.origin.sources,
            request,
        );
        let mut tables = Vec::new();
        for ((table, done), (_, contents)) in outcome.iter().zip(&contents) {
            match done {
                Ok(()) => tables.push(SpecializedTable {
                    index: table.as_u32(),
                    name: self.name(*table),
                    entries: contents.entries.len(),
                    generation: contents.generation,
                }),
                Err(LeftAlone::Fixed) => {}
                Err(why) => left_alone.push((self.name(*table), *why)),
            }
        }
        // The running code falls back to look-ups by itself.
        let Some(compiled) = compiled else {
            return Ok(None);
        };
        let compiled = compiled.map_err(Failed::Refused)?;
        let specialized = Specialized {
            watcher: self.watcher,
            tables,
        };
        let (object, abi) = (&compiled.object, &compiled.abi);
        put_in_place(&self.store, object, abi, &specialized)?;
        self.in_place = wanted;
        Ok(Some(Done {
            tables: specialized.tables,
            left_alone,
            took: begun.elapsed(),
        }))
    }

    fn name(&self, table: Table) -> String {
        self.store.memory.schema.tables[table].name.to_string()
    }
}
