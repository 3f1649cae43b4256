//! One program from its text to a BPF object, or an object from its file, before anything is set up.

use super::entries::{self, Checked};
use super::unit::Unit;
use crate::commands::changes::Made;
use crate::commands::source::elaborate_input;
use crate::output::{Stop, notice, print_diagnostics, refused_in};
use crate::progress::Progress;
use bpf::abi::{Abi, Hook};
use bpf::features::Version;
use control::{Store, errors};
use diag::{Diagnostic, Diagnostics, SourceMap};
use driver::bpf_target::{self, Compiled, Refused, Request, Trial};
use driver::built::{self, Built, is_object};
use driver::bundle::{self, Bundle, Member, PortSpec};
use driver::hooks;
use ir::Program;
use kernel::budget;
use kernel::build::Obstacle;
use kernel::bundle::Port;
use kernel::features::Kernel;
use kernel::interface;
use kernel::probe::kernel_version;
use schema::Schema;
use std::sync::Arc;
use std::time::Duration;

/// A program that can be loaded.
pub(crate) struct Prepared {
    /// Where it will run.
    pub hook: Hook,
    /// The object.
    pub object: Vec<u8>,
    /// What is where in its maps.
    pub abi: Arc<Abi>,
    /// What it offers the control plane.
    pub schema: Arc<Schema>,
    /// What the object was made of.
    pub origin: Origin,
    /// What goes into its tables.
    pub entries: Checked,
}

/// What an object was made of.
pub(crate) enum Origin {
    /// A program that this command compiled.
    Text(Text),
    /// It was there already. Its code may be for kernels from this version on, if that is newer than this kernel.
    Built(Option<Version>),
}

/// A program that this command compiled.
pub(crate) struct Text {
    /// Its texts.
    pub sources: SourceMap,
    /// The program as elaborated.
    pub program: Arc<Program>,
    /// How long it took us, without clang.
    pub compiler_time: Duration,
    /// Whether other code for it may take the verifier less.
    can_shrink: bool,
    /// Whether the verifier was asked already when it was compiled.
    tried: bool,
}

/// A program as far as its files alone show: what it is, and where it will run.
pub(crate) enum Read {
    /// A P4 program.
    Text {
        /// Where it will run.
        hook: Hook,
        /// Its texts.
        sources: SourceMap,
        /// The program as elaborated.
        program: Arc<Program>,
        /// How long that took.
        took: Duration,
    },
    /// An object.
    Built(Built),
}

impl Read {
    /// Where it will run.
    pub(crate) fn hook(&self) -> Hook {
        match self {
            Read::Text { hook, .. } => *hook,
            Read::Built(built) => built.hook,
        }
    }
}

/// Reads, checks and elaborates a program, or reads an object.
pub(crate) fn read(unit: &Unit, member: &Member) -> Result<Read, Stop> {
    if is_object(&member.source.value) {
        return read_object(unit, member).map(Read::Built);
    }
    let elaborated = elaborate_input(&member.input(), print_diagnostics)?;
    let hook = match &member.hook {
        Some(hook) => hook.value,
        None => hooks::default_hook(&elaborated.program),
    };
    Ok(Read::Text {
        hook,
        sources: elaborated.map,
        program: Arc::new(elaborated.program),
        took: elaborated.took,
    })
}

/// Reads an object that is to run here.
fn read_object(unit: &Unit, member: &Member) -> Result<Built, Stop> {
    let built = built::of_member(member).map_err(|wrong| refused_in(wrong, &unit.map))?;
    let fits = built::check_hook(member, &built);
    let fits = fits.and_then(|()| match built.missing(Kernel::This.features()) {
        Some(missing) => {
            let file = &member.source.value;
            Err(built::errors::newer_kernel(file, missing, kernel_version()))
        }
        None => Ok(()),
    });
    match fits {
        Ok(()) => Ok(built),
        Err(unfit) => {
            print_diagnostics(&unfit.into(), &unit.map);
            Err(Stop::AlreadyReported(2))
        }
    }
}

/// Reads a program's entries, and compiles it if it is not compiled. The verifier sees it when it is loaded.
pub(crate) fn prepare(
    unit: &mut Unit,
    number: usize,
    read: Read,
    progress: &Progress,
) -> Result<Prepared, Stop> {
    match read {
        Read::Text {
            hook,
            sources,
            program,
            took,
        } => {
            let entries = entries::check(unit, number, &Schema::of(&program), progress)?;
            let step = format!("{}: compiling", unit.label(&unit.bundle.programs[number]));
            let compiled = progress.during(&step, || {
                compile(unit, number, hook, &program, &sources, Trial::None)
            });
            let compiled =
                compiled.map_err(|unfit| unfit_for_hook(unit, number, &sources, &unfit))?;
            Ok(Prepared {
                hook,
                object: compiled.object,
                abi: compiled.abi,
                schema: compiled.schema,
                origin: Origin::Text(Text {
                    sources,
                    program,
                    compiler_time: took + compiled.compiler_time,
                    can_shrink: compiled.decisions.can_shrink(),
                    tried: false,
                }),
                entries,
            })
        }
        Read::Built(built) => Ok(Prepared {
            entries: entries::check(unit, number, &built.schema, progress)?,
            hook: built.hook,
            origin: Origin::Built(built.made_for_newer(Kernel::This.features())),
            object: built.object,
            abi: built.abi,
            schema: built.schema,
        }),
    }
}

fn compile(
    unit: &Unit,
    number: usize,
    hook: Hook,
    program: &Program,
    sources: &SourceMap,
    trial: Trial<'_>,
) -> Result<Compiled, Diagnostics> {
    let request = Request {
        externs: &unit.bundle.programs[number].externs,
        trial,
        notice,
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
    /// What it was compiled from, if this command compiled it.
    pub(crate) fn text(&self) -> Option<&Text> {
        match &self.origin {
            Origin::Text(text) => Some(text),
            Origin::Built(_) => None,
        }
    }

    /// How many instructions it has.
    pub(crate) fn instructions(&self) -> u32 {
        budget::read(&self.object)
            .unwrap_or_default()
            .instructions()
    }

    /// Compiles it anew, with the verifier's word on every attempt, if it refused what clang made of the first and
    /// another compilation may overcome this. `false`: it may not, or none did.
    pub(crate) fn try_others(
        &mut self,
        obstacle: Obstacle,
        reason: &str,
        unit: &Unit,
        number: usize,
        progress: &Progress,
    ) -> Result<bool, Stop> {
        let Origin::Text(text) = &mut self.origin else {
            return Ok(false);
        };
        if text.tried || !obstacle.is_surmountable(text.can_shrink) {
            return Ok(false);
        }
        let label = unit.label(&unit.bundle.programs[number]);
        let step =
            format!("{label}: recompiling with other strategies, since the verifier rejected it");
        let trial = Trial::Others(Refused {
            object: &self.object,
            obstacle,
            reason,
        });
        let compiled = progress.during(&step, || {
            compile(unit, number, self.hook, &text.program, &text.sources, trial)
        });
        let compiled =
            compiled.map_err(|unfit| unfit_for_hook(unit, number, &text.sources, &unfit))?;
        text.compiler_time += compiled.compiler_time;
        text.tried = true;
        if compiled.is_refused() && compiled.object == self.object {
            return Ok(false);
        }
        text.can_shrink = compiled.decisions.can_shrink();
        self.object = compiled.object;
        self.abi = compiled.abi;
        self.schema = compiled.schema;
        Ok(true)
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
        for (group, replicas) in &member.ports.groups {
            store
                .set_multicast_group(*group, replicas)
                .map_err(|error| {
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
