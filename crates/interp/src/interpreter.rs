//! Interpreter: a program with its tables and extern objects, ready for packets.

use crate::models::{Model, Poisons};
use crate::run::Run;
use crate::storage::{Storage, for_each};
use crate::table::TableState;
use crate::trace::{TraceEvent, TraceKind};
use crate::{Clock, Marks, Options, Outcome, check};
use control::repeatable::{self, RandomLists};
use control::{CloneSession, Digest, DropReason, Packet, Replica};
use diag::Diagnostics;
use externs::{Arg, ExternState, Function, Meaning, Numbers, Reply};
use ir::{KeyMatch, Program};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use schema::Schema;
use smol_str::SmolStr;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// Definition of a function that the program only declares, supplied by the caller.
pub type SuppliedFunction = Rc<dyn Fn(&[Arg]) -> Result<Reply, externs::Fault>>;

/// Supplied functions by name.
pub type Supplied = HashMap<SmolStr, SuppliedFunction>;

/// Receiver of a packet's trace events.
pub(crate) type Sink = Box<dyn FnMut(TraceEvent)>;

/// Program with its state.
pub struct Interpreter {
    pub(crate) program: Arc<Program>,
    pub(crate) schema: Arc<Schema>,
    pub(crate) options: Options,
    pub(crate) model: Model,
    /// Poison values for storage that no code reads, set when a packet or copy starts.
    pub(crate) poisons: Option<Poisons>,
    /// Initial storage of a packet.
    pub(crate) zero: Storage,
    pub(crate) storage: Storage,
    pub(crate) tables: Vec<TableState>,
    pub(crate) externs: Vec<ExternState>,
    pub(crate) functions: HashMap<SmolStr, Function>,
    pub(crate) supplied: Supplied,
    pub(crate) value_sets: Vec<Vec<Vec<KeyMatch>>>,
    pub(crate) errors: ErrorCodes,
    pub(crate) rng: ChaCha8Rng,
    lists: RandomLists,
    /// Random numbers of the current packet.
    pub(crate) numbers: Numbers,
    /// Replicas of multicast groups, by group number.
    pub(crate) groups: BTreeMap<u16, Vec<Replica>>,
    /// Clone sessions, by session number.
    pub(crate) sessions: BTreeMap<u32, CloneSession>,
    /// Number of losses of the traffic manager so far, by reason.
    pub(crate) drops: BTreeMap<DropReason, u64>,
    pub(crate) sink: Option<Sink>,
    /// Packets sent that were not yet fetched through [`control::Device`].
    pub(crate) out: Vec<Packet>,
    /// Digests sent that were not yet fetched.
    pub(crate) digests: Vec<Digest>,
    virtual_now: u64,
    started: Instant,
}

impl fmt::Debug for Interpreter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interpreter")
            .field("options", &self.options)
            .field("tables", &self.tables)
            .field("externs", &self.externs)
            .finish_non_exhaustive()
    }
}

/// Codes of the errors that the parser itself raises.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorCodes {
    pub packet_too_short: u32,
    pub no_match: u32,
    pub stack_out_of_bounds: u32,
    pub header_too_short: u32,
    pub invalid_argument: u32,
    pub timeout: u32,
}

impl ErrorCodes {
    /// Looks the errors up by name. A program that does not include `core.p4` has none of them, and gets 0 for all.
    fn new(program: &Program) -> ErrorCodes {
        let find = |name: &str| {
            let place = program.errors.iter().position(|e| e == name);
            place.map_or(0, |i| i as u32)
        };
        ErrorCodes {
            packet_too_short: find("PacketTooShort"),
            no_match: find("NoMatch"),
            stack_out_of_bounds: find("StackOutOfBounds"),
            header_too_short: find("HeaderTooShort"),
            invalid_argument: find("ParserInvalidArgument"),
            timeout: find("ParserTimeout"),
        }
    }
}

impl Interpreter {
    /// Prepares a program for packets.
    ///
    /// # Errors
    /// The program uses something that the interpreter does not support: an extern that it does not implement, or an
    /// unknown architecture. Each is reported with its location.
    pub fn new(program: Arc<Program>, options: Options) -> Result<Interpreter, Diagnostics> {
        Interpreter::with_supplied(program, options, Supplied::new())
    }

    /// Prepares a program for packets, with definitions of functions that it only declares.
    ///
    /// # Errors
    /// As for [`Interpreter::new`], except for calls of the supplied functions.
    pub fn with_supplied(
        program: Arc<Program>,
        options: Options,
        supplied: Supplied,
    ) -> Result<Interpreter, Diagnostics> {
        let diagnostics = check::check(&program, &supplied);
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let Some(model) = Model::new(&program) else {
            let mut diagnostics = Diagnostics::new();
            diagnostics.push(crate::errors::unknown_architecture(&program.arch));
            return Err(diagnostics);
        };
        let zero = Storage::new(&program);
        let schema = Schema::of(&program);
        let functions = externs::ALL
            .iter()
            .filter_map(|e| match e.meaning {
                Meaning::Function(function) => Some((SmolStr::new_static(e.name), function)),
                _ => None,
            })
            .collect();
        Ok(Interpreter {
            poisons: model.poisons(&program),
            model,
            storage: zero.clone(),
            zero,
            tables: program
                .tables
                .keys()
                .map(|table| TableState::new(&program, &schema, table))
                .collect(),
            externs: for_each(&program.externs, |data| match externs::find(&data.ty) {
                Some(externs::Extern {
                    meaning: Meaning::Object { create, .. },
                    ..
                }) => create(data),
                _ => ExternState::Stateless,
            }),
            functions,
            supplied,
            value_sets: for_each(&program.value_sets, |_| Vec::new()),
            errors: ErrorCodes::new(&program),
            rng: ChaCha8Rng::seed_from_u64(options.seed),
            lists: RandomLists::new(options.seed),
            numbers: Numbers::new([]),
            groups: BTreeMap::new(),
            sessions: BTreeMap::new(),
            drops: BTreeMap::new(),
            sink: None,
            out: Vec::new(),
            digests: Vec::new(),
            virtual_now: repeatable::START,
            started: Instant::now(),
            options,
            schema: Arc::new(schema),
            program,
        })
    }

    /// Returns the program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Sends every trace event of later packets to `sink`; `None` disables tracing, at no cost.
    pub fn trace_to(&mut self, sink: Option<Box<dyn FnMut(TraceEvent)>>) {
        self.sink = sink;
    }

    /// Advances the virtual clock by some nanoseconds.
    pub fn wait(&mut self, nanoseconds: u64) {
        self.virtual_now = self.virtual_now.saturating_add(nanoseconds);
    }

    /// Runs one packet through the pipeline. `bytes` begin at the link layer.
    pub fn run(&mut self, port: u32, bytes: &[u8]) -> Outcome {
        self.run_marked(port, bytes, Marks::default())
    }

    /// Does the same with marks beside the packet, which `tc_model` sees except for the queue.
    pub fn run_marked(&mut self, port: u32, bytes: &[u8], marks: Marks) -> Outcome {
        let program = Arc::clone(&self.program);
        self.storage.reset(&self.zero);
        self.numbers = Numbers::new(self.lists.next_list());
        let now = self.tick();
        let model = self.model;
        let mut run = Run::new(&program, self, bytes, now);
        run.trace(diag::Span::NONE, |_| TraceKind::Packet {
            port,
            bytes: crate::trace::hex(bytes),
        });
        let disposition = model.run(&mut run, port, marks);
        run.finish(disposition)
    }

    /// Returns the time between packets, in nanoseconds.
    pub(crate) fn now(&self) -> u64 {
        match self.options.clock {
            Clock::Virtual { .. } => self.virtual_now,
            Clock::System => u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX),
        }
    }

    /// Advances the clock, and returns the time for the next packet in nanoseconds.
    fn tick(&mut self) -> u64 {
        match self.options.clock {
            Clock::Virtual { step } => {
                self.virtual_now = self.virtual_now.saturating_add(step);
                self.virtual_now
            }
            Clock::System => u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX),
        }
    }
}
