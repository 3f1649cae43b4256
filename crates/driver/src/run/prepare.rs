//! Compiles one program to a BPF object, or reads an object from its file, before anything is set up.

use super::Options;
use super::entries::{self, Checked, Filled};
use super::not_started::{NotStarted, Report};
use super::observer::{Observer, Work, during};
use super::twins;
use super::unit::Unit;
use crate::bpf_target::{self, Compiled, Refused, Request, Trial};
use crate::built::{self, Built, is_object};
use crate::bundle::{self, Bundle, BundledProgram, CheckedProgram, PortSpec};
use crate::frontend;
use bpf::abi::{Abi, Hook};
use bpf::features::Version;
use control::{Change, Store, errors};
use diag::{Diagnostic, FileId, SourceMap};
use host::linux::kernel_version;
use ir::Program;
use kernel::budget;
use kernel::build::Obstacle;
use kernel::features::Kernel;
use kernel::port::Port;
use net::interface;
use schema::Schema;
use std::sync::Arc;
use std::time::Duration;

/// A program that can be loaded.
pub(super) struct Prepared {
    /// Hook at which it will run.
    pub hook: Hook,
    /// The object.
    pub object: Vec<u8>,
    /// The layout of its maps.
    pub abi: Arc<Abi>,
    /// Its objects for the control plane.
    pub schema: Arc<Schema>,
    /// The origin of the object.
    pub origin: Origin,
    /// The entries for its tables.
    pub entries: Checked,
}

/// The origin of an object.
pub(super) enum Origin {
    /// A program that this call compiled.
    Text(Text),
    /// An object that was built earlier. The version is the oldest that has all features of its code, if that is
    /// newer than this kernel.
    Built(Option<Version>),
}

/// A program that this call compiled.
pub(super) struct Text {
    /// Its texts.
    pub sources: SourceMap,
    /// The program as elaborated.
    pub program: Arc<Program>,
    /// Time that Onpath took, without clang.
    pub compiler_time: Duration,
    /// True if the verifier may process fewer instructions of the program under another strategy.
    can_shrink: bool,
    /// True if the other strategies have been tried, with the verifier asked about each.
    tried: bool,
}

/// A program as read from its files, before it is compiled.
pub(super) enum Read {
    /// A P4 program.
    Text {
        /// Hook at which it will run.
        hook: Hook,
        /// Its texts.
        sources: SourceMap,
        /// The program as elaborated.
        program: Arc<Program>,
        /// Time from reading the files to the IR.
        took: Duration,
    },
    /// An object.
    Built(Built),
}

impl Read {
    /// Hook at which it will run.
    pub(super) fn hook(&self) -> Hook {
        match self {
            Read::Text { hook, .. } => *hook,
            Read::Built(built) => built.hook,
        }
    }
}

/// Reads, checks and elaborates a program, or reads an object.
pub(super) fn read(
    unit: &Unit,
    member: &BundledProgram,
    observer: &dyn Observer,
) -> Result<Read, NotStarted> {
    if is_object(&member.source.value) {
        return read_object(unit, member).map(Read::Built);
    }
    let elaborated = frontend::elaborate(&member.input()).map_err(|refused| {
        let wrong = match refused.right_elsewhere {
            Some(_) => NotStarted::Unfit,
            None => NotStarted::Wrong,
        };
        wrong(Report {
            diagnostics: refused.diagnostics,
            texts: refused.map,
        })
    })?;
    observer.warn(&elaborated.diagnostics, &elaborated.map);
    Ok(Read::Text {
        hook: member.hook_of(&elaborated.program),
        sources: elaborated.map,
        program: Arc::new(elaborated.program),
        took: elaborated.took,
    })
}

/// Reads an object, and checks that it fits its hook and this kernel.
fn read_object(unit: &Unit, member: &BundledProgram) -> Result<Built, NotStarted> {
    let built = built::of_member(member).map_err(|wrong| NotStarted::wrong(wrong, &unit.map))?;
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
        Err(unfit) => Err(NotStarted::unfit(unfit, &unit.map)),
    }
}

/// Checks a program's entries, and compiles it unless it is an object. `file` holds the entries, if they are in a
/// file of their own.
pub(super) fn prepare(
    unit: &mut Unit,
    (number, file): (usize, Option<FileId>),
    read: Read,
    earlier: &[Prepared],
    options: &Options<'_>,
) -> Result<Prepared, NotStarted> {
    let observer = options.observer;
    let twin = twins::compiled_before(&read, earlier);
    match read {
        Read::Text {
            hook,
            sources,
            program,
            took,
        } => {
            let part = CheckedProgram {
                hook,
                abi: None,
                schema: &Schema::of(&program),
                program: None,
            };
            let entries = entries::check(unit, (number, file), part, observer)?;
            if let Some((twin, text)) = twin {
                return Ok(Prepared {
                    hook,
                    object: twin.object.clone(),
                    abi: Arc::new(twin.abi.at(hook)),
                    schema: Arc::clone(&twin.schema),
                    origin: Origin::Text(Text {
                        sources,
                        program,
                        compiler_time: Duration::ZERO,
                        ..*text
                    }),
                    entries,
                });
            }
            // The verifier checks it when it is loaded.
            let texts = (&*program, &sources);
            let compiled = compile(unit, number, hook, texts, Trial::None, options)?;
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
            entries: entries::check(unit, (number, file), built.part(), observer)?,
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
    (program, sources): (&Program, &SourceMap),
    trial: Trial<'_>,
    options: &Options<'_>,
) -> Result<Compiled, NotStarted> {
    let observer = options.observer;
    let request = Request {
        soon: options.start_soon,
        table_memory: options.table_memory,
        externs: &unit.bundle.programs[number].externs,
        trial,
        notice: &|text| observer.notice(text),
        ..Request::hook(hook)
    };
    let work = match trial {
        Trial::Others(_) => Work::Recompile,
        Trial::None | Trial::Each => Work::Compile,
    };
    let compiled = during(observer, unit.label(number), work, || {
        bpf_target::compile(program, sources, request)
    });
    compiled.map_err(
        |unfit| match bundle::moved_to(&unfit, unit.bundle.hook_span(number)) {
            Some(placed) => NotStarted::unfit(placed, &unit.map),
            None => NotStarted::unfit(unfit, sources),
        },
    )
}

impl Text {
    /// Records that it now has the code of another program.
    pub(super) fn take_after(&mut self, other: &Text) {
        (self.can_shrink, self.tried) = (other.can_shrink, other.tried);
    }
}

impl Prepared {
    /// Returns its text, if this call compiled it.
    pub(super) fn text(&self) -> Option<&Text> {
        match &self.origin {
            Origin::Text(text) => Some(text),
            Origin::Built(_) => None,
        }
    }

    /// Returns the number of its instructions.
    pub(super) fn instructions(&self) -> u32 {
        budget::read(&self.object)
            .unwrap_or_default()
            .instructions()
    }

    /// Compiles it by the other strategies, and asks the verifier about each object. Returns false if no other
    /// compilation can overcome the obstacle, or if all were rejected.
    pub(super) fn try_others(
        &mut self,
        obstacle: Obstacle,
        reason: &str,
        unit: &Unit,
        number: usize,
        options: &Options<'_>,
    ) -> Result<bool, NotStarted> {
        let Origin::Text(text) = &mut self.origin else {
            return Ok(false);
        };
        if text.tried || !obstacle.is_surmountable(text.can_shrink) {
            return Ok(false);
        }
        let trial = Trial::Others(Refused {
            object: &self.object,
            obstacle,
            reason,
        });
        let texts = (&*text.program, &text.sources);
        let compiled = compile(unit, number, self.hook, texts, trial, options)?;
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

    /// Writes its entries and multicast groups. Returns `None` if it has no entries.
    pub(super) fn fill(
        &self,
        unit: &Unit,
        number: usize,
        store: &mut dyn Store,
        observer: &dyn Observer,
    ) -> Result<Option<Filled>, NotStarted> {
        let made = entries::fill(unit, number, &self.entries, store, observer)?;
        let member = &unit.bundle.programs[number];
        for (group, replicas) in &member.ports.groups {
            store
                .change(Change::Group(*group, replicas.clone()))
                .map_err(|error| {
                    let what = format!("multicast group {group} was not made");
                    NotStarted::wrong(errors::store(member.name.span, &what, &error), &unit.map)
                })?;
        }
        Ok(made)
    }
}

/// Present interfaces of a program.
pub(super) struct Interfaces {
    /// Interfaces at which it runs.
    pub ports: Vec<Port>,
    /// Interfaces that it may send packets to besides.
    pub targets: Vec<Port>,
}

/// Looks the interfaces of all programs up, in order.
pub(super) fn interfaces(bundle: &Bundle) -> Result<Vec<Interfaces>, Box<Diagnostic>> {
    let found = |spec: PortSpec| {
        interface::index(&spec.interface).map(|index| Port {
            number: spec.port,
            name: spec.interface,
            index,
        })
    };
    let of = |member: &BundledProgram| {
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
