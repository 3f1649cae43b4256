//! One program from its text to a BPF object, before anything is set up.

use super::entries::{self, Checked};
use super::unit::Unit;
use crate::commands::changes::Made;
use crate::commands::source::elaborate_input;
use crate::output::{Stop, print_diagnostics, refused_in};
use crate::progress::Progress;
use bpf::abi::Hook;
use control::{Store, errors};
use diag::{Diagnostic, Diagnostics, SourceMap};
use driver::bpf_target::{self, Compiled, Request};
use driver::bundle::{self, Bundle, Member, PortSpec};
use driver::hooks;
use ir::Program;
use kernel::build::Obstacle;
use kernel::bundle::Port;
use kernel::interface;
use schema::Schema;
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
    pub entries: Checked,
    /// How long it took us, without clang.
    pub compiler_time: Duration,
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
    let entries = entries::check(unit, number, &Schema::of(&read.program), progress)?;
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
        entries,
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

impl Prepared {
    /// Whether another compilation may overcome this.
    pub(crate) fn is_retryable(&self, obstacle: Option<Obstacle>) -> bool {
        let can_shrink = self.compiled.decisions.can_shrink();
        obstacle.is_some_and(|obstacle| obstacle.is_surmountable(can_shrink))
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

    /// Puts its entries and multicast groups in. A refusal is reported. Gives what it took to put the entries in, if it
    /// has any.
    pub(crate) fn fill(
        &self,
        unit: &Unit,
        number: usize,
        store: &mut dyn Store,
        progress: &Progress,
    ) -> Result<Option<Made>, Stop> {
        let made = entries::fill(unit, number, &self.entries, store, progress)?;
        let member = &unit.bundle.programs[number];
        for (group, ports) in &member.ports.groups {
            store.set_multicast_group(*group, ports).map_err(|error| {
                let what = format!("multicast group {group} was not made");
                refused_in(errors::store(member.name.span, &what, &error), &unit.map)
            })?;
        }
        Ok(made)
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
