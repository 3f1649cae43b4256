//! Replays the packets of a capture on the interpreter.

use crate::bundle::entries;
use crate::stf::{Prepared, Trace};
use control::entries::{self as changes, Existing};
use control::{Packet, import};
use diag::{Diagnostics, SourceMap};
use interp::{Disposition, Interpreter};
use schema::Schema;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// A program on the interpreter, with the verdicts on its packets.
pub struct Replay {
    interpreter: Interpreter,
    port: u32,
    /// The time of the last packet.
    last: Option<Duration>,
    /// The verdicts on them.
    pub tally: Tally,
}

/// Numbers of packets.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Packets that came in.
    pub packets: u64,
    /// The number of packets by verdict, in words.
    pub became: BTreeMap<String, u64>,
    /// Packets and bytes that came out, by port.
    pub out: BTreeMap<u32, (u64, u64)>,
    /// Digests that were sent.
    pub digests: u64,
    /// The first packet at which the interpreter failed, counted from 1, and the fault.
    pub fault: Option<(u64, String)>,
}

/// Reason why entries are refused.
pub enum Refused {
    /// They are wrong.
    Wrong(Diagnostics, SourceMap),
    /// Their file cannot be read.
    Failed(String),
}

impl Replay {
    /// Prepares a program for packets that arrive at a port. Returns `None` if it was prepared for another target.
    ///
    /// # Errors
    /// The interpreter refuses the program.
    pub fn new(
        program: &Prepared,
        port: u32,
        trace: Option<Trace>,
    ) -> Option<Result<Replay, Diagnostics>> {
        let made = program.interpreter(trace)?;
        Some(made.map(|interpreter| Replay {
            interpreter,
            port,
            last: None,
            tally: Tally::default(),
        }))
    }

    /// Applies all entries of a file, or none. Returns the number of changes.
    pub fn enter(&mut self, schema: &Schema, path: &Path) -> Result<usize, Refused> {
        let mut map = SourceMap::new();
        let file = entries::add(&mut map, path).map_err(Refused::Failed)?;
        let mut enter = || {
            let file = import::entries(schema, &mut map, file)?;
            changes::check(schema, changes::lines(&map, file), |_, _| {})?;
            let lines = changes::lines(&map, file);
            changes::load(lines, Existing::Keep, &mut self.interpreter)
        };
        enter().map_err(|wrong| Refused::Wrong(wrong, map))
    }

    /// Sends a packet to the program, at its time if that is known. Returns the packets that come out.
    pub fn packet(&mut self, time: Option<Duration>, bytes: &[u8]) -> Vec<Packet> {
        if let (Some(last), Some(now)) = (self.last, time) {
            let passed = now.saturating_sub(last).as_nanos();
            let passed = u64::try_from(passed).unwrap_or(u64::MAX);
            self.interpreter.wait(passed);
        }
        self.last = time.or(self.last);
        let outcome = self.interpreter.run(self.port, bytes);
        let tally = &mut self.tally;
        tally.packets += 1;
        tally.digests += outcome.digests.len() as u64;
        let became = match &outcome.disposition {
            Disposition::Fault(fault) => {
                let first = (tally.packets, fault.to_string());
                tally.fault.get_or_insert(first);
                "given up".to_owned()
            }
            other => other.to_string(),
        };
        *tally.became.entry(became).or_default() += 1;
        let out: Vec<Packet> = outcome.copies.into_iter().chain(outcome.packets).collect();
        for packet in &out {
            let (packets, length) = tally.out.entry(packet.port).or_default();
            *packets += 1;
            *length += packet.bytes.len() as u64;
        }
        out
    }
}
