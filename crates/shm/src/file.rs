//! File of a program: locations of its maps that are in use, and change counts.

use crate::area::Area;
use crate::memory::Program;
use crate::plan::FilePlan;
use crate::readers::Readers;
use host::linux::monotonic_now;
use host::safe_dir::Dir;
use host::words::Words;
use layout::HashSeeds;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;

/// Version of the layout, stored at the start of the file.
pub const VERSION: u64 = 1;

const STATE: &str = "state";
const NEW_STATE: &str = "state.new";

const CURRENT: u32 = 24;
const COUNTED: u32 = 28;
const SEEDS: u32 = 72;
const CLOCK: u32 = 96;

/// Mapped file, with each map in both of its locations.
#[derive(Debug)]
pub(crate) struct MappedFile {
    words: Words,
    plan: FilePlan,
    areas: Vec<[Area; 2]>,
    /// Packets in progress.
    pub readers: Readers,
}

impl MappedFile {
    /// Creates the file of a program.
    pub(crate) fn create(
        folder: &Dir,
        program: &Program,
        cores: u32,
        seeds: HashSeeds,
    ) -> io::Result<MappedFile> {
        let plan = FilePlan::of(program, cores)?;
        folder.remove_file_if_there(NEW_STATE)?;
        let file = folder.make_file(NEW_STATE)?;
        file.set_len(plan.bytes)?;
        let words = map(&file, plan.bytes)?;
        plan.write(&words, VERSION, seeds)?;
        let state = MappedFile::of(words, plan)?;
        if let Some(globals) = &program.contents.globals
            && let Some([first, _]) = state.areas.last()
        {
            first.words.set_bytes(0u32, &globals.initial)?;
        }
        folder.rename(NEW_STATE, STATE)?;
        Ok(state)
    }

    /// Maps the file of a program.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if there is none. [`io::ErrorKind::InvalidData`] if it belongs to another program,
    /// or has another version.
    pub(crate) fn of_program(folder: &Dir, program: &Program) -> io::Result<MappedFile> {
        if !folder.has(STATE) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let file = folder.open_or_make_file(STATE)?;
        let bytes = file.metadata()?.len();
        let words = map(&file, bytes)?;
        if bytes < u64::from(SEEDS) || words.u64(0u32)? != VERSION {
            return Err(other());
        }
        let plan = FilePlan::of(program, words.u32(16u32)?)?;
        match plan.bytes == bytes && plan.describes(&words)? {
            true => MappedFile::of(words, plan),
            false => Err(other()),
        }
    }

    fn of(words: Words, plan: FilePlan) -> io::Result<MappedFile> {
        let seeds = seeds(&words)?;
        let readers = Readers::new(words.clone(), &plan);
        let mut areas = Vec::new();
        for map in &plan.maps {
            let area = |at: u64| {
                let part = words.part(at, map.size as usize)?;
                Ok::<Area, io::Error>(Area::new(part, map.info, seeds.buckets, &readers))
            };
            areas.push([area(map.places[0])?, area(map.places[1])?]);
        }
        Ok(MappedFile {
            words,
            plan,
            areas,
            readers,
        })
    }

    /// Returns the secret seeds of the program's hashes.
    pub(crate) fn seeds(&self) -> io::Result<HashSeeds> {
        seeds(&self.words)
    }

    /// Returns the time of the program's clock, in nanoseconds.
    pub(crate) fn now(&self) -> io::Result<u64> {
        Ok(match self.words.u64(CLOCK)? {
            0 => monotonic_now(),
            set => set,
        })
    }

    /// Sets the program's clock to a fixed time.
    pub(crate) fn set_clock(&self, now: u64) -> io::Result<()> {
        self.words.set_u64(CLOCK, now)
    }

    /// Returns the index of a map.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.plan.maps.iter().position(|map| map.name == name)
    }

    /// Returns a map in one of its two locations.
    pub(crate) fn area(&self, number: usize, place: usize) -> &Area {
        &self.areas[number][place]
    }

    /// Returns the location in use of each map.
    pub(crate) fn places(&self) -> io::Result<Vec<usize>> {
        let directory = self.plan.directories[self.current()?];
        let maps = (directory..).step_by(8).zip(&self.plan.maps);
        maps.map(|(at, map)| Ok(usize::from(self.words.u64(at)? == map.places[1])))
            .collect()
    }

    fn current(&self) -> io::Result<usize> {
        Ok(self.words.u32(CURRENT)? as usize % 2)
    }

    /// Writes the directory that is not in use.
    pub(crate) fn prepare(&self, places: &[usize]) -> io::Result<()> {
        let directory = self.plan.directories[1 - self.current()?];
        let maps = self.plan.maps.iter().zip(places);
        for (at, (map, place)) in (directory..).step_by(8).zip(maps) {
            self.words.set_u64(at, map.places[*place])?;
        }
        Ok(())
    }

    /// Switches to the other directory, so that new packets use its maps.
    pub(crate) fn switch(&self) -> io::Result<()> {
        let other = 1 - self.current()? as u32;
        self.words.set_u32(CURRENT, other)
    }

    /// Returns the change counts. `None` if changes are not counted yet.
    pub(crate) fn counts(&self) -> io::Result<Option<Words>> {
        let counts = || {
            self.words
                .part(self.plan.counts, self.plan.counts_size as usize)
        };
        let counted = self.words.u32(COUNTED)? != 0;
        counted.then(counts).transpose()
    }

    /// Starts to count changes.
    pub(crate) fn begin_counts(&self, size: usize) -> io::Result<()> {
        match size as u64 <= self.plan.counts_size {
            true => self.words.set_u32(COUNTED, 1),
            false => Err(io::ErrorKind::InvalidInput.into()),
        }
    }
}

fn map(file: &File, bytes: u64) -> io::Result<Words> {
    Words::of(
        file.as_fd(),
        usize::try_from(bytes).map_err(|_| io::ErrorKind::FileTooLarge)?,
    )
}

fn seeds(words: &Words) -> io::Result<HashSeeds> {
    let bytes = words.bytes(SEEDS, HashSeeds::SIZE as u32)?;
    HashSeeds::from_bytes(&bytes).ok_or_else(other)
}

fn other() -> io::Error {
    let what = "the shared memory is another program's, or another version's of Onpath";
    io::Error::new(io::ErrorKind::InvalidData, what)
}
