//! Shared memory as the memory of a store: maps by themselves, tables of each structure, and writers in several processes.

mod header;
mod maps;
mod program;
mod tables;
mod writers;
