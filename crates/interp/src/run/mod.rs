//! State of one packet's run, on which all statements work.

mod apply;
mod call;
mod deparse;
mod expr;
mod extern_call;
mod parse;
mod place;
mod stack;
mod stmt;

pub(crate) use parse::Parsed;

use crate::outcome::{Disposition, Fault, Marks, Outcome};
use crate::packet::Writer;
use crate::trace::{TraceEvent, TraceKind};
use crate::{Interpreter, storage};
use arch::v1model::copying;
use control::{Digest, DropReason, Packet};
use diag::Span;
use externs::meter::Color;
use externs::{Effect, ExternState};
use ir::{Bits, EntryPoint, Header, Label, Program, Value};
use std::rc::Rc;

/// Continuation after a statement.
#[derive(Debug, PartialEq)]
pub(crate) enum ControlFlow {
    /// At the next statement.
    Next,
    /// After a labelled block or loop.
    Break(Label),
    /// At the start of a loop.
    Continue(Label),
    /// At the end of the routine.
    Return,
    /// At the end of the pipeline's block.
    Exit,
    /// In the parser's `reject` state, with this error.
    Reject(u32),
    /// By a fault.
    Fault(Fault),
}

/// State of one packet's run.
pub(crate) struct Run<'a> {
    pub p: &'a Program,
    pub it: &'a mut Interpreter,
    /// Packet as its first block found it.
    pub packet: Rc<[u8]>,
    /// Position of the parser, in bits.
    pub cursor: usize,
    pub now: u64,
    /// Point at which the next control begins, if not at its start.
    pub entered: Option<EntryPoint>,
    /// Bytes that the deparser emitted.
    pub emitted: Writer,
    /// Maximum length of the packet that leaves, in bytes.
    pub truncate: Option<u64>,
    /// Maximum length of its payload, in bytes.
    truncate_payload: Option<u64>,
    /// True if it leaves as it came in.
    pub unchanged: bool,
    /// Requests of the program to the traffic manager.
    pub requests: Requests,
    /// True if the trace has the verdict already: that of each copy was traced when it left.
    pub judged: bool,
    steps: u64,
    /// Steps of the packet's earlier copies and passes.
    earlier: u64,
    effects: Vec<Effect>,
    /// Colour that the direct meter gave the packet, while the action of the meter's entry runs.
    color: Option<Color>,
    /// Headers as they were extracted, if requested.
    pub extracted: Option<Vec<Extracted>>,
    outcome: Outcome,
}

/// Limit of steps for a packet with all its copies, as a multiple of the limit for one.
const ALL_COPIES: u64 = 64;

/// Requests of a program to the traffic manager, each with the number of the field list to preserve. The last call
/// counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Requests {
    /// Clone session, and field list.
    pub clone: Option<(u64, u64)>,
    pub resubmit: Option<u64>,
    pub recirculate: Option<u64>,
}

impl Requests {
    /// Returns a request by its name in [`copying`]: the number that the name stands for, if the request was made.
    pub(crate) fn of(&self, name: &str) -> Option<u64> {
        match name {
            copying::CLONE | copying::CLONE_LIST => self.clone.map(|(_, list)| list),
            copying::CLONE_SESSION => self.clone.map(|(session, _)| session),
            copying::RESUBMIT | copying::RESUBMIT_LIST => self.resubmit,
            copying::RECIRCULATE | copying::RECIRCULATE_LIST => self.recirculate,
            _ => None,
        }
    }
}

/// Header as the parser extracted it.
#[derive(Debug)]
pub(crate) struct Extracted {
    pub header: Header,
    /// Position of its first bit in the packet.
    pub from: usize,
    pub fields: Vec<Bits>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(p: &'a Program, it: &'a mut Interpreter, packet: &[u8], now: u64) -> Run<'a> {
        for object in &mut it.externs {
            if let ExternState::Message(message) = object {
                message.forget();
            }
        }
        Run {
            p,
            it,
            packet: packet.into(),
            cursor: 0,
            now,
            entered: None,
            emitted: Writer::default(),
            truncate: None,
            truncate_payload: None,
            unchanged: false,
            requests: Requests::default(),
            judged: false,
            steps: 0,
            earlier: 0,
            effects: Vec::new(),
            color: None,
            extracted: None,
            outcome: Outcome {
                disposition: Disposition::Drop,
                packets: Vec::new(),
                copies: Vec::new(),
                drops: Vec::new(),
                marks: None,
                parser_error: None,
                rejected: false,
                log: Vec::new(),
                digests: Vec::new(),
                perf_events: Vec::new(),
            },
        }
    }

    /// Counts a step. Fails if the limit is exceeded.
    fn step(&mut self) -> Result<(), Fault> {
        self.steps += 1;
        let steps = self.it.options.steps;
        let of_all = steps.saturating_mul(ALL_COPIES);
        if self.steps > steps || self.earlier + self.steps > of_all {
            Err(Fault::StepBudget { steps })
        } else {
            Ok(())
        }
    }

    /// Emits a trace event, if there is a listener.
    pub(crate) fn trace(&mut self, span: Span, kind: impl FnOnce(&Run<'_>) -> TraceKind) {
        if self.it.sink.is_none() {
            return;
        }
        let event = TraceEvent {
            span,
            kind: kind(self),
        };
        if let Some(sink) = &mut self.it.sink {
            sink(event);
        }
    }

    /// Returns the part of the packet after the parser's position.
    pub(crate) fn payload(&self) -> &[u8] {
        &self.packet[(self.cursor / 8).min(self.packet.len())..]
    }

    /// Returns the emitted bytes, followed by the payload.
    pub(crate) fn deparsed(&mut self) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.emitted).finish();
        let payload = self.payload();
        let most = self.truncate_payload.unwrap_or(u64::MAX);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        bytes.extend_from_slice(&payload[..payload.len().min(most)]);
        if let Some(length) = self.truncate {
            bytes.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        }
        bytes
    }

    /// Sends bytes out of a port.
    pub(crate) fn send(&mut self, port: u32, bytes: Vec<u8>) {
        self.outcome.packets.push(Packet { port, bytes });
    }

    /// Sends a copy of the deparsed bytes out of a port, before the packet itself.
    pub(crate) fn copy(&mut self, port: u32, bytes: &[u8]) {
        self.outcome.copies.push(Packet {
            port,
            bytes: bytes.to_vec(),
        });
    }

    /// Sets the marks beside the packet.
    pub(crate) fn mark(&mut self, marks: Marks) {
        self.trace(Span::NONE, |_| TraceKind::Marks(marks));
        self.outcome.marks = Some(marks);
    }

    /// Returns a variable's value as a number.
    pub(crate) fn number(&self, var: Option<ir::Var>) -> u64 {
        var.and_then(|var| self.it.storage.var(var).to_bits().to_u64())
            .unwrap_or(0)
    }

    /// Stores a number in a variable, truncated to its width.
    pub(crate) fn set_number(&mut self, var: Option<ir::Var>, number: u64) {
        if let Some(var) = var {
            let bits = Bits::new(64, number);
            let value = Value::from_bits(&bits, self.p.vars[var].ty);
            self.it.storage.set_var(var, value);
        }
    }

    /// Returns the headers and variables of the packet.
    fn storage(&self) -> &storage::Storage {
        &self.it.storage
    }

    /// Ends the packet's processing, and returns its outcome.
    pub(crate) fn finish(mut self, disposition: Result<Disposition, Fault>) -> Outcome {
        self.outcome.disposition = match disposition {
            Ok(disposition) => disposition,
            Err(fault) => {
                self.outcome.packets.clear();
                self.outcome.copies.clear();
                Disposition::Fault(fault)
            }
        };
        if !self.judged || matches!(self.outcome.disposition, Disposition::Fault(_)) {
            let disposition = self.outcome.disposition.clone();
            let mut packets = self.outcome.copies.clone();
            packets.extend_from_slice(&self.outcome.packets);
            self.trace(Span::NONE, |_| TraceKind::verdict(&disposition, &packets));
        }
        self.outcome
    }

    /// Resets the run to parse these bytes: cursor, output, requests and the count of steps.
    pub(crate) fn begin_anew(&mut self, packet: Rc<[u8]>) {
        self.packet = packet;
        self.cursor = 0;
        self.entered = None;
        self.emitted = Writer::default();
        self.truncate = None;
        self.truncate_payload = None;
        self.unchanged = false;
        self.requests = Requests::default();
        self.earlier += self.steps;
        self.steps = 0;
    }

    /// Counts a packet or a copy that the traffic manager dropped.
    pub(crate) fn count_drop(&mut self, reason: DropReason) {
        *self.it.drops.entry(reason).or_default() += 1;
        if reason.is_loss() {
            self.outcome.drops.push(reason);
        }
    }

    /// Stores the request of an extern that the architecture's model does not handle.
    fn keep(&mut self, effect: Effect) {
        match effect {
            Effect::Truncate(length) => self.truncate = Some(length),
            Effect::TruncatePayload(length) => self.truncate_payload = Some(length),
            Effect::Unchanged => self.unchanged = true,
            Effect::Write { at, bytes } => {
                let mut packet = self.packet.to_vec();
                packet[at..at + bytes.len()].copy_from_slice(&bytes);
                self.packet = packet.into();
            }
            Effect::Clone { session, list } => self.requests.clone = Some((session, list)),
            Effect::Resubmit { list } => self.requests.resubmit = Some(list),
            Effect::Recirculate { list } => self.requests.recirculate = Some(list),
            Effect::Digest {
                receiver,
                data: values,
                number,
            } => self.outcome.digests.push(Digest {
                number,
                receiver,
                values,
            }),
            Effect::Log(line) => self.outcome.log.push(line),
            Effect::PerfEvent(bytes) => self.outcome.perf_events.push(bytes),
            Effect::Drop | Effect::ChecksumError => {}
        }
    }
}
