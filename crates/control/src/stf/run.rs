//! Runs a script on a device.

use super::bind::{Bound, BoundStatement, Check, Counter, MetricCheck};
use super::report::{self, Decoder};
use super::script::Pattern;
use crate::errors;
use crate::replication;
use crate::{Change, Device, Digest, EntryKey, StoreError};
use diag::{Diagnostic, Span, counted};
use schema::{Bits, Entry, Schema, Table};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// A deviation from the script's expectations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Location of the statement that expects it, or that sent the unexpected packet.
    pub span: Span,
    /// Description of the deviation, in several lines.
    pub text: String,
}

/// Result of running a script.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// All deviations; empty if the test passed.
    pub failures: Vec<Failure>,
    /// Number of packets sent, and of packets received.
    pub packets: (usize, usize),
}

/// An `expect` whose packet has not come yet.
struct Expected {
    pattern: Option<Pattern>,
    span: Span,
}

pub(super) struct Runner<'a> {
    pub(super) schema: Arc<Schema>,
    pub(super) device: &'a mut dyn Device,
    decoder: &'a Decoder<'a>,
    expected: BTreeMap<u32, VecDeque<Expected>>,
    received: BTreeMap<u32, VecDeque<(Vec<u8>, Span)>>,
    /// Digests that have come and have not been asked for yet.
    pub(super) digests: VecDeque<Digest>,
    /// Location of the last `packet` statement, which unexpected packets are attributed to.
    last_sent: Span,
    pub(super) outcome: Outcome,
}

/// Runs a script that was bound to the schema of the device's program. A statement that the device cannot carry out
/// ends it with a diagnostic. A wrong packet or counter is a [`Failure`], and the script continues.
pub fn run(
    script: &Bound,
    device: &mut dyn Device,
    decoder: &Decoder,
) -> Result<Outcome, Box<Diagnostic>> {
    let mut runner = Runner {
        schema: Arc::clone(device.store().schema()),
        device,
        decoder,
        expected: BTreeMap::new(),
        received: BTreeMap::new(),
        digests: VecDeque::new(),
        last_sent: Span::NONE,
        outcome: Outcome::default(),
    };
    for (step, span) in &script.steps {
        runner.step(step, *span)?;
    }
    runner.collect(runner.last_sent)?;
    runner.finish();
    Ok(runner.outcome)
}

impl Runner<'_> {
    fn step(&mut self, step: &BoundStatement, span: Span) -> Result<(), Box<Diagnostic>> {
        match step {
            BoundStatement::Send(packet) => {
                self.last_sent = span;
                self.outcome.packets.0 += 1;
                return self
                    .device
                    .send(packet)
                    .map_err(|e| refused(span, "the packet could not be sent", &e));
            }
            BoundStatement::Expect(port, pattern) => {
                let expected = Expected {
                    pattern: pattern.clone(),
                    span,
                };
                self.expected.entry(*port).or_default().push_back(expected);
                return Ok(());
            }
            _ => {}
        }
        // All other steps read or change state that the packets so far depend on.
        self.collect(span)?;
        match step {
            BoundStatement::Send(_)
            | BoundStatement::Expect(..)
            | BoundStatement::Nothing
            | BoundStatement::Wait(0) => Ok(()),
            BoundStatement::Wait(time) => self
                .device
                .wait(*time)
                .map_err(|e| refused(span, "time could not go by", &e)),
            BoundStatement::NoPacket(port) => {
                self.no_packet(*port, span);
                Ok(())
            }
            BoundStatement::ExpectDigest(pattern, shown) => {
                self.expect_digest(pattern, shown, span)
            }
            BoundStatement::NoDigest(number) => self.no_digest(*number, span),
            BoundStatement::Change(change) => self.change(change, span),
            BoundStatement::RemoveAdded(table) => self.remove_added(*table, span),
            BoundStatement::CheckCounter(check) => self.check_counter(check, span),
            BoundStatement::CheckMetric(check) => self.check_metric(check, span),
            BoundStatement::ReadRegister(cell, wanted) => {
                let found = self
                    .device
                    .store()
                    .register(cell.object, cell.index)
                    .map_err(|e| refused(span, "the register could not be read", &e))?;
                if found != *wanted {
                    let (found, wanted) = (show(&found), show(wanted));
                    let text = format!("register {} is {found}, not {wanted}", cell.shown);
                    self.outcome.failures.push(Failure { span, text });
                }
                Ok(())
            }
            BoundStatement::WriteRegister(cell, value) => self
                .device
                .store_mut()
                .set_register(cell.object, cell.index, value)
                .map_err(|e| refused(span, "the register was not written", &e)),
            BoundStatement::ResetRegister(register) => self
                .device
                .store_mut()
                .reset_register(*register, None)
                .map_err(|e| refused(span, "the register was not reset", &e)),
        }
    }

    fn change(&mut self, change: &Change, span: Span) -> Result<(), Box<Diagnostic>> {
        self.device
            .store_mut()
            .apply(std::slice::from_ref(change))
            .map_err(|rejected| {
                refused(
                    span,
                    &errors::not_done(&self.schema, change),
                    &rejected.error,
                )
            })
    }

    /// Receives the packets that have left so far, and compares them with the expected ones.
    fn collect(&mut self, span: Span) -> Result<(), Box<Diagnostic>> {
        let packets = self
            .device
            .receive()
            .map_err(|e| refused(span, "the packets that came out could not be read", &e))?;
        self.outcome.packets.1 += packets.len();
        for packet in packets {
            let from = self.last_sent;
            self.received
                .entry(packet.port)
                .or_default()
                .push_back((packet.bytes, from));
        }
        let ports: Vec<u32> = self.received.keys().copied().collect();
        for port in ports {
            self.compare(port);
        }
        Ok(())
    }

    fn compare(&mut self, port: u32) {
        let (Some(expected), Some(received)) =
            (self.expected.get_mut(&port), self.received.get_mut(&port))
        else {
            return;
        };
        while !expected.is_empty() && !received.is_empty() {
            let (Some(wanted), Some((bytes, _))) = (expected.pop_front(), received.pop_front())
            else {
                return;
            };
            match &wanted.pattern {
                Some(pattern) if !pattern.matches(&bytes) => {
                    let text = format!(
                        "port {port}: the packet differs from the expected one\n{}",
                        report::mismatch(pattern, &bytes, self.decoder)
                    );
                    self.outcome.failures.push(Failure {
                        span: wanted.span,
                        text,
                    });
                }
                _ => {}
            }
        }
    }

    fn no_packet(&mut self, port: Option<u32>, span: Span) {
        let unexpected: Vec<(u32, Vec<u8>)> = self
            .received
            .iter_mut()
            .filter(|(p, _)| port.is_none_or(|only| only == **p))
            .flat_map(|(&p, queue)| queue.drain(..).map(move |(bytes, _)| (p, bytes)))
            .collect();
        for (port, bytes) in unexpected {
            let text = format!(
                "port {port}: no packet was expected, but this one arrived\n{}",
                report::undecoded(&bytes, self.decoder)
            );
            self.outcome.failures.push(Failure { span, text });
        }
    }

    fn finish(&mut self) {
        let lost = self.lost();
        for (port, queue) in std::mem::take(&mut self.expected) {
            for expected in queue {
                let text = format!("port {port}: the expected packet did not arrive{lost}");
                self.outcome.failures.push(Failure {
                    span: expected.span,
                    text,
                });
            }
        }
        for (port, queue) in std::mem::take(&mut self.received) {
            for (bytes, span) in queue {
                let text = format!(
                    "port {port}: unexpected packet\n{}",
                    report::undecoded(&bytes, self.decoder)
                );
                self.outcome.failures.push(Failure { span, text });
            }
        }
    }

    /// Describes the packets that the target's traffic manager lost, in a line of its own; empty if there are none.
    fn lost(&self) -> String {
        let drops = self.device.store().drops().unwrap_or_default();
        let lost = replication::text::lost(&drops);
        lost.map_or(String::new(), |lost| format!("\n  lost on the way: {lost}"))
    }

    fn remove_added(&mut self, only: Option<Table>, span: Span) -> Result<(), Box<Diagnostic>> {
        let schema = Arc::clone(&self.schema);
        let tables = match only {
            Some(table) => vec![table],
            None => schema.tables.keys().collect(),
        };
        for table in tables {
            let data = &schema.tables[table];
            let what = format!("the entries of `{}` were not removed", data.name);
            let own: Vec<_> = data
                .entries
                .iter()
                .map(|e| data.canonical(&e.keys))
                .collect();
            let entries = self.device.store().entries(table);
            let entries = entries.map_err(|e| refused(span, &what, &e))?;
            let is_added = |e: &Entry| !own.contains(&data.canonical(&e.keys));
            for entry in entries.into_iter().filter(is_added) {
                self.device
                    .store_mut()
                    .change(Change::Remove(table, EntryKey::of(&entry)))
                    .map_err(|e| refused(span, &what, &e))?;
            }
        }
        Ok(())
    }

    fn check_metric(&mut self, check: &MetricCheck, span: Span) -> Result<(), Box<Diagnostic>> {
        let groups = self.device.store().metrics(check.object);
        let groups = groups.map_err(|e| refused(span, "the metrics could not be read", &e))?;
        let found = check.asked.read(&groups);
        if !check.op.holds(found, check.value) {
            let (op, value) = (check.op.symbol(), check.value);
            let text = format!("{} is {found}, not {op} {value}", check.shown);
            self.outcome.failures.push(Failure { span, text });
        }
        Ok(())
    }

    fn check_counter(&mut self, check: &Check, span: Span) -> Result<(), Box<Diagnostic>> {
        let name = check.shown.split('[').next().unwrap_or_default();
        let what = format!("counter `{name}` could not be read");
        let refused = |e: StoreError| refused(span, &what, &e);
        let count = match &check.counter {
            Counter::Indexed(counter, index) => self.device.store().counter(*counter, *index),
            Counter::OfEntry(table, key) => {
                let data = &self.schema.tables[*table];
                let entries = self.device.store().entries(*table).map_err(refused)?;
                let is_it = |e: &&Entry| {
                    data.canonical(&e.keys) == key.keys
                        && (key.priority == 0 || e.priority == key.priority)
                };
                let found = entries.iter().find(is_it);
                let found = found.ok_or_else(|| refused(StoreError::Missing))?;
                self.device.store().direct_counter(*table, found)
            }
        };
        let count = count.map_err(refused)?;
        let (unit, found) = if check.bytes {
            ("byte", count.bytes)
        } else {
            ("packet", count.packets)
        };
        if !check.op.holds(found, check.value) {
            let text = format!(
                "counter {} has {}, not {} {}",
                check.shown,
                counted(found, unit),
                check.op.symbol(),
                check.value
            );
            self.outcome.failures.push(Failure { span, text });
        }
        Ok(())
    }
}

fn show(values: &[Bits]) -> String {
    let values = values.iter().map(|b| format!("{:#x}", b.value()));
    values.collect::<Vec<_>>().join(" ")
}

pub(super) fn refused(span: Span, what: &str, error: &StoreError) -> Box<Diagnostic> {
    errors::store(span, what, error)
}
