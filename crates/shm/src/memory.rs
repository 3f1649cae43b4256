//! Memory of a program, and of its successor.

use crate::file::MappedFile;
use crate::guard::Guard;
use control::StoreError;
use host::safe_dir::Dir;
use host::words::Words;
use layout::{Contents, HashSeeds};
use schema::Schema;
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use writers::errors::{system, unopened};
use writers::memory::{NotSwitched, Successor};
use writers::{GroupForm, Map, Memory, Traffic};

/// Description of a program's state, the same for all processes that open its memory.
#[derive(Clone, Debug)]
pub struct Program {
    /// Tables and all other state in the maps.
    pub contents: Contents,
    /// Schema: the program's interface to the control plane.
    pub schema: Arc<Schema>,
    /// Maps, except for that of [`Contents::globals`].
    pub maps: Vec<layout::Map>,
    /// Name of the map of multicast groups, if the program sends to groups: a count, and ports with replication ids.
    pub groups: Option<String>,
    /// Name of the map of clone sessions, if the program clones packets.
    pub sessions: Option<String>,
    /// Name of the map of the traffic manager's losses, if the program has one.
    pub drops: Option<String>,
}

/// State of a program in shared memory.
#[derive(Clone, Debug)]
pub struct Shm {
    program: Arc<Program>,
    guard: Arc<Guard>,
    state: Arc<MappedFile>,
    /// Location in use of each map.
    places: Vec<usize>,
}

impl Shm {
    /// Creates the memory of a program in a folder of its own, for `cores` cores. All maps are empty.
    pub fn create(
        folder: Dir,
        program: Arc<Program>,
        cores: u32,
        seeds: HashSeeds,
    ) -> io::Result<Shm> {
        let state = MappedFile::create(&folder, &program, cores, seeds)?;
        Shm::of(folder, program, state)
    }

    /// Opens the memory in a program's folder.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if there is none. [`io::ErrorKind::InvalidData`] if it belongs to another program.
    pub fn open(folder: Dir, program: Arc<Program>) -> io::Result<Shm> {
        let state = MappedFile::of_program(&folder, &program)?;
        Shm::of(folder, program, state)
    }

    /// Sets a test's clock to a time in nanoseconds, which the program and its writers use from then on.
    pub fn set_clock(&self, now: u64) -> io::Result<()> {
        self.state.set_clock(now)
    }

    fn of(folder: Dir, program: Arc<Program>, state: MappedFile) -> io::Result<Shm> {
        Ok(Shm {
            program,
            guard: Arc::new(Guard(folder)),
            places: state.places()?,
            state: Arc::new(state),
        })
    }

    /// Returns the memory with new, empty maps of these names in their other locations, which no packet uses any more.
    fn with_fresh(&self, fresh: &BTreeSet<&str>) -> io::Result<Shm> {
        self.state.readers.wait()?;
        let mut next = self.clone();
        for name in fresh {
            let number = self.state.number(name).ok_or(io::ErrorKind::NotFound)?;
            next.places[number] = 1 - self.places[number];
            self.state.area(number, next.places[number]).clear()?;
        }
        if let Some(data) = &self.program.contents.globals
            && let Some(number) = self.state.number(&data.section)
        {
            let [from, to] = [self.places[number], 1 - self.places[number]];
            let bytes = self.state.area(number, from).words.bytes(0u32, data.size)?;
            self.state.area(number, to).words.set_bytes(0u32, &bytes)?;
            next.places[number] = to;
        }
        self.state.prepare(&next.places)?;
        Ok(next)
    }
}

impl Memory for Shm {
    fn contents(&self) -> &Contents {
        &self.program.contents
    }

    fn schema(&self) -> &Arc<Schema> {
        &self.program.schema
    }

    fn anew(&self) -> Shm {
        let mut now = self.clone();
        // The directory was read before, so that it is in the mapped file.
        if let Ok(places) = self.state.places() {
            now.places = places;
        }
        now
    }

    fn map(&self, name: &str) -> io::Result<Option<&dyn Map>> {
        let number = self.state.number(name);
        Ok(number.map(|number| self.state.area(number, self.places[number]) as &dyn Map))
    }

    fn words(&self, name: &str) -> io::Result<Option<&Words>> {
        let number = self.state.number(name);
        Ok(number.map(|number| &self.state.area(number, self.places[number]).words))
    }

    fn seeds(&self) -> Result<HashSeeds, StoreError> {
        let seeds = self.state.seeds();
        seeds.map_err(system("read the hashes' secrets"))
    }

    fn changes(&self) -> io::Result<Option<Words>> {
        self.state.counts()
    }

    fn begin_changes(&self, size: usize) -> io::Result<()> {
        self.state.begin_counts(size)
    }

    fn now(&self) -> Result<u64, StoreError> {
        self.state.now().map_err(system("read the clock"))
    }

    fn wait_for_packets(&self) {
        // The offsets are in the mapped file, and were checked when it was opened.
        let _ = self.state.readers.wait();
    }

    fn traffic(&self) -> Traffic<'_> {
        Traffic {
            groups: self.program.groups.as_deref(),
            form: GroupForm::Replicas,
            sessions: self.program.sessions.as_deref(),
            drops: self.program.drops.as_deref(),
        }
    }

    /// Accepts all ports, since only the running program knows them.
    fn check_ports(&self, _: &[u32]) -> Result<(), StoreError> {
        Ok(())
    }

    fn guard(&self) -> Option<&dyn writers::Guard> {
        Some(&*self.guard)
    }

    fn successor(&self, fresh: &BTreeSet<&str>) -> Result<Box<dyn Successor>, StoreError> {
        let next = self.with_fresh(fresh).map_err(unopened)?;
        Ok(Box::new(Next(next)))
    }
}

/// Program with new maps, to which the directory that is not in use leads.
#[derive(Debug)]
struct Next(Shm);

impl Successor for Next {
    fn memory(&self) -> &dyn Memory {
        &self.0
    }

    fn take_over(&self) -> Result<(), NotSwitched> {
        let switched = self.0.state.switch();
        switched.map_err(|e| NotSwitched::Kept(system("switch to the new tables")(e)))
    }
}
