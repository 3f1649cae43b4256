//! One program from its text to a BPF object, or an object from its file, before anything is set up.

use super::Options;
use super::entries::{self, Checked, Filled};
use super::not_started::{NotStarted, Report};
use super::observer::{Observer, Work, during};
use super::twins;
use super::unit::Unit;
use crate::bpf_target::{self, Compiled, Refused, Request, Trial};
use crate::built::{self, Built, is_object};
use crate::bundle::{self, Bundle, Member, Part, PortSpec};
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
    /// The hook at which it will run.
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
    /// It was there already. Its code may be for kernels from this version on, if that is newer than this kernel.
    Built(Option<Version>),
}

/// A program that this call compiled.
pub(super) struct Text {
    /// Its texts.
    pub sources: SourceMap,
    /// The program as elaborated.
    pub program: Arc<Program>,
    /// The time that it took us, without clang.
    pub compiler_time: Duration,
    /// Set if other code for it may take the verifier less.
    can_shrink: bool,
    /// Set if the verifier was asked already when it was compiled.
    tried: bool,
}

/// A program as far as its files alone show: what it is, and where it will run.
pub(super) enum Read {
    /// A P4 program.
    Text {
        /// The hook at which it will run.
        hook: Hook,
        /// Its texts.
        sources: SourceMap,
        /// The program as elaborated.
        program: Arc<Program>,
        /// The time that this took.
        took: Duration,
    },
    /// An object.
    Built(Built),
}

impl Read {
    /// The hook at which it will run.
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
    member: &Member,
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

/// Reads an object that is to run here.
fn read_object(unit: &Unit, member: &Member) -> Result<Built, NotStarted> {
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

/// Checks a program's entries, which are in this file if they have one, and compiles it if it is not compiled.
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
            let part = Part {
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
            // The verifier sees it when it is loaded.
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
    /// Notes that it has the code of another one now.
    pub(super) fn take_after(&mut self, other: &Text) {
        (self.can_shrink, self.tried) = (other.can_shrink, other.tried);
    }
}

impl Prepared {
    /// Its text, if this call compiled it.
    pub(super) fn text(&self) -> Option<&Text> {
        match &self.origin {
            Origin::Text(text) => Some(text),
            Origin::Built(_) => None,
        }
    }

    /// The number of its instructions.
    pub(super) fn instructions(&self) -> u32 {
        budget::read(&self.object)
            .unwrap_or_default()
            .instructions()
    }

    /// Compiles it anew, with the verifier's word on every attempt, if it refused what clang made of the first and
    /// another compilation may overcome this. `false`: it may not, or none did.
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

    /// Puts its entries and multicast groups in. `None`: it has no entries.
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

/// A program's interfaces as they are now.
pub(super) struct Interfaces {
    /// The interfaces at which it runs.
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
