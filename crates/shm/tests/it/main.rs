//! Tests of shared memory that holds a store: single maps, tables of each structure, and writers in several processes.

mod header;
mod maps;
mod program;
mod tables;
mod writers;
