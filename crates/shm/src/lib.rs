//! Shared memory that holds a program's state. It is one sparse file, mapped by all processes that change tables and
//! all that run packets.
//!
//! # The folder
//! Each program has a folder of its own, in a file system in memory (`/dev/shm`). Writers take the folder's lock. The
//! folder contains the file `state`, mode 0600, and `journal` while a change is in progress. Both are renamed into
//! place. The process that ends the program removes the files and then the folder, so that writers waiting for its lock
//! get an error.
//!
//! # The file
//! All words are in the machine's byte order and naturally aligned. At offset 0:
//!
//! | at | type | |
//! |---|---|---|
//! | 0 | `u64` | version of this layout ([`VERSION`]) |
//! | 8 | `u64` | size of the file, in bytes |
//! | 16 | `u32` | number of cores, each of which has its own copy of per-core values |
//! | 20 | `u32` | number of maps |
//! | 24 | `u32` | directory in use, 0 or 1 |
//! | 28 | `u32` | 1 once changes of tables are counted |
//! | 32 | `u64` | epoch, never 0 |
//! | 40 | `u64[2]` | offsets of the directories: for each map a `u64`, its offset |
//! | 56 | `u64` | offset of the cores' words, each in 64 bytes of its own |
//! | 64 | `u64` | offset of the change counts: a `u64` for each table |
//! | 72 | `u8[24]` | secret seeds of hashes ([`layout::HashSeeds`]) |
//! | 96 | `u64` | time of a test's clock in nanoseconds; 0 for the machine's clock |
//! | 4096 | 128 bytes each | descriptions of the maps |
//!
//! A description is `{char name[64]; u32 kind, key_size, value_size, max_entries; u64 place[2], size}`. The kinds are:
//! 0 array, 1 per-core array, 2 hash table, 3 per-core hash table, 4 prefix trie, 5 ring buffer.
//!
//! A map is in one of its two locations, as the directory says. A change that needs new maps is made in the other
//! locations and the other directory. One store of the directory's number makes packets see all of it.
//! `include/onpath/shm.h` has the operations of packets on maps. They read the offsets of maps again for each packet or
//! batch of packets, after its epoch.
//!
//! # Arrays
//! Elements are adjacent. Each value is padded to 8 bytes, and the copies of all cores of an element are together.
//! Packets see whole words.
//!
//! A value that is accessed under a lock begins with it: a `u32`, 0 if the lock is free. A process takes the lock by
//! exchanging 0 for the holder's number, which is twice the thread's id plus 1. A holder that has had the lock for a
//! second must be dead, so that another process takes the lock from it. Nobody releases a lock that another process
//! holds.
//!
//! # Hash tables
//! `{u64 changes; u32 writing, count, free_first, free_last, used, ready, free; ...}`. At offset 64 a trie has a bit
//! for each length of its prefixes (a `u64` for each 64 lengths). At the next multiple of 64 the heads of chains follow,
//! a `u32` each. At the next multiple of 64 after them there are the nodes, numbered from 1: `{u32 next, u32 version,
//! key, value}`. Key and value are padded to 8 bytes; a value has a copy for each core if the table is per-core.
//!
//! There are as many heads as elements, rounded up to a power of two, and at least 4. The lowest bits of the hash
//! select the chain. The hash starts with the secret seed of buckets. For each 8 bytes of the key, padded with zeros,
//! it is updated by `h = (h ^ word) * 0x9e3779b97f4a7c15; h ^= h >> 32`.
//!
//! An element is complete before the head of its chain leads to it. A replacement is inserted before the old element,
//! which is then removed. A node's version is odd while it is written. A reader that finds its key reads the version
//! before the key and after the value. A reader that finds no element reads `changes` before and after the search. If
//! the values differ, the reader starts again. No reader waits for a writer, not even for a killed one: `writing` tells
//! the next writer that it must repair the chains.
//!
//! A prefix trie is a hash table of all its prefixes, which is searched for each length in use, the longest first. That
//! suits few lengths. Many prefixes belong in a multibit trie, which consists of arrays. Only the holder of the
//! folder's lock changes a hash table: packets insert nothing.
//!
//! # Ring buffers
//! `{u64 produced; u64 unused; u32 lock}`, at offset 64 `u64 consumed`, and from 128 on the buffer's bytes. Both counts
//! only increase. A record is `{u32 length, u32 0, bytes}`, padded to 8 bytes, and wraps at the buffer's end. A
//! producer holds the lock, gives up if there is no room, and stores `produced` last.
//!
//! # Grace periods
//! Before a core reads anything for a batch of packets, it stores the epoch in its word, followed by a full barrier. It
//! stores 0 after the batch. A writer that waits for packets increments the epoch, and waits until each word is 0 or at
//! least the new epoch. Until then the memory that packets have found is not reused. A core whose word does not change
//! for a second is considered dead, so a batch must take less time.

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

/// Headers for packets: paths relative to the include path, and texts.
pub const HEADERS: [(&str, &str); 1] = [("onpath/shm.h", include_str!("../include/onpath/shm.h"))];
