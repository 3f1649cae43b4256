//! A running program that is specialized to what is in its tables, and specialized anew when that changes.
//!
//! [`compile`] makes the specialized object; [`Specializer`] looks what a running program needs, has it made, and puts it
//! in the place of the program. The packets of a table that has changed meanwhile are looked up, whatever happens here.

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

/// What became of each table that was asked about.
pub type Outcome = Vec<(Table, Result<(), LeftAlone>)>;

/// Compiles a program, as elaborated, for the contents of some of its tables. `None`: none of them can be compiled in.
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

/// What a running program was compiled from.
#[derive(Debug)]
pub struct Origin {
    /// The program as elaborated.
    pub program: Arc<Program>,
    /// Its texts.
    pub sources: SourceMap,
    /// Where it runs.
    pub hook: Hook,
    /// C files for its extern functions.
    pub externs: Vec<PathBuf>,
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
    /// What is compiled in: tables and how often they were changed before.
    in_place: Vec<(Table, u64)>,
}

/// What was done.
#[derive(Debug)]
pub struct Done {
    /// Tables whose contents are compiled in now.
    pub tables: Vec<SpecializedTable>,
    /// Names of those that are looked up as before, and why.
    pub left_alone: Vec<(String, LeftAlone)>,
    /// How long it took.
    pub took: Duration,
}

/// Why a program was not specialized. What runs is what ran before.
#[derive(Debug)]
pub enum Failed {
    /// It is not there any more.
    Unloaded,
    /// The target refuses it. The sources are those of [`Specializer::sources`].
    Refused(Diagnostics),
    /// The kernel or the system does.
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
    /// Has everybody who changes the program's tables count from now on.
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

    /// The texts that a refusal is about.
    pub fn sources(&self) -> &SourceMap {
        &self.origin.sources
    }

    /// Looks whether tables have changed, and specializes the program anew if they have and rest by now. `None`: there was
    /// nothing to do.
    pub fn step(&mut self) -> Result<Option<Done>, Failed> {
        let counts = self.tables.iter().map(|table| self.changes.of(*table));
        let counts = counts.collect::<Result<Vec<u64>, StoreError>>()?;
        let begun = Instant::now();
        let Some(quiet) = self.watch.due(begun, &counts) else {
            return Ok(None);
        };
        let done = self.specialize(&quiet, begun);
        // One that failed is not tried again before something changes.
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
            // A table that was replaced as one has brought back the program that looks everything up.
            self.in_place.clear();
        }
        let wanted: Vec<(Table, u64)> = contents.iter().map(|(t, c)| (*t, c.generation)).collect();
        let is_in_place = |wanted: &(Table, u64)| self.in_place.contains(wanted);
        if !wanted.is_empty() && wanted.iter().all(is_in_place) {
            return Ok(None);
        }
        let request = Request {
            externs: &self.origin.externs,
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
        // What is in place falls back to look-ups by itself.
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
