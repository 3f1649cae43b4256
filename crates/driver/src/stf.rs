//! Runs STF tests on a target: what `onpath test` and the test suite share.

use crate::bpf_target::{self, Compiled, Reach, Request};
use crate::frontend::Elaborated;
use crate::native::NativeExterns;
use arch::tc::Direction;
use bpf::abi::Hook;
use bpf::{Outlining, ParseRecord};
use control::Device;
use control::stf::{DecodedField, Outcome, bind, parse, run};
use diag::{Diagnostics, SourceMap, counted};
use interp::trace::{TraceEvent, TraceKind};
use interp::{Interpreter, Options};
use ir::Program;
use kernel::features::Kernel;
use layout::Structure;
use schema::Schema;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// Target on which tests run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StfTarget {
    /// On the reference interpreter.
    Interp {
        /// Seed of random numbers.
        seed: u64,
        /// The direction of packets, for programs that ask.
        direction: Direction,
    },
    /// In the kernel.
    Kernel {
        /// Hook at which the program runs.
        hook: Hook,
        /// Means by which packets reach the program.
        reach: Reach,
        /// Kernel whose features the program uses. The test itself runs in this machine's kernel.
        kernel: Kernel,
        /// Programs whose parse results are kept in a per-CPU map.
        parse_record: ParseRecord,
        /// The layout of tables whose entries may overlap, if they do not say which they want.
        layout: Option<Structure>,
        /// Size and number of outlined functions, for any program; `None` outlines in large programs only.
        outline: Option<Outlining>,
    },
}

/// The form of an execution trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceForm {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// An execution trace of the interpreter: its form, and the receiver of its text.
#[derive(Clone)]
pub struct Trace {
    /// Its form.
    pub form: TraceForm,
    /// Receiver of the text, one event or more at a time, in whole lines.
    pub write: Rc<dyn Fn(&str)>,
}

/// A test script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The name to show.
    pub name: String,
    /// The script.
    pub text: String,
}

/// Result of a test.
#[derive(Clone, PartialEq, Debug)]
pub enum TestResult {
    /// Everything came as the script expects.
    Passed {
        /// Packets sent.
        sent: usize,
        /// Packets that came out.
        received: usize,
    },
    /// Something differed from what the script expects.
    Failed {
        /// One text a failure, with file and line.
        failures: Vec<String>,
        /// Packets sent.
        sent: usize,
        /// Packets that came out.
        received: usize,
    },
    /// The script is not right, or the target cannot run it. Locations are in the script.
    Refused(Diagnostics),
    /// The target does not take the program. Locations are in the program.
    NotLoaded(Diagnostics),
}

/// A program that a target cannot run.
pub struct Unfit {
    /// Its texts.
    pub map: Rc<SourceMap>,
    /// Reasons.
    pub diagnostics: Diagnostics,
}

/// A program prepared for a target. Tests run on it one after the other, each from a fresh state.
pub struct Prepared {
    sources: Rc<SourceMap>,
    scripts: SourceMap,
    warnings: Diagnostics,
    program: Arc<Program>,
    backend: Backend,
}

/// Prepared program, by the kind of its target.
enum Backend {
    Interp(Options, Option<NativeExterns>),
    Kernel(Box<Compiled>, Reach),
    Other(Start),
}

/// Starts a program, from a fresh state, on a target that this crate does not know.
pub type Start = Box<dyn Fn() -> Result<Box<dyn Device>, Diagnostics>>;

impl Prepared {
    /// Compiles a program for the target. `externs` are C files for its extern functions.
    pub fn new(
        elaborated: Elaborated,
        target: StfTarget,
        externs: &[PathBuf],
    ) -> Result<Prepared, Unfit> {
        let mut sources = Rc::new(elaborated.map);
        let program = Arc::new(elaborated.program);
        let texts = Rc::clone(&sources);
        let unfit = |diagnostics| Unfit {
            map: texts,
            diagnostics,
        };
        let backend = match target {
            StfTarget::Interp { seed, direction } => {
                let options = Options {
                    seed,
                    direction,
                    ..Options::default()
                };
                let native = NativeExterns::compile(&program, externs);
                let ready = native.and_then(|native| {
                    interpreter(&program, options, native.as_ref())?;
                    Ok(native)
                });
                Backend::Interp(options, ready.map_err(unfit)?)
            }
            StfTarget::Kernel {
                hook,
                reach,
                kernel,
                parse_record,
                layout,
                outline,
            } => {
                let request = Request {
                    externs,
                    // Between veth pairs a redirect is one.
                    observe: reach == Reach::TestRun,
                    kernel,
                    parse_record,
                    layout,
                    outline,
                    ..Request::hook(hook)
                };
                let compiled = bpf_target::compile(&program, &sources, request).map_err(unfit)?;
                sources = Rc::new(bpf_target::with_externs(&sources, externs));
                Backend::Kernel(Box::new(compiled), reach)
            }
        };
        Ok(Prepared {
            sources,
            scripts: SourceMap::new(),
            warnings: Diagnostics::new(),
            program,
            backend,
        })
    }

    /// Prepares a program for a target that this crate does not know. `compile` compiles it.
    pub fn on(
        elaborated: Elaborated,
        compile: impl FnOnce(&Program, &SourceMap) -> Result<Start, Diagnostics>,
    ) -> Result<Prepared, Unfit> {
        let sources = Rc::new(elaborated.map);
        match compile(&elaborated.program, &sources) {
            Ok(start) => Ok(Prepared {
                sources,
                scripts: SourceMap::new(),
                warnings: Diagnostics::new(),
                program: Arc::new(elaborated.program),
                backend: Backend::Other(start),
            }),
            Err(diagnostics) => Err(Unfit {
                map: sources,
                diagnostics,
            }),
        }
    }

    /// Returns the texts that the diagnostics of the last test point at: the program's if its target does not load
    /// it, and else the script.
    pub fn map(&self, verdict: &TestResult) -> &SourceMap {
        match verdict {
            TestResult::NotLoaded(_) => &self.sources,
            _ => &self.scripts,
        }
    }

    /// Returns the warnings about suspicious parts of the last test's script, and its text.
    pub fn warnings(&self) -> (&Diagnostics, &SourceMap) {
        (&self.warnings, &self.scripts)
    }

    /// Runs a test.
    pub fn run(&mut self, case: &Case, trace: Option<Trace>) -> TestResult {
        self.scripts = SourceMap::new();
        self.warnings = Diagnostics::new();
        let Some(file) = self.scripts.add(case.name.clone(), case.text.clone()) else {
            return TestResult::Failed {
                failures: vec![format!("{}: the file is too large", case.name)],
                sent: 0,
                received: 0,
            };
        };
        let (script, malformed) = parse(&self.scripts, file);
        // All errors in the script are reported together, before a packet is sent.
        let bound = match bind(&script, &Schema::of(&self.program)) {
            Ok(bound) if !malformed.has_errors() => bound,
            Ok(_) => return TestResult::Refused(malformed),
            Err(unbound) => return TestResult::Refused(in_order(&malformed, &unbound)),
        };
        self.warnings = bound.warnings.clone();
        let mut device = match self.device(&script, trace) {
            Ok(device) => device,
            Err(diagnostics) => return TestResult::NotLoaded(diagnostics),
        };
        let decoder = |bytes: &[u8]| decode(&self.program, bytes);
        match run(&bound, device.as_mut(), &decoder) {
            Ok(outcome) => self.result(outcome),
            Err(refusal) => TestResult::Refused(refusal.into()),
        }
    }

    fn device(
        &self,
        script: &control::stf::Script,
        trace: Option<Trace>,
    ) -> Result<Box<dyn Device>, Diagnostics> {
        match &self.backend {
            Backend::Interp(options, native) => {
                let made = self.traced(*options, native.as_ref(), trace)?;
                Ok(Box::new(made))
            }
            Backend::Kernel(compiled, reach) => {
                bpf_target::device(compiled, &self.sources, *reach, script)
            }
            Backend::Other(start) => start(),
        }
    }

    /// Returns the program on the interpreter, in a fresh state. Returns `None` if it was prepared for another
    /// target.
    pub(crate) fn interpreter(
        &self,
        trace: Option<Trace>,
    ) -> Option<Result<Interpreter, Diagnostics>> {
        match &self.backend {
            Backend::Interp(options, native) => Some(self.traced(*options, native.as_ref(), trace)),
            Backend::Kernel(..) | Backend::Other(_) => None,
        }
    }

    fn traced(
        &self,
        options: Options,
        native: Option<&NativeExterns>,
        trace: Option<Trace>,
    ) -> Result<Interpreter, Diagnostics> {
        let mut interpreter = interpreter(&self.program, options, native)?;
        let sources = Rc::clone(&self.sources);
        interpreter.trace_to(trace.map(|trace| tracer(trace, sources)));
        Ok(interpreter)
    }

    /// Returns the program's objects for the control plane.
    pub fn schema(&self) -> Schema {
        Schema::of(&self.program)
    }

    /// Returns the program's texts.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    fn result(&self, outcome: Outcome) -> TestResult {
        let (sent, received) = outcome.packets;
        if outcome.failures.is_empty() {
            return TestResult::Passed { sent, received };
        }
        let shown = outcome.failures.iter().map(|failure| {
            let location = self
                .scripts
                .line_col(failure.span)
                .map_or_else(String::new, |(file, at)| {
                    format!("{}:{}: ", self.scripts.file(file).name, at.line)
                });
            format!("{location}{}", failure.text.trim_end())
        });
        TestResult::Failed {
            failures: shown.collect(),
            sent,
            received,
        }
    }
}

/// Returns the program on the interpreter, with the C of its extern functions.
fn interpreter(
    program: &Arc<Program>,
    options: Options,
    native: Option<&NativeExterns>,
) -> Result<Interpreter, Diagnostics> {
    let supplied = native.map(NativeExterns::load).transpose()?;
    Interpreter::with_supplied(Arc::clone(program), options, supplied.unwrap_or_default())
}

/// Returns a function that writes the interpreter's events as a trace. The text form has a blank line between
/// packets.
fn tracer(trace: Trace, sources: Rc<SourceMap>) -> Box<dyn FnMut(TraceEvent)> {
    let Trace { form, write } = trace;
    match form {
        TraceForm::Text => {
            let mut first = true;
            Box::new(move |event| {
                let begins = matches!(event.kind, TraceKind::Packet { .. });
                if begins && !std::mem::take(&mut first) {
                    write("\n");
                }
                write(&interp::trace::text(&event, &sources));
            })
        }
        TraceForm::Json => {
            Box::new(move |event| write(&format!("{}\n", interp::trace::json(&event, &sources))))
        }
    }
}

/// Merges diagnostics in the order of their locations.
fn in_order(some: &Diagnostics, more: &Diagnostics) -> Diagnostics {
    let mut all: Vec<&diag::Diagnostic> = some.iter().chain(more.iter()).collect();
    all.sort_by_key(|d| d.primary.span.lo);
    let mut diagnostics = Diagnostics::new();
    for diagnostic in all {
        diagnostics.push(diagnostic.clone());
    }
    diagnostics
}

/// Returns a number of packets as text: `1 packet`, `2 packets`.
pub fn packets(count: usize) -> String {
    counted(count, "packet")
}

/// Decodes a packet by the program's own headers, for reports of failures.
fn decode(program: &Arc<Program>, bytes: &[u8]) -> Vec<DecodedField> {
    let Some(decoded) = interp::decode(program, bytes) else {
        return Vec::new();
    };
    let fields = decoded.headers.into_iter().flat_map(|header| {
        header.fields.into_iter().map(move |field| DecodedField {
            name: format!("{}.{}", header.name, field.name),
            bits: field.bits,
            value: field.value,
        })
    });
    fields.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::{Input, elaborate};

    #[test]
    fn what_keeps_a_program_from_loading_is_shown_in_the_program() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let input = Input::file(format!("{root}/programs/xdp1/xdp1.p4"));
        let elaborated = elaborate(&input).ok().expect("a program of ours");
        let target = StfTarget::Interp {
            seed: 1,
            direction: Direction::Ingress,
        };
        let mut prepared = Prepared::new(elaborated, target, &[]).ok().expect("runs");
        let case = Case {
            name: "wrong.stf".into(),
            text: "no statement".into(),
        };
        let refused = prepared.run(&case, None);
        assert!(matches!(refused, TestResult::Refused(_)));
        let first = |verdict: &TestResult| {
            let mut files = prepared.map(verdict).files();
            files.next().map(|(_, file)| file.name.clone())
        };
        assert_eq!(first(&refused).as_deref(), Some("wrong.stf"));
        let name = first(&TestResult::NotLoaded(Diagnostics::new())).unwrap_or_default();
        assert!(name.ends_with("xdp1.p4"), "{name}");
    }
}
