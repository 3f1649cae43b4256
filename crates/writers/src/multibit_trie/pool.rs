//! Pool of nodes and routes, each of which is free, in use, or retired: replaced, but perhaps still read by packets.
//!
//! The map holds a `u32` for each kind, where the search for a free element continues, and then a byte for each node
//! and route. Number 0 of each kind is never allocated: as a route it means none, as a node it is the root of a new
//! trie.

use crate::state::Grace;
use host::words::Words;
use std::io;

/// Kind of an element of the pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Take {
    /// Node with a slot for each value of a byte.
    Wide,
    /// Node with a slot for each value of half a byte.
    Narrow,
    /// Route.
    Route,
}

const KINDS: [Take; 3] = [Take::Wide, Take::Narrow, Take::Route];

const FREE: u8 = 0;
const USED: u8 = 1;
/// Replaced. The element becomes free after a grace period.
const RETIRED: u8 = 2;

/// Offset of the first state byte.
const FIRST: u32 = 16;
/// Number of bytes that a search reads first. Mostly the next element is free.
const PART: u32 = 16;
/// Most bytes that a search reads at once.
const MOST: u32 = 4096;

/// Pool of a trie.
pub(super) struct Pool<'a> {
    memory: &'a Words,
    counts: [u32; 3],
    readers: Grace<'a>,
}

impl<'a> Pool<'a> {
    /// Opens a pool of wide nodes, narrow nodes and routes, which has `counts` of each. `readers` may read them.
    pub(super) fn new(memory: &'a Words, counts: [u32; 3], readers: Grace<'a>) -> Pool<'a> {
        Pool {
            memory,
            counts,
            readers,
        }
    }

    fn first(&self, kind: Take) -> u32 {
        let before = &self.counts[..kind as usize];
        FIRST + before.iter().sum::<u32>()
    }

    fn cursor(kind: Take) -> u32 {
        4 * kind as u32
    }

    /// Finds the first element in the given state in a range.
    fn find(&self, kind: Take, state: u8, from: u32, to: u32) -> io::Result<Option<u32>> {
        let (mut at, mut part) = (from, PART);
        while at < to {
            let bytes = self
                .memory
                .bytes(self.first(kind) + at, part.min(to - at))?;
            if let Some(found) = bytes.iter().position(|byte| *byte == state) {
                return Ok(Some(at + found as u32));
            }
            at += part;
            part = (2 * part).min(MOST);
        }
        Ok(None)
    }

    fn set(&self, kind: Take, number: u32, state: u8) -> io::Result<()> {
        self.memory.set_bytes(self.first(kind) + number, &[state])
    }

    /// Allocates an element. `None` if all are in use.
    pub(super) fn take(&self, kind: Take) -> io::Result<Option<u32>> {
        let free = || {
            let from = self.memory.u32(Self::cursor(kind))?.max(1);
            let behind = self.find(kind, FREE, from, self.counts[kind as usize])?;
            behind.map_or_else(|| self.find(kind, FREE, 1, from), |found| Ok(Some(found)))
        };
        let found = match free()? {
            Some(found) => Some(found),
            None if self.recycle()? => free()?,
            None => None,
        };
        if let Some(number) = found {
            self.set(kind, number, USED)?;
            self.memory.set_u32(Self::cursor(kind), number + 1)?;
        }
        Ok(found)
    }

    /// Retires an element that packets do not find any more.
    pub(super) fn retire(&self, kind: Take, number: u32) -> io::Result<()> {
        self.set(kind, number, RETIRED)
    }

    /// Waits for a grace period: until all packets that began before have ended.
    pub(super) fn settle(&self) {
        self.readers.wait();
    }

    /// Frees retired elements. Returns true if there were any.
    fn recycle(&self) -> io::Result<bool> {
        self.settle();
        let mut any = false;
        for kind in KINDS {
            let (mut from, to) = (1, self.counts[kind as usize]);
            while let Some(number) = self.find(kind, RETIRED, from, to)? {
                self.set(kind, number, FREE)?;
                (any, from) = (true, number + 1);
            }
        }
        Ok(any)
    }

    /// Marks these elements as in use and all others as free. No packet may read any other.
    pub(super) fn have_in_use(&self, used: &[(Take, u32)]) -> io::Result<()> {
        let mut states = vec![FREE; self.counts.iter().sum::<u32>() as usize];
        for (kind, number) in used {
            states[(self.first(*kind) - FIRST + number) as usize] = USED;
        }
        self.memory.set_bytes(FIRST, &states)
    }
}
