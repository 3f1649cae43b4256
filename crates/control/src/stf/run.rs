//! Runs a script on a device.

use super::check::NOT_MADE;
use super::lookup::{Kind, counted_entry, find_extern, piece, register_types, register_value};
use super::report::{self, Decoder};
use super::script::*;
use crate::entry::{find_table, parse_default, parse_entry, parse_keys, parse_member};
use crate::errors;
use crate::{Device, Packet, StoreError};
use diag::{Diagnostic, Span};
use ir::{Bits, Entry, Program};
use std::collections::{BTreeMap, VecDeque};

/// Something that did not come out as the script says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The statement that says so, or the packet that nobody expected.
    pub span: Span,
    /// What happened instead; several lines.
    pub text: String,
}

/// How a script went.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// What did not come out; empty if the test passed.
    pub failures: Vec<Failure>,
    /// Packets sent, packets received.
    pub packets: (usize, usize),
}

/// An `expect` that still waits for its packet.
struct Expected {
    pattern: Option<Pattern>,
    span: Span,
}

struct Runner<'a> {
    program: &'a Program,
    device: &'a mut dyn Device,
    decoder: &'a Decoder<'a>,
    expected: BTreeMap<u32, VecDeque<Expected>>,
    received: BTreeMap<u32, VecDeque<(Vec<u8>, Span)>>,
    /// The last `packet` statement: what came out since is its doing.
    last_sent: Span,
    outcome: Outcome,
}

/// Runs a script whose statements were parsed without errors. A statement that the program or the
/// device cannot carry out ends it with a diagnostic; a wrong packet or counter is a [`Failure`], and
/// the script goes on.
pub fn run(
    script: &Script,
    program: &Program,
    device: &mut dyn Device,
    decoder: &Decoder,
) -> Result<Outcome, Box<Diagnostic>> {
    let mut runner = Runner {
        program,
        device,
        decoder,
        expected: BTreeMap::new(),
        received: BTreeMap::new(),
        last_sent: Span::NONE,
        outcome: Outcome::default(),
    };
    for statement in &script.statements {
        runner.statement(statement)?;
    }
    runner.collect(runner.last_sent)?;
    runner.finish();
    Ok(runner.outcome)
}

impl Runner<'_> {
    fn statement(&mut self, statement: &Statement) -> Result<(), Box<Diagnostic>> {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Packet { port, bytes } => {
                self.last_sent = span;
                self.outcome.packets.0 += 1;
                let packet = Packet {
                    port: *port,
                    bytes: bytes.clone(),
                };
                return self
                    .device
                    .send(&packet)
                    .map_err(|e| refused(span, "the packet could not be sent", &e));
            }
            StatementKind::Expect { port, pattern } => {
                let expected = Expected {
                    pattern: pattern.clone(),
                    span,
                };
                self.expected.entry(*port).or_default().push_back(expected);
                return Ok(());
            }
            _ => {}
        }
        // Everything else reads or changes what the packets so far have met.
        self.collect(span)?;
        match &statement.kind {
            StatementKind::Packet { .. }
            | StatementKind::Expect { .. }
            | StatementKind::MulticastNode
            | StatementKind::Wait(0) => {}
            StatementKind::Wait(time) => self
                .device
                .wait(*time)
                .map_err(|e| refused(span, "time could not go by", &e))?,
            StatementKind::MulticastGroup { group, ports } => self
                .device
                .set_multicast_group(*group, ports)
                .map_err(|e| refused(span, NOT_MADE, &e))?,
            StatementKind::NoPacket { port } => self.no_packet(*port, span),
            StatementKind::Add(text) => {
                let (table, entry) = parse_entry(self.program, piece(text))?;
                let what = format!(
                    "no entry was added to `{}`",
                    self.program.tables[table].name
                );
                self.device
                    .insert(table, &entry)
                    .map_err(|e| refused(span, &what, &e))?;
            }
            StatementKind::Remove(text) => {
                let (table, keys, priority) = parse_keys(self.program, piece(text))?;
                let name = &self.program.tables[table].name;
                let what = format!("no entry was removed from `{name}`");
                self.device
                    .remove(table, &keys, priority)
                    .map_err(|e| refused(span, &what, &e))?;
            }
            StatementKind::RemoveAll(table) => self.remove_all(table.as_ref(), span)?,
            StatementKind::SetDefault(text) => {
                let (table, action) = parse_default(self.program, piece(text))?;
                let name = &self.program.tables[table].name;
                let what = format!("the default action of `{name}` was not changed");
                self.device
                    .set_default(table, &action)
                    .map_err(|e| refused(span, &what, &e))?;
            }
            StatementKind::CheckCounter { .. } => self.check_counter(statement)?,
            StatementKind::RegisterRead(cell, value) => self.register_read(cell, value, span)?,
            StatementKind::RegisterWrite(cell, value) => {
                let (register, value) = register_value(self.program, cell, value)?;
                self.device
                    .set_register(register, cell.index, &value)
                    .map_err(|e| refused(span, "the register was not written", &e))?;
            }
            StatementKind::RegisterReset(name) => self.register_reset(name, span)?,
            StatementKind::ValueSetAdd(text) => {
                let (set, member) = parse_member(self.program, piece(text))?;
                self.device
                    .value_set_insert(set, &member)
                    .map_err(|e| refused(span, "the value set was not changed", &e))?;
            }
            StatementKind::ValueSetRemove(text) => {
                let (set, member) = parse_member(self.program, piece(text))?;
                self.device
                    .value_set_remove(set, &member)
                    .map_err(|e| refused(span, "the value set was not changed", &e))?;
            }
            StatementKind::MeterSet(cell, rates) => {
                let meter = find_extern(self.program, &cell.name, Kind::Meter)?;
                self.device
                    .set_meter(meter, cell.index, *rates)
                    .map_err(|e| refused(span, "the meter was not changed", &e))?;
            }
        }
        Ok(())
    }

    /// Takes what came out so far, and compares it with what is expected.
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
                        "port {port}: not the packet that was expected\n{}",
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
                "port {port}: no packet was expected, but this one came\n{}",
                report::undecoded(&bytes, self.decoder)
            );
            self.outcome.failures.push(Failure { span, text });
        }
    }

    fn finish(&mut self) {
        for (port, queue) in std::mem::take(&mut self.expected) {
            for expected in queue {
                let text = format!("port {port}: the expected packet did not come");
                self.outcome.failures.push(Failure {
                    span: expected.span,
                    text,
                });
            }
        }
        for (port, queue) in std::mem::take(&mut self.received) {
            for (bytes, span) in queue {
                let text = format!(
                    "port {port}: a packet came that nobody expects\n{}",
                    report::undecoded(&bytes, self.decoder)
                );
                self.outcome.failures.push(Failure { span, text });
            }
        }
    }

    fn remove_all(&mut self, only: Option<&Text>, span: Span) -> Result<(), Box<Diagnostic>> {
        let tables = match only {
            Some(name) => vec![find_table(self.program, piece(name))?],
            None => self.program.tables.keys().collect(),
        };
        for table in tables {
            let name = &self.program.tables[table].name;
            let what = format!("the entries of `{name}` were not removed");
            let own = |e: &Entry| {
                self.program.tables[table]
                    .entries
                    .iter()
                    .any(|p| p.keys == e.keys)
            };
            let entries = self
                .device
                .entries(table)
                .map_err(|e| refused(span, &what, &e))?;
            let added: Vec<Entry> = entries.into_iter().filter(|e| !own(e)).collect();
            for entry in added {
                self.device
                    .remove(table, &entry.keys, entry.priority)
                    .map_err(|e| refused(span, &what, &e))?;
            }
        }
        Ok(())
    }

    fn check_counter(&mut self, statement: &Statement) -> Result<(), Box<Diagnostic>> {
        let StatementKind::CheckCounter {
            name,
            index,
            keys,
            bytes,
            op,
            value,
        } = &statement.kind
        else {
            return Ok(());
        };
        let span = statement.span;
        let what = format!("counter `{}` could not be read", name.text);
        let refused = |e: &StoreError| refused(span, &what, e);
        let count = match index {
            Some(index) => {
                let counter = find_extern(self.program, name, Kind::Counter)?;
                self.device
                    .counter(counter, *index)
                    .map_err(|e| refused(&e))?
            }
            None => {
                let (table, keys, priority) = counted_entry(self.program, name, keys)?;
                let entries = self.device.entries(table).map_err(|e| refused(&e))?;
                let found = entries
                    .iter()
                    .find(|e| e.keys == keys && (priority == 0 || e.priority == priority))
                    .ok_or_else(|| refused(&StoreError::Missing))?;
                self.device
                    .direct_counter(table, found)
                    .map_err(|e| refused(&e))?
            }
        };
        let (unit, found) = if *bytes {
            ("byte", count.bytes)
        } else {
            ("packet", count.packets)
        };
        if !op.holds(found, *value) {
            let element = index.map_or(String::new(), |i| format!("[{i}]"));
            let text = format!(
                "counter {}{element} has {found} {unit}{}, not {} {value}",
                name.text,
                if found == 1 { "" } else { "s" },
                op.symbol()
            );
            self.outcome.failures.push(Failure { span, text });
        }
        Ok(())
    }

    fn register_read(
        &mut self,
        cell: &Cell,
        value: &Text,
        span: Span,
    ) -> Result<(), Box<Diagnostic>> {
        let (register, wanted) = register_value(self.program, cell, value)?;
        let found = self
            .device
            .register(register, cell.index)
            .map_err(|e| refused(span, "the register could not be read", &e))?;
        if found != wanted {
            let show = |bits: &[Bits]| {
                let values: Vec<String> =
                    bits.iter().map(|b| format!("{:#x}", b.value())).collect();
                values.join(" ")
            };
            let text = format!(
                "register {}[{}] is {}, not {}",
                cell.name.text,
                cell.index,
                show(&found),
                show(&wanted)
            );
            self.outcome.failures.push(Failure { span, text });
        }
        Ok(())
    }

    fn register_reset(&mut self, name: &Text, span: Span) -> Result<(), Box<Diagnostic>> {
        let register = find_extern(self.program, name, Kind::Register)?;
        let zero: Vec<Bits> = register_types(self.program, register)
            .map(|ty| Bits::zero(ty.width()))
            .collect();
        for index in 0.. {
            match self.device.set_register(register, index, &zero) {
                Ok(()) => {}
                Err(StoreError::OutOfRange { .. }) => break,
                Err(e) => return Err(refused(span, "the register was not reset", &e)),
            }
        }
        Ok(())
    }
}

fn refused(span: Span, what: &str, error: &StoreError) -> Box<Diagnostic> {
    errors::store(span, what, error)
}
