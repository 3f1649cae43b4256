//! `onpath run`

mod adjusted;
pub(crate) mod entries;
mod load;
pub(crate) mod prepare;
mod specialize;
pub(crate) mod unit;

use super::attached;
use super::changes::Made;
use super::drops::{Lost, lost_by};
use super::instance::mend;
use crate::args::Run;
use crate::output::{Done, Stop, err_line, failed, out_line, print_diagnostics, refused};
use crate::progress::Progress;
use adjusted::Adjusted;
use bpf::abi::Hook;
use diag::{Diagnostic, counted, system_message};
use driver::bundle;
use kernel::Pins;
use kernel::attach::{Mode, TcMethod};
use kernel::bundle::Port;
use kernel::guard::Guard;
use kernel::interface;
use kernel::interrupt::Interrupts;
use kernel::link_settings::{Change, Place};
use kernel::loss::{Kind, Loss};
use kernel::pins::{Loading, Owner};
use prepare::{Interfaces, Prepared};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use unit::Unit;

/// Compiles (unless that is done), loads, fills and attaches a program or the programs of a bundle; then stays until interrupted, or
/// leaves them running. Until the last step everything that went before is undone by going out of scope.
pub(crate) fn run(args: Run) -> Done {
    // Before anything is set up: an interrupt in between waits until it can be undone in order.
    let interrupts = match Interrupts::hold() {
        Ok(interrupts) => interrupts,
        Err(error) => return failed(format!("interrupts could not be held back: {error}")),
    };
    let unit = unit::read(&args)?;
    let how = How {
        method: if args.clsact {
            TcMethod::Clsact
        } else {
            TcMethod::Best
        },
        verbose: args.verbose,
        memory: args.allow_memory,
        ends_with_process: false,
        free_name: None,
        instead: None,
        quiet: args.json,
        detach: args.detach,
        specialize: args.specialize,
        interrupts: &interrupts,
        links: Change::default(),
        adjust: args.adjust,
        last_check: &|| Ok(()),
    };
    let pins = Pins::default();
    mend(&pins)?;
    let mut running = set_up(unit, &pins, how)?;
    let printer = Printer { json: args.json };
    printer.started(&running, args.detach, args.adjust);
    let name = running.name().to_string();
    if args.detach {
        running.leave();
        return Ok(ExitCode::SUCCESS);
    }
    let watchers = specialize::start(&name, std::mem::take(&mut running.origins), args.json);
    let end = wait(&running, &interrupts);
    // Another loading under this name is not ours to report on.
    let lost = match running.is_gone() {
        true => Vec::new(),
        false => lost_by(&pins, &name),
    };
    let ended = running.end()?;
    watchers.stop();
    printer.ended(&name, end, ended, &lost);
    Ok(ExitCode::SUCCESS)
}

/// How often is looked whether what runs is still there.
const LOOK: Duration = Duration::from_millis(200);

/// Why a program that runs in the foreground ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Interrupted,
    DetachedByAnother,
    InterfacesGone,
}

/// Waits for a reason to end.
fn wait(running: &Running, interrupts: &Interrupts) -> End {
    loop {
        match interrupts.wait_for(LOOK) {
            Ok(Some(_)) => return End::Interrupted,
            Ok(None) if running.is_gone() => return End::DetachedByAnother,
            Ok(None) if running.has_no_interface() => return End::InterfacesGone,
            Ok(None) => {}
            Err(error) => {
                err_line!("waiting for an interrupt failed: {error}");
                return End::Interrupted;
            }
        }
    }
}

/// What `onpath run` prints: lines for people, or objects for programs.
struct Printer {
    json: bool,
}

impl Printer {
    fn started(&self, running: &Running, detached: bool, adjusted: bool) {
        let name = running.name();
        if self.json {
            let attached: Vec<Value> = running.attached.iter().map(Running::as_json).collect();
            let filled: Vec<Value> = running.filled.iter().map(Filled::as_json).collect();
            let warnings = running.losses.iter().map(|(label, loss)| {
                let mut value = attached::loss_json(loss);
                value["program"] = json!(label);
                value
            });
            let warnings: Vec<Value> = warnings.collect();
            let adjusted: Vec<Value> = running.adjusted.iter().map(attached::loss_json).collect();
            out_line!(
                "{}",
                json!({
                    "name": name,
                    "state": "running",
                    "detached": detached,
                    "attached": attached,
                    "entries": filled,
                    "adjusted": adjusted,
                    "warnings": warnings,
                })
            );
            return;
        }
        let warnings = running.warnings(|_| true);
        for line in running.report.iter().chain(&warnings) {
            out_line!("{line}");
        }
        let can_change = |(_, loss): &(String, Loss)| loss.at.is_some() && loss.change.is_some();
        if !adjusted && running.losses.iter().any(can_change) {
            out_line!("{name}: `--adjust` makes these settings for as long as the program runs");
        }
        if running
            .losses
            .iter()
            .any(|(_, loss)| loss.kind != Kind::Segments)
        {
            out_line!(
                "{name}: at tc (`--hook tc-ingress`) nothing of that is lost, which is best between containers and virtual machines"
            );
        }
        for filled in &running.filled {
            out_line!("{}", filled.text());
        }
        match detached {
            true => out_line!("{name}: running; `onpath unload {name}` ends it"),
            false => out_line!("{name}: running; interrupt to end"),
        }
    }

    fn ended(&self, name: &str, end: End, ended: Ended, lost: &[Lost]) {
        let by_another = ended == Ended::ByAnother || end == End::DetachedByAnother;
        let reason = match end {
            _ if by_another => "unloaded",
            End::InterfacesGone => "interfaces gone",
            End::Interrupted | End::DetachedByAnother => "interrupted",
        };
        if self.json {
            let mut last = json!({ "name": name, "state": "ended", "reason": reason });
            if !lost.is_empty() {
                last["lost"] = lost.iter().map(Lost::as_json).collect();
            }
            out_line!("{last}");
            return;
        }
        // The terminal shows the interrupt on the line that it is at.
        let first = if end == End::Interrupted { "\n" } else { "" };
        if end == End::InterfacesGone && !by_another {
            out_line!("{name}: the interfaces are gone");
        }
        match by_another {
            true => out_line!("{first}{name}: detached by another command"),
            false => out_line!("{first}{name}: detached"),
        }
        for lost in lost {
            out_line!("{}", lost.text());
        }
    }
}

/// How a unit is set up.
#[derive(Clone, Copy)]
pub(crate) struct How<'a> {
    /// How tc programs are attached.
    pub method: TcMethod,
    /// Whether the kernel's full log is shown if it rejects a program.
    pub verbose: bool,
    /// Bytes that the maps of each program may take; `None` is what is free.
    pub memory: Option<u64>,
    /// Whether it ends with this process even if that is killed.
    pub ends_with_process: bool,
    /// Gives a name that nothing runs under, for a unit whose name need not be the one it came with: while it was compiled and verified,
    /// another command may have taken that. `None`: it is refused then.
    pub free_name: Option<&'a dyn Fn() -> Result<String, Stop>>,
    /// What to do instead if the kernel refuses a program, where the user did not write that.
    pub instead: Option<&'a str>,
    /// Whether steps that take long are not reported.
    pub quiet: bool,
    /// Whether it is to outlive this process.
    pub detach: bool,
    /// Whether its programs are to be specialized to what is in their tables.
    pub specialize: bool,
    /// Interrupts, which are held back from when there is something to take down.
    pub interrupts: &'a Interrupts,
    /// What is changed of each interface at which a program runs, as long as it runs.
    pub links: Change,
    /// Changes the settings at which its programs would lose packets, for as long as it runs.
    pub adjust: bool,
    /// What must hold besides. It is asked before anything is changed, when no other command can change anything.
    pub last_check: &'a dyn Fn() -> Result<(), Box<Diagnostic>>,
}

/// A unit that runs. Dropping it detaches it: so does a command that ends before it could report that it runs.
pub(crate) struct Running<'a> {
    /// What is reported of it, a line each.
    pub report: Vec<String>,
    /// What went into the tables of those of its programs that have entries.
    filled: Vec<Filled>,
    /// Where its programs run.
    attached: Vec<AttachedProgram>,
    /// What those of its programs were compiled from that are to be specialized.
    origins: Vec<specialize::Member>,
    saved: Option<Saved<'a>>,
    /// The losses that settings which were made have ended.
    adjusted: Vec<Loss>,
    /// Losses of its programs at their interfaces.
    losses: Vec<(String, Loss)>,
    // Ends after the program has been detached.
    _guard: Option<Guard>,
}

/// What went into a program's tables.
struct Filled {
    label: String,
    made: Made,
}

impl Filled {
    fn text(&self) -> String {
        format!("{}: {}", self.label, self.made.text())
    }

    fn as_json(&self) -> Value {
        let mut all = self.made.json();
        all.insert("program".to_owned(), json!(self.label));
        Value::Object(all)
    }
}

/// A program at an interface.
struct AttachedProgram {
    label: String,
    port: Port,
    hook: Hook,
    mode: Mode,
}

struct Saved<'a> {
    pins: &'a Pins,
    name: String,
    loading: Loading,
}

/// How a unit came to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ended {
    /// It was detached now.
    Detached,
    /// Another command had detached it.
    ByAnother,
}

impl Running<'_> {
    /// What the other commands know it by.
    pub(crate) fn name(&self) -> &str {
        self.saved.as_ref().map_or("", |saved| &saved.name)
    }

    /// Whether another command has detached it, even if something else runs under its name now.
    pub(crate) fn is_gone(&self) -> bool {
        let saved = self.saved.as_ref();
        saved.is_none_or(|saved| !saved.pins.is_still(&saved.name, saved.loading))
    }

    /// Warnings of its programs' losses, of the kinds that matter: a line each.
    pub(crate) fn warnings(&self, matters: impl Fn(Kind) -> bool) -> Vec<String> {
        let of_one = self.losses.chunk_by(|one, other| one.0 == other.0);
        let lines = of_one.flat_map(|of_one| {
            let all = of_one.iter().map(|(_, loss)| loss);
            let all: Vec<&Loss> = all.filter(|loss| matters(loss.kind)).collect();
            attached::loss_lines(&of_one[0].0, &all)
        });
        lines.collect()
    }

    /// Whether there is no interface any more at which it runs, in whatever network namespace.
    fn has_no_interface(&self) -> bool {
        let Some(saved) = &self.saved else {
            return false;
        };
        let is_there = |program: &AttachedProgram| {
            is_at(saved, program.port.index, program.mode == Mode::Clsact)
        };
        if self.attached.iter().any(is_there) {
            return false;
        }
        // It may have got other ones meanwhile.
        let record = saved.pins.record(&saved.name);
        let mut now = record.iter().flat_map(|record| record.members.iter());
        !now.any(|member| {
            member
                .interfaces
                .iter()
                .any(|at| is_at(saved, at.index, at.filter.is_some()))
        })
    }

    fn as_json(program: &AttachedProgram) -> Value {
        json!({
            "program": program.label,
            "port": program.port.number,
            "interface": program.port.name,
            "hook": program.hook.name(),
            "mode": program.mode.name(),
        })
    }

    /// Leaves it running.
    pub(crate) fn leave(mut self) {
        self.saved = None;
    }

    /// Detaches it, and reports if that fails.
    pub(crate) fn end(mut self) -> Result<Ended, Stop> {
        let ours = self.saved.take().map(|saved| saved.remove());
        match ours.transpose().map_err(refused)? {
            Some(true) => Ok(Ended::Detached),
            Some(false) | None => Ok(Ended::ByAnother),
        }
    }
}

/// Whether a program that was attached at an interface still is.
fn is_at(saved: &Saved<'_>, index: u32, by_filter: bool) -> bool {
    match by_filter {
        // A filter has no link that knows.
        true => interface::name(index).is_some(),
        false => saved.pins.holds(&saved.name, index),
    }
}

impl Saved<'_> {
    /// `false`: somebody else has done so.
    fn remove(&self) -> Result<bool, Box<Diagnostic>> {
        self.pins.remove_loading(&self.name, self.loading)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(saved) = self.saved.take() {
            let _ = saved.remove();
        }
    }
}

/// Compiles, loads, fills and attaches a unit's programs. If anything fails, nothing is changed.
pub(crate) fn set_up<'a>(
    mut unit: Unit,
    pins: &'a Pins,
    how: How<'_>,
) -> Result<Running<'a>, Stop> {
    let progress = Progress::new(how.quiet);
    let at_once = how.interrupts.let_through();
    let at_once =
        at_once.map_err(|e| Stop::Failed(format!("waiting for an interrupt failed: {e}")))?;
    let interfaces = prepare::interfaces(&unit.bundle).map_err(refused)?;
    let attachments = interfaces.iter().map(|i| i.ports.len()).sum();
    let ends_with_us = pins.ends_with_us(attachments);
    if how.detach {
        pins.check_stays(attachments).map_err(refused)?;
    }
    let begun = Instant::now();
    let mut read = Vec::new();
    for member in &unit.bundle.programs {
        read.push(prepare::read(&unit, member)?);
    }
    check_hooks(&unit, &read, &interfaces, pins)?;
    check_method(&unit, &read, how.method)?;
    if how.specialize {
        specialize::check(&unit, &read)?;
    }
    let mut prepared = Vec::new();
    for (number, read) in read.into_iter().enumerate() {
        prepared.push(prepare::prepare(&mut unit, number, read, &progress)?);
    }
    let instances = load::load(&unit, &mut prepared, &how, &progress)?;
    let mut members = load::members(&unit, instances, interfaces);
    let checking: Duration = prepared.iter().map(|p| p.entries.took).sum();
    let took = begun.elapsed().saturating_sub(checking);
    let mut filled = Vec::new();
    for (number, (member, prepared)) in members.iter_mut().zip(&prepared).enumerate() {
        let made = prepared.fill(&unit, number, &mut member.instance.store, &progress)?;
        let label = unit.label(&unit.bundle.programs[number]);
        filled.extend(made.map(|made| Filled { label, made }));
    }
    kernel::bundle::connect(&members).map_err(refused)?;
    // From here on an interrupt waits until what is set up can be taken down.
    drop(at_once);
    let guard = match how.ends_with_process && !how.detach {
        true => Some(Guard::start().map_err(|error| {
            Stop::Failed(format!(
                "a process that cleans up if this one is killed could not be started: {}",
                system_message(&error)
            ))
        })?),
        false => None,
    };
    let mut pending = loop {
        if let Some(free_name) = how.free_name {
            unit.name = free_name()?;
        }
        match pins.begin(&unit.name) {
            Err(_) if how.free_name.is_some() && pins.check_free(&unit.name).is_err() => continue,
            begun => break begun.map_err(refused)?,
        }
    };
    if guard.is_some()
        && let Ok(this) = Owner::this()
    {
        pending.end_with(this);
    }
    (how.last_check)().map_err(refused)?;
    if how.links != Change::default() {
        let ports = members.iter().flat_map(|member| &member.ports);
        let links: BTreeMap<u32, &str> = ports.map(|p| (p.index, p.name.as_str())).collect();
        for (index, name) in links {
            pending
                .change_link(&Place::here(name, index), how.links)
                .map_err(refused)?;
        }
    }
    let mut adjusted = Adjusted::default();
    if how.adjust {
        // So that a program that only sends there may run natively.
        adjusted.sent(&mut pending, &members);
    }
    let running = kernel::bundle::attach(&members, how.method).map_err(refused)?;
    let lines: Vec<String> = running
        .iter()
        .flat_map(|a| {
            let label = unit.label(&unit.bundle.programs[a.member]);
            let hook = prepared[a.member].hook.name();
            attached::lines(&label, &a.port, hook, &a.attached.how)
        })
        .collect();
    let at = running.iter().map(|a| AttachedProgram {
        label: unit.label(&unit.bundle.programs[a.member]),
        port: a.port.clone(),
        hook: prepared[a.member].hook,
        mode: a.attached.how.mode,
    });
    let at: Vec<AttachedProgram> = at.collect();
    let modes = running
        .iter()
        .map(|a| ((a.member, a.port.number), a.attached.how.mode));
    let modes: HashMap<(usize, u32), Mode> = modes.collect();
    let mode = |number: usize, port: &Port| modes.get(&(number, port.number)).copied();
    if how.adjust {
        adjusted.all(&mut pending, kernel::bundle::losses(&members, mode));
    }
    let loading = pending.commit(&members, running).map_err(refused)?;
    let losses = kernel::bundle::losses(&members, mode);
    let label = |number: usize| unit.label(&unit.bundle.programs[number]);
    let losses = losses
        .into_iter()
        .map(|(number, loss)| (label(number), loss));
    let losses: Vec<(String, Loss)> = losses.collect();

    let instructions = prepared.iter().map(Prepared::instructions).sum::<u32>();
    let instructions = counted(instructions, "instruction");
    let compiled: Vec<Duration> = prepared
        .iter()
        .filter_map(|p| Some(p.text()?.compiler_time))
        .collect();
    let origins = match how.specialize {
        true => specialize::members(&unit, prepared),
        false => Vec::new(),
    };
    let name = unit.name;
    let took = took.as_millis();
    let mut report = vec![match compiled.is_empty() {
        true => format!("{name}: loaded in {took} ms, {instructions}"),
        false => format!(
            "{name}: compiled and loaded in {took} ms (compiler {} ms), {instructions}",
            compiled.iter().sum::<Duration>().as_millis(),
        ),
    }];
    report.extend(lines);
    report.extend(adjusted.lines(&name));
    if !how.detach && ends_with_us {
        report.push(format!(
            "{name}: not visible to commands outside this mount namespace (`ip netns exec` creates one for each \
             command; `nsenter --net=/run/netns/NAME` does not)"
        ));
    }
    Ok(Running {
        report,
        filled,
        adjusted: adjusted.made,
        losses,
        attached: at,
        origins,
        saved: Some(Saved {
            pins,
            name,
            loading,
        }),
        _guard: guard,
    })
}

/// What can be known before clang is started: whether this process may do it, and whether there is room.
fn check_hooks(
    unit: &Unit,
    read: &[prepare::Read],
    interfaces: &[Interfaces],
    pins: &Pins,
) -> Result<(), Stop> {
    let hooks: Vec<Hook> = read.iter().map(prepare::Read::hook).collect();
    let attachments = interfaces.iter().map(|i| i.ports.len()).sum();
    kernel::bundle::check_rights(&hooks, attachments).map_err(refused)?;
    pins.check_free(&unit.name).map_err(refused)?;
    bundle::check_room(&unit.bundle, &hooks).map_err(|clashes| {
        print_diagnostics(&clashes, &unit.map);
        Stop::AlreadyReported(1)
    })?;
    let wanted: Vec<(Hook, &[Port])> = hooks
        .iter()
        .zip(interfaces)
        .map(|(hook, at)| (*hook, at.ports.as_slice()))
        .collect();
    kernel::bundle::check_hooks(pins, &wanted).map_err(refused)
}

/// Fails if `--clsact` is given and no program runs at tc.
fn check_method(unit: &Unit, read: &[prepare::Read], method: TcMethod) -> Result<(), Stop> {
    if method == TcMethod::Clsact && read.iter().all(|program| program.hook() == Hook::Xdp) {
        return Err(Stop::Usage(format!(
            "`--clsact` is for programs at tc, and {} runs by XDP: omit it, or add `--hook tc-ingress`",
            unit.name
        )));
    }
    Ok(())
}
