//! One program from its text to a BPF object, before anything is set up.

use super::unit::Unit;
use crate::commands::source::elaborate_input;
use crate::output::{Stop, print_diagnostics, refused_in};
use crate::progress::Progress;
use bpf::abi::Hook;
use control::entries::{self, Changes, Existing};
use control::{Piece, Store, errors};
use diag::{Diagnostic, Diagnostics, FileId, SourceMap};
use driver::bpf_target::{self, Compiled, Request};
use driver::bundle::{self, At, Bundle, Entries, Member, PortSpec};
use driver::hooks;
use driver::read_text;
use ir::Program;
use kernel::build::Obstacle;
use kernel::bundle::Port;
use kernel::interface;
use schema::Schema;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A program that can be loaded.
pub(crate) struct Prepared {
    /// Where it will run.
    pub hook: Hook,
    /// Its texts.
    pub sources: SourceMap,
    /// The program as elaborated.
    pub program: Arc<Program>,
    /// The object.
    pub compiled: Compiled,
    /// Whether the verifier was asked already when it was compiled.
    pub tried: bool,
    /// What goes into its tables.
    entered: Entered,
    /// How long it took us, without clang.
    pub compiler_time: Duration,
}

/// What goes into a program's tables, free of errors.
enum Entered {
    /// Few changes, in memory.
    Lines(Changes),
    /// A file, which is read while its changes are made.
    File(FileId),
}

/// A program as far as its text alone shows: what it is, and where it will run.
pub(crate) struct Read {
    hook: Hook,
    sources: SourceMap,
    program: Arc<Program>,
    took: Duration,
}

impl Read {
    /// Where it will run.
    pub(crate) fn hook(&self) -> Hook {
        self.hook
    }
}

/// Reads, checks and elaborates a program.
pub(crate) fn read(member: &Member) -> Result<Read, Stop> {
    let elaborated = elaborate_input(&member.input(), print_diagnostics)?;
    let hook = match &member.hook {
        Some(hook) => hook.value,
        None => hooks::default_hook(&elaborated.program.arch),
    };
    Ok(Read {
        hook,
        sources: elaborated.map,
        program: Arc::new(elaborated.program),
        took: elaborated.took,
    })
}

/// Reads a program's entries, and compiles it. The verifier sees it when it is loaded.
pub(crate) fn prepare(
    unit: &mut Unit,
    number: usize,
    read: Read,
    progress: &Progress,
) -> Result<Prepared, Stop> {
    let entered = entered(unit, number, &Schema::of(&read.program))?;
    let step = format!("{}: compiling", unit.label(&unit.bundle.programs[number]));
    let compiled = progress.during(&step, || {
        compile(unit, number, read.hook, &read.program, &read.sources, false)
    });
    let compiled = compiled.map_err(|unfit| unfit_for_hook(unit, number, &read.sources, &unfit))?;
    Ok(Prepared {
        compiler_time: read.took + compiled.compiler_time,
        hook: read.hook,
        sources: read.sources,
        program: read.program,
        compiled,
        tried: false,
        entered,
    })
}

fn compile(
    unit: &Unit,
    number: usize,
    hook: Hook,
    program: &Program,
    sources: &SourceMap,
    trial: bool,
) -> Result<Compiled, Diagnostics> {
    let request = Request {
        externs: &unit.bundle.programs[number].externs,
        trial,
        ..Request::hook(hook)
    };
    bpf_target::compile(program, sources, request)
}

fn unfit_for_hook(unit: &Unit, number: usize, sources: &SourceMap, unfit: &Diagnostics) -> Stop {
    match bundle::moved_to(unfit, unit.bundle.hook_span(number)) {
        Some(placed) => print_diagnostics(&placed, &unit.map),
        None => print_diagnostics(unfit, sources),
    }
    Stop::AlreadyReported(2)
}

/// Checks all of a program's entries before anything is set up; all errors are reported at once.
fn entered(unit: &mut Unit, number: usize, schema: &Schema) -> Result<Entered, Stop> {
    let checked = match &unit.bundle.programs[number].entries {
        None => return Ok(Entered::Lines(Changes::default())),
        Some(Entries::File(file)) => {
            let id = add_file(&mut unit.map, &file.value).map_err(Stop::Failed)?;
            entries::check(schema, &unit.map, id).map(|()| Entered::File(id))
        }
        Some(Entries::Lines(lines)) => {
            entries::parse_lines(schema, pieces(lines)).map(Entered::Lines)
        }
    };
    checked.map_err(|wrong| {
        print_diagnostics(&wrong, &unit.map);
        Stop::AlreadyReported(1)
    })
}

/// A file of entries among the texts.
fn add_file(map: &mut SourceMap, file: &Path) -> Result<FileId, String> {
    let text = read_text(file)?;
    let name = file.display().to_string();
    map.add(name.clone(), text)
        .ok_or_else(|| format!("`{name}` is too large"))
}

/// Lines in a bundle's file: a string begins behind its quotation mark.
fn pieces(lines: &[At<String>]) -> impl Iterator<Item = Piece<'_>> {
    lines.iter().map(|l| Piece::new(&l.value, l.span.lo + 1))
}

/// What a program's entries ask for. The outer error is a file that cannot be read.
pub(crate) fn read_entries(
    map: &mut SourceMap,
    entries: Option<&Entries>,
    schema: &Schema,
) -> Result<Result<Changes, Diagnostics>, String> {
    match entries {
        None => Ok(Ok(Changes::default())),
        Some(Entries::File(file)) => {
            let id = add_file(map, &file.value)?;
            Ok(entries::parse(schema, map, id))
        }
        Some(Entries::Lines(lines)) => Ok(entries::parse_lines(schema, pieces(lines))),
    }
}

impl Prepared {
    /// Whether another compilation may overcome this.
    pub(crate) fn is_retryable(&self, obstacle: Option<Obstacle>) -> bool {
        let counts = self.compiled.decisions.parser_turns.is_some();
        obstacle.is_some_and(|obstacle| obstacle.is_surmountable(counts))
    }

    /// Compiles it anew, with the verifier's word on every attempt: it refused what clang made of the first.
    pub(crate) fn try_others(
        &mut self,
        unit: &Unit,
        number: usize,
        progress: &Progress,
    ) -> Result<(), Stop> {
        let label = unit.label(&unit.bundle.programs[number]);
        let step =
            format!("{label}: recompiling with other strategies, since the verifier rejected it");
        let compiled = progress.during(&step, || {
            compile(unit, number, self.hook, &self.program, &self.sources, true)
        });
        let compiled =
            compiled.map_err(|unfit| unfit_for_hook(unit, number, &self.sources, &unfit))?;
        self.compiler_time += compiled.compiler_time;
        self.compiled = compiled;
        self.tried = true;
        Ok(())
    }

    /// Puts its entries and multicast groups in. A refusal is reported.
    pub(crate) fn fill(
        &self,
        unit: &Unit,
        member: &Member,
        store: &mut dyn Store,
    ) -> Result<(), Stop> {
        match &self.entered {
            Entered::Lines(changes) => {
                let done = entries::apply(store, changes);
                done.map_err(|refusal| refused_in(refusal, &unit.map))?;
            }
            Entered::File(id) => {
                let done = entries::load(&unit.map, *id, Existing::Keep, store);
                done.map_err(|wrong| {
                    print_diagnostics(&wrong, &unit.map);
                    Stop::AlreadyReported(1)
                })?;
            }
        }
        for (group, ports) in &member.ports.groups {
            store.set_multicast_group(*group, ports).map_err(|error| {
                let what = format!("multicast group {group} was not made");
                refused_in(errors::store(member.name.span, &what, &error), &unit.map)
            })?;
        }
        Ok(())
    }
}

/// A program's interfaces as they are now.
pub(crate) struct Interfaces {
    /// Where it runs.
    pub ports: Vec<Port>,
    /// Where it may send packets to besides.
    pub targets: Vec<Port>,
}

/// Looks the interfaces of all programs up, in order.
pub(crate) fn interfaces(bundle: &Bundle) -> Result<Vec<Interfaces>, Box<Diagnostic>> {
    let found = |spec: PortSpec| {
        interface::index(&spec.interface).map(|index| Port {
            number: spec.port,
            name: spec.interface,
            index,
        })
    };
    let of = |member: &Member| {
        Ok(Interfaces {
            ports: member
                .ports
                .attached()
                .map(found)
                .collect::<Result<_, _>>()?,
            targets: member
                .ports
                .reach
                .iter()
                .cloned()
                .map(found)
                .collect::<Result<_, _>>()?,
        })
    };
    bundle.programs.iter().map(of).collect()
}
