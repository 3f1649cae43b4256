//! Starts a program, or several that run as one, from their texts.
//!
//! ```text
//! Unit     what is to run: a bundle, a program, an object, or a text at several hooks
//! Options  how, and who gets reports
//! start    read, check, compile, load, fill, connect, adjust, attach, pin
//! Running  what runs now, until it is ended, left, or dropped
//! ```
//!
//! Until the last step, each step is undone when its value goes out of scope.

mod adjusted;
mod entries;
mod load;
mod not_started;
mod observer;
mod prepare;
mod running;
mod twins;
mod unchanged;
mod unit;

pub use adjusted::Adjusted;
pub use entries::Filled;
pub use not_started::{NotStarted, Rejected, Report, Unsuited};
pub use observer::{Observer, ProgressStep, Silent, Work};
pub use running::{Attached, Ended, Running};
pub use unit::{Alone, AtHooks, Unit};

use crate::bundle;
use crate::specialize::{Origin, Specializable};
use bpf::abi::Hook;
use diag::{Diagnostic, system_message};
use host::interrupt::Interrupts;
use kernel::Pins;
use kernel::attachment::{Mode, TcMethod, TcOrder};
use kernel::bundle::{Attachment, LoadedProgram};
use kernel::guard::Guard;
use kernel::loss::Loss;
use kernel::pins::{Asked, Begun, Owner};
use kernel::port::Port;
use net::link_settings::{Change, InterfaceLocation};
use prepare::{Interfaces, Prepared, Read};
use running::Saved;
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// Lifetime of a running unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lasts {
    /// Until it is ended. It outlives a process that is killed.
    UntilEnded,
    /// As long as this process, even if that is killed. It starts its own executable as a guard, which must call
    /// [`kernel::guard::keep`] when its only argument is [`kernel::guard::ARGUMENT`].
    WithProcess,
    /// Beyond this process, which calls [`Running::leave`].
    Detached,
}

/// Options of a start.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Method by which tc programs are attached.
    pub method: TcMethod,
    /// Position of its programs among others at traffic control.
    pub order: &'a TcOrder,
    /// Bytes that the maps of each program may take; `None` is the free memory.
    pub memory: Option<u64>,
    /// Bytes that each table may take for a faster search, instead of the default.
    pub table_memory: Option<u64>,
    /// Lifetime of the unit.
    pub lasts: Lasts,
    /// Returns a free name, for a unit that may get another name. Its own may have been taken by another command
    /// during compilation. If `None`, a unit whose name is taken is refused.
    pub free_name: Option<&'a dyn Fn() -> Result<String, Box<Diagnostic>>>,
    /// Keeps the input of [`Watchers`](crate::specialize::Watchers) in [`Running::origins`].
    pub specialize: bool,
    /// Interrupts, which are held back as soon as there is something to clean up. Until then they end the process.
    pub interrupts: Option<&'a Interrupts>,
    /// Settings that are changed on each interface of a program, while it runs.
    pub links: Change,
    /// Changes, while it runs, the settings at which its programs would lose packets.
    pub adjust: bool,
    /// Prefers code that the verifier is expected to accept over faster code that it may reject.
    pub start_soon: bool,
    /// Additional condition. It is checked before anything is changed, while other commands are locked out.
    pub last_check: &'a dyn Fn() -> Result<(), Box<Diagnostic>>,
    /// Receiver of progress reports.
    pub observer: &'a dyn Observer,
}

impl Default for Options<'_> {
    /// Returns options for a unit that runs until it is ended, without reports.
    fn default() -> Self {
        Options {
            method: TcMethod::Best,
            order: &TcOrder::Last,
            memory: None,
            table_memory: None,
            lasts: Lasts::UntilEnded,
            free_name: None,
            specialize: false,
            interrupts: None,
            links: Change::default(),
            adjust: false,
            start_soon: false,
            last_check: &|| Ok(()),
            observer: &Silent,
        }
    }
}

/// A unit whose programs are loaded and have their entries, but are not attached yet.
struct Loaded {
    unit: Unit,
    prepared: Vec<Prepared>,
    members: Vec<LoadedProgram>,
    filled: Vec<Filled>,
    took: Duration,
    asked: Vec<Asked>,
}

/// Compiles, loads and attaches a unit's programs, with their entries. If anything fails, nothing is changed.
pub fn start<'a>(
    unit: Unit,
    pins: &'a Pins,
    options: &Options<'_>,
) -> Result<Running<'a>, NotStarted> {
    let at_once = options.interrupts.map(Interrupts::let_through).transpose();
    let at_once =
        at_once.map_err(|e| NotStarted::Failed(format!("waiting for an interrupt failed: {e}")))?;
    let interfaces = prepare::interfaces(&unit.bundle)?;
    let attachments = interfaces.iter().map(|i| i.ports.len()).sum();
    let ends_with_us = pins.ends_with_us(attachments);
    if options.lasts == Lasts::Detached {
        pins.check_stays(attachments)?;
    }
    let mut loaded = load(unit, pins, interfaces, options)?;
    // From here on an interrupt waits until what is set up can be taken down.
    drop(at_once);
    let guard = (options.lasts == Lasts::WithProcess).then(guard);
    let guard = guard.transpose()?;
    let mut pending = begin(&mut loaded.unit, pins, options)?;
    if guard.is_some()
        && let Ok(this) = Owner::this()
    {
        pending.end_with(this);
    }
    pending.was_asked(std::mem::take(&mut loaded.asked));
    (options.last_check)()?;
    change_links(&mut pending, &loaded.members, options.links)?;
    let mut adjusted = Adjusted::default();
    if options.adjust {
        // This lets a program that only sends there run natively.
        adjusted.sent(&mut pending, &loaded.members);
    }
    pending.in_order(options.order.clone());
    let members = &loaded.members;
    let running =
        kernel::bundle::attach_in_order(members, options.method, Some((pins, options.order)))?;
    let modes = modes(&running);
    let mode = |number: usize, port: &Port| modes.get(&(number, port.number)).copied();
    if options.adjust {
        adjusted.all(&mut pending, kernel::bundle::losses(&loaded.members, mode));
    }
    let attached = attached(&loaded, &running);
    let loading = pending.commit(&loaded.members, running)?;
    let losses = kernel::bundle::losses(&loaded.members, mode).into_iter();
    let losses = losses.map(|(number, loss)| (loaded.unit.label(number), loss));
    let losses: Vec<(String, Loss)> = losses.collect();

    let Loaded {
        unit,
        prepared,
        filled,
        took,
        ..
    } = loaded;
    let compiled = prepared
        .iter()
        .filter_map(|p| Some(p.text()?.compiler_time));
    let compiler_time = compiled.reduce(|sum, time| sum + time);
    Ok(Running {
        attached,
        filled,
        adjusted,
        losses,
        instructions: prepared.iter().map(Prepared::instructions).sum(),
        took,
        compiler_time,
        hidden: options.lasts != Lasts::Detached && ends_with_us,
        origins: match options.specialize {
            true => specializable(&unit, prepared, options),
            false => Vec::new(),
        },
        saved: Some(Saved {
            pins,
            name: unit.name,
            loading,
        }),
        _guard: guard,
    })
}

/// Reads, checks, compiles and loads programs, writes their entries, and connects their ports.
fn load(
    mut unit: Unit,
    pins: &Pins,
    interfaces: Vec<Interfaces>,
    options: &Options<'_>,
) -> Result<Loaded, NotStarted> {
    let observer = options.observer;
    let begun = Instant::now();
    let mut read = Vec::new();
    for (number, member) in unit.bundle.programs.iter().enumerate() {
        let known = twins::read_before(&unit.bundle, number, &read);
        read.push(known.map_or_else(|| prepare::read(&unit, member, observer), Ok)?);
    }
    let entries = entries::open(&mut unit)?;
    let asked = unchanged::asked(&unit, &read, &entries, options);
    check_hooks(&unit, &read, &interfaces, pins, options, &asked)?;
    check_options(&unit, &read, options)?;
    let mut prepared = Vec::new();
    for (number, (read, entries)) in read.into_iter().zip(entries).enumerate() {
        let of = (number, entries);
        let done = prepare::prepare(&mut unit, of, read, &prepared, options)?;
        prepared.push(done);
    }
    let instances = load::load(&unit, &mut prepared, options)?;
    let mut members = load::members(&unit, instances, interfaces);
    let checking: Duration = prepared.iter().map(|p| p.entries.took).sum();
    let took = begun.elapsed().saturating_sub(checking);
    let mut filled = Vec::new();
    for (number, (member, prepared)) in members.iter_mut().zip(&prepared).enumerate() {
        let store = &mut member.instance.store;
        filled.extend(prepared.fill(&unit, number, store, observer)?);
    }
    kernel::bundle::connect(&members)?;
    Ok(Loaded {
        unit,
        prepared,
        members,
        filled,
        took,
        asked,
    })
}

/// Makes the checks that are possible before clang is started: the rights of this process, and free hooks.
fn check_hooks(
    unit: &Unit,
    read: &[Read],
    interfaces: &[Interfaces],
    pins: &Pins,
    options: &Options<'_>,
    asked: &[Asked],
) -> Result<(), NotStarted> {
    let hooks: Vec<Hook> = read.iter().map(Read::hook).collect();
    let attachments = interfaces.iter().map(|i| i.ports.len()).sum();
    kernel::bundle::check_rights(&hooks, attachments)?;
    unchanged::check(unit, interfaces, pins, options, asked)?;
    bundle::check_room(&unit.bundle, &hooks)
        .map_err(|clashes| NotStarted::wrong(clashes, &unit.map))?;
    let wanted: Vec<(Hook, &[Port])> = hooks
        .iter()
        .zip(interfaces)
        .map(|(hook, at)| (*hook, at.ports.as_slice()))
        .collect();
    Ok(kernel::bundle::check_hooks(pins, &wanted)?)
}

/// Refuses options that do not go with the programs.
fn check_options(unit: &Unit, read: &[Read], options: &Options<'_>) -> Result<(), NotStarted> {
    let only_at_tc = match options.order {
        _ if options.method == TcMethod::Clsact => Some("--clsact"),
        TcOrder::Before(_) => Some("--before"),
        TcOrder::After(_) => Some("--after"),
        TcOrder::Last | TcOrder::NearestWire => None,
    };
    if let Some(flag) = only_at_tc.filter(|_| read.iter().all(|read| read.hook() == Hook::Xdp)) {
        let name = unit.name.clone();
        return Err(NotStarted::Unsuited(Unsuited::NothingAtTc { name, flag }));
    }
    let mut all = unit.bundle.programs.iter().zip(read);
    match all.find(|(_, read)| matches!(read, Read::Built(_))) {
        Some((member, _)) if options.specialize => {
            let object = member.source.value.clone();
            Err(NotStarted::Unsuited(Unsuited::NoText { object }))
        }
        _ => Ok(()),
    }
}

fn guard() -> Result<Guard, NotStarted> {
    Guard::start().map_err(|error| {
        NotStarted::Failed(format!(
            "a process that cleans up if this one is killed could not be started: {}",
            system_message(&error)
        ))
    })
}

/// Locks out other commands. A unit whose name is taken gets another one, if the options allow that.
fn begin<'a>(
    unit: &mut Unit,
    pins: &'a Pins,
    options: &Options<'_>,
) -> Result<Begun<'a>, NotStarted> {
    loop {
        if let Some(free_name) = options.free_name {
            unit.name = free_name()?;
        }
        match pins.begin(&unit.name) {
            Err(_) if options.free_name.is_some() && pins.check_free(&unit.name).is_err() => {}
            begun => return Ok(begun?),
        }
    }
}

/// Changes the settings of the interfaces at which programs will run.
fn change_links(
    pending: &mut Begun<'_>,
    members: &[LoadedProgram],
    links: Change,
) -> Result<(), NotStarted> {
    if links == Change::default() {
        return Ok(());
    }
    let ports = members.iter().flat_map(|member| &member.ports);
    let all: BTreeMap<u32, &str> = ports.map(|p| (p.index, p.name.as_str())).collect();
    for (index, name) in all {
        pending.change_link(&InterfaceLocation::here(name, index), links)?;
    }
    Ok(())
}

/// Returns the mode in which each program runs at each of its ports.
fn modes(running: &[Attachment]) -> HashMap<(usize, u32), Mode> {
    let modes = running
        .iter()
        .map(|a| ((a.member, a.port.number), a.attached.how.mode));
    modes.collect()
}

fn attached(loaded: &Loaded, running: &[Attachment]) -> Vec<Attached> {
    let at = running.iter().map(|a| Attached {
        program: loaded.unit.label(a.member),
        port: a.port.clone(),
        hook: loaded.prepared[a.member].hook,
        how: a.attached.how.clone(),
    });
    at.collect()
}

/// Returns the programs of a unit that this call compiled. Those that were objects already cannot be specialized.
fn specializable(
    unit: &Unit,
    prepared: Vec<Prepared>,
    options: &Options<'_>,
) -> Vec<Specializable> {
    let one = |(number, prepared): (usize, Prepared)| {
        let member = &unit.bundle.programs[number];
        let prepare::Origin::Text(text) = prepared.origin else {
            return None;
        };
        Some(Specializable {
            name: member.name.value.clone(),
            program: unit.label(number),
            origin: Origin {
                program: text.program,
                sources: text.sources,
                hook: prepared.hook,
                externs: member.externs.clone(),
                table_memory: options.table_memory,
            },
        })
    };
    prepared.into_iter().enumerate().filter_map(one).collect()
}
