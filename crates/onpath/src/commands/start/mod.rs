//! `onpath run`

mod specialize;
mod unit;

use super::attached;
use super::changes::made_json;
use super::drops::{Lost, lost_by};
use super::instance::mend;
use super::started;
use crate::args::Run;
use crate::output::{Done, Stop, err_line, failed, out_line, refused};
use crate::progress::Progress;
use driver::run::{Attached, Ended, Filled, Lasts, NotStarted, Options, Running, Unit};
use driver::specialize::Watchers;
use host::interrupt::{Interrupts, Signal};
use kernel::Pins;
use kernel::attachment::{TcMethod, TcOrder};
use kernel::keeper::{self, Keeper};
use kernel::loss::{Loss, LossKind};
use serde_json::{Value, json};
use std::io;
use std::process::ExitCode;
use std::time::Duration;

/// Compiles, loads and attaches a program or the programs of a bundle, with their entries. Then waits for an
/// interrupt, or leaves them running.
pub(crate) fn run(args: Run) -> Done {
    let interrupts = hold()?;
    let unit = unit::read(&args)?;
    let order = match (&args.before, &args.after) {
        (Some(name), _) => TcOrder::Before(name.clone()),
        (None, Some(name)) => TcOrder::After(name.clone()),
        (None, None) => TcOrder::Last,
    };
    let options = Options {
        method: match args.clsact {
            true => TcMethod::Clsact,
            false => TcMethod::Best,
        },
        order: &order,
        memory: args.allow_memory,
        table_memory: args.table_memory,
        specialize: args.specialize,
        adjust: args.adjust,
        ..Options::default()
    };
    let settings = Settings {
        detach: args.detach,
        verbose: args.verbose,
        json: args.json,
        or_else: |_| String::new(),
    };
    start(unit, &interrupts, options, settings, &mut |_, _| false)
}

/// Holds interrupts back. It comes before anything is set up, so that this can be undone in order.
pub(crate) fn hold() -> Result<Interrupts, Stop> {
    Interrupts::hold()
        .map_err(|error| Stop::Failed(format!("interrupts could not be held back: {error}")))
}

/// Flags of a command that starts a unit, as far as they concern the command and not the unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// True if the unit is left running.
    pub(crate) detach: bool,
    /// True if the kernel's log is shown if it rejects a program.
    pub(crate) verbose: bool,
    /// True if reports are JSON.
    pub(crate) json: bool,
    /// Advice for a unit that runs already, besides unloading it: a sentence part that is said of its name.
    pub(crate) or_else: fn(&str) -> String,
}

/// Work of a command while its unit runs in the foreground. It gets the instance's name and a signal that came; without
/// one it is called a few times a second. Returns true if the unit goes on in spite of the signal.
pub(crate) type Meanwhile<'a> = dyn FnMut(&str, Option<Signal>) -> bool + 'a;

/// Starts a unit. Then waits for an interrupt, or leaves it running. Until the last step, each step is undone when its
/// value goes out of scope.
pub(crate) fn start(
    unit: Unit,
    interrupts: &Interrupts,
    options: Options<'_>,
    args: Settings,
    meanwhile: &mut Meanwhile<'_>,
) -> Done {
    let options = Options {
        lasts: match args.detach {
            true => Lasts::Detached,
            false => Lasts::UntilEnded,
        },
        interrupts: Some(interrupts),
        observer: &Progress::new(args.json),
        ..options
    };
    let pins = Pins::default();
    mend(&pins)?;
    let printer = Printer { json: args.json };
    let mut running = match driver::run::start(unit, &pins, &options) {
        Ok(running) => running,
        Err(NotStarted::Unchanged { name }) => {
            printer.unchanged(&name, &(args.or_else)(&name));
            return Ok(ExitCode::SUCCESS);
        }
        Err(why) => return Err(started::not_started(why, args.verbose, None)),
    };
    printer.started(&running, args.detach, options.adjust);
    let name = running.name().to_string();
    if args.detach {
        running.leave();
        if let Err(error) = keeper::start(&name) {
            err_line!("warning: {}", not_followed(&name, &error));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let keeper = Keeper::start(&pins, &name);
    if let Err(error) = &keeper {
        err_line!("warning: {}", not_followed(&name, error));
    }
    let origins = std::mem::take(&mut running.origins);
    let (instance, json) = (name.clone(), args.json);
    let watchers = Watchers::start(&pins, &name, origins, move |program, what| {
        specialize::print(&instance, program, &what, json);
    });
    let end = wait(&running, interrupts, meanwhile);
    drop(keeper);
    // Another instance under this name is not this command's to report on.
    let lost = match running.is_gone() {
        true => Vec::new(),
        false => lost_by(&pins, &name),
    };
    let ended = running.end().map_err(refused)?;
    drop(watchers);
    printer.ended(&name, end, ended, &lost);
    match end == End::InterfacesGone && ended == Ended::Detached {
        true => failed(format!(
            "{name} ended because all of its interfaces are gone"
        )),
        false => Ok(ExitCode::SUCCESS),
    }
}

fn not_followed(name: &str, error: &io::Error) -> String {
    format!(
        "if an interface of {name} is deleted and made anew, it will not run there by itself: {}",
        diag::system_message(error)
    )
}

/// Time between two checks that the unit still runs.
const LOOK: Duration = Duration::from_millis(200);

/// Reason why a program in the foreground ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Interrupted,
    DetachedByAnother,
    InterfacesGone,
}

/// Waits for a reason to end.
fn wait(running: &Running<'_>, interrupts: &Interrupts, meanwhile: &mut Meanwhile<'_>) -> End {
    loop {
        let signal = interrupts.wait_for(LOOK);
        if let Ok(signal) = signal
            && meanwhile(running.name(), signal)
        {
            continue;
        }
        match signal {
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

/// Output of `onpath run`: lines of text, or JSON objects.
struct Printer {
    json: bool,
}

impl Printer {
    fn started(&self, running: &Running<'_>, detached: bool, adjusted: bool) {
        let name = running.name();
        if self.json {
            let attached: Vec<Value> = running.attached.iter().map(attached_json).collect();
            let filled: Vec<Value> = running.filled.iter().map(filled_json).collect();
            let warnings = running.losses.iter().map(|(label, loss)| {
                let mut value = attached::loss_json(loss);
                value["program"] = json!(label);
                value
            });
            let warnings: Vec<Value> = warnings.collect();
            let adjusted = running.adjusted.made.iter().map(attached::loss_json);
            let adjusted: Vec<Value> = adjusted.collect();
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
        let warnings = started::warnings(running, |_| true);
        for line in started::started(running).iter().chain(&warnings) {
            out_line!("{line}");
        }
        let can_change = |(_, loss): &(String, Loss)| loss.at.is_some() && loss.change.is_some();
        if !adjusted && running.losses.iter().any(can_change) {
            out_line!("{name}: `--adjust` makes these settings for as long as the program runs");
        }
        if running
            .losses
            .iter()
            .any(|(_, loss)| loss.kind != LossKind::Segments)
        {
            out_line!(
                "{name}: at tc (`--target tc-ingress`) nothing of that is lost, which is best between containers and virtual machines"
            );
        }
        for filled in &running.filled {
            out_line!("{}", started::filled(filled));
        }
        match detached {
            true => out_line!("{name}: running; `onpath unload {name}` ends it"),
            false => out_line!("{name}: running; interrupt to end"),
        }
    }

    fn unchanged(&self, name: &str, or_else: &str) {
        match self.json {
            true => out_line!("{}", json!({ "name": name, "state": "unchanged" })),
            false => {
                out_line!(
                    "{name}: unchanged: it runs already; `onpath unload {name}` ends it{or_else}"
                )
            }
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
        match by_another {
            true => out_line!("{first}{name}: detached by another command"),
            false => out_line!("{first}{name}: detached"),
        }
        for lost in lost {
            out_line!("{}", lost.text());
        }
    }
}

fn attached_json(program: &Attached) -> Value {
    json!({
        "program": program.program,
        "port": program.port.number,
        "interface": program.port.name,
        "target": program.hook.name(),
        "mode": program.how.mode.name(),
    })
}

fn filled_json(filled: &Filled) -> Value {
    let mut all = made_json(filled.changes, filled.took);
    all.insert("program".to_owned(), json!(filled.program));
    Value::Object(all)
}
