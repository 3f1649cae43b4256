//! Shared memory as the memory of a program's state: one sparse file that every process maps, those that change tables and those that
//! packets run in.
//!
//! # The folder
//! A program has a folder of its own, in a file system in memory (`/dev/shm`), whose lock writers hold in turn. It has the file `state`, mode 0600,
//! and `journal` as long as a change is under way; both are renamed into place. Who ends the program removes them, and then the
//! folder: writers that wait for its lock get an error.
//!
//! # The file
//! All words are in the machine's order and naturally aligned. At offset 0:
//!
//! | at | type | |
//! |---|---|---|
//! | 0 | `u64` | the version of this layout ([`VERSION`]) |
//! | 8 | `u64` | bytes of the file |
//! | 16 | `u32` | cores, each of which has a copy of what there is one of for each core |
//! | 20 | `u32` | maps |
//! | 24 | `u32` | the directory in use, 0 or 1 |
//! | 28 | `u32` | 1 once changes of tables are counted |
//! | 32 | `u64` | the epoch, never 0 |
//! | 40 | `u64[2]` | where the directories are: for each map a `u64`, where it is |
//! | 56 | `u64` | where the cores' words are, each in 64 bytes of its own |
//! | 64 | `u64` | where the counts of changes are: a `u64` for each table |
//! | 72 | `u8[24]` | the secrets of hashes ([`layout::HashSeeds`]) |
//! | 96 | `u64` | the clock of a test in nanoseconds; 0 for that of the machine |
//! | 4096 | | the maps, of 128 bytes each: `{char name[64]; u32 kind, key_size, value_size, max_entries; u64 place[2], size}` |
//!
//! A kind is 0 for an array, 1 for one per core, 2 for a hash table, 3 for one per core, 4 for a prefix trie, 5 for a ring. A map is in one of its two
//! places, as the directory says. A change that takes new maps is made in the other places and the other directory; one store of the directory's
//! number has packets meet all of it. `include/onpath/shm.h` has what packets do with maps. Offsets of maps are read anew for each packet, or batch of packets, after its epoch.
//!
//! # Arrays
//! Elements lie beside each other, each value rounded up to 8 bytes, the copies of all cores of an element together. Packets meet whole
//! words. A value that is read and written under a lock begins with it: a `u32`, 0 if nobody has it, taken by exchanging it for a number of the holder's, twice the thread's id and 1. Who has met the same holder for a second takes it from that one,
//! who must be dead; and nobody gives back what is another's.
//!
//! # Hash tables
//! `{u64 changes; u32 writing, count, free_first, free_last, used, ready, free; ...}`, at 64 of a trie the bits of its prefixes' lengths (a `u64` for each 64), then
//! the heads of chains, a `u32` each, and from the next multiple of 64 on the nodes, from number 1 on: `{u32 next, u32 version, key, value}`, both
//! rounded up to 8 bytes, with a value for each core. There are as many heads as elements, rounded up to a power of two, 4 at least. The chain is the hash's
//! lowest bits; the hash starts as the secret of buckets, and for each 8 bytes of the key, zeros added, is `h = (h ^ word) *
//! 0x9e3779b97f4a7c15; h ^= h >> 32`.
//!
//! An element is complete before the head of its chain leads to it. An element that takes the place of another is in front of that, which goes then. A reader
//! that finds its key reads the node's version, which is odd while the node is written, before the key and after the value; and one that finds nothing reads
//! `changes` before and after: where they differ, it begins again. No reader waits for a writer, not even for one that was killed: the next writer sees by `writing`
//! that chains have to be gone through.
//!
//! A prefix trie is a hash table of all its prefixes, which is searched for each length that there is, the longest first. That suits few lengths; many
//! prefixes belong in a multibit trie, which takes arrays alone. Only who holds the lock of the folder changes a hash table: packets insert nothing.
//!
//! # Rings
//! `{u64 produced; u64 unused; u32 lock}`, at 64 `u64 consumed`, and from 128 on the bytes of the ring; both counts ever grow. A record is `{u32 length, u32 0, bytes}`
//! rounded up to 8, and goes on at the start where the ring ends. Who adds one has the lock, leaves it where there is no room, and stores `produced` last.
//!
//! # The end of packets
//! A core stores the epoch in its word before it reads anything of a batch of packets, with a full barrier behind the store, and 0 after it. A writer that waits for packets
//! raises the epoch, and waits until each word is 0 or that epoch at least. What a packet found stays until then. A core that leaves its word for a second is taken to be dead,
//! so a batch has to take less.

mod area;
mod array;
mod cells;
mod file;
mod guard;
mod hash;
mod memory;
mod plan;
mod readers;
mod ring;

pub use file::VERSION;
pub use memory::{Program, Shm};

/// The header for packets: its path relative to the include path, and its text.
pub const HEADERS: [(&str, &str); 1] = [("onpath/shm.h", include_str!("../include/onpath/shm.h"))];
