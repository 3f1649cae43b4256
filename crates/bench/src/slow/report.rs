//! Results of `bench slow`, as JSON and Markdown.

use super::{BYTES, MOST, MOST_OF_AUTOMATON, Slowest};
use crate::machine::Machine;
use crate::specialized::taken_on;
use serde::Serialize;
use std::fmt::Write;

/// Results of all readers.
#[derive(Serialize)]
pub(crate) struct Results {
    machine: Machine,
    seed: u64,
    slowest: Vec<Slowest>,
}

impl Results {
    pub(super) fn new(seed: u64, slowest: Vec<Slowest>) -> Results {
        Results {
            machine: Machine::this(),
            seed,
            slowest,
        }
    }

    pub(crate) fn markdown(&self) -> String {
        let mut text = format!(
            "# What a packet can cost\n\n{}. Written by `make bench-slow`.\n\n\
             For each reader the slowest packet of 1,500 bytes that a search led by the measured time found, with random numbers from the seed {}. The readers of messages read all of their \
             attributes at XDP; the times are those of `BPF_PROG_TEST_RUN`, with the packet's copy to memory in them. Typical is the mean of usual messages, which are much shorter; of searches, of \
             text and of random bytes. A test holds each reader of messages to {MOST} times what is typical, and each search to that or to {MOST_OF_AUTOMATON} times what an automaton takes for a byte.\n\n\
             | reader | slowest packet, µs | ns a byte | typical | times | payload |\n|---|--:|--:|--:|--:|---|\n",
            taken_on(&self.machine),
            self.seed
        );
        for one in &self.slowest {
            let code = one.payload.replace('`', "'").replace('|', "\\|");
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "| {} | {:.1} | {:.2} | {:.2} | {:.1} | `{code}` |",
                one.reader,
                one.ns / 1e3,
                one.ns / BYTES as f64,
                one.typical_ns_a_byte,
                one.ns_a_byte() / one.typical_ns_a_byte
            );
        }
        text
    }
}
