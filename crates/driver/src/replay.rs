//! Packets of a capture through the interpreter.

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

/// A program on the interpreter, and what became of the packets that it was sent.
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
    /// The first packet, counted from 1, that the interpreter gave up, and why.
    pub fault: Option<(u64, String)>,
}

/// The reason for which entries cannot be put in.
pub enum Refused {
    /// They are wrong.
    Wrong(Diagnostics, SourceMap),
    /// Their file cannot be read.
    Failed(String),
}

impl Replay {
    /// Makes a program ready for packets that come in at a port; `None` if it is not prepared for the interpreter.
    ///
    /// # Errors
    /// The interpreter does not take it.
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

    /// Puts a file of entries in, all or none. Returns how many changes it had.
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

    /// Sends a packet in, at its time if that is known. Returns what came out.
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
