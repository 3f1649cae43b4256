//! A query on the packets of an interface, on their path: its program runs at the interface's hooks, and here its
//! figures are read from memory that is mapped.

use super::args::{Direction, Ingress, Query};
use super::show::{Schedule, Show};
use crate::commands::instance::mend;
use crate::commands::started;
use crate::output::{Done, Reading, Stop, err_line, refused, refused_in};
use crate::progress::Progress;
use bpf::abi::Hook;
use control::{StoreError, errors};
use diag::{Diagnostic, SourceMap, Span};
use driver::run::{AtHooks, Ended, Lasts, Options, Running, Unit};
use kernel::interrupt::Interrupts;
use kernel::loss::Kind;
use kernel::{Pins, interface};
use std::process::ExitCode;
use std::time::Duration;
use telemetry::{Field, Messages, Stores};

/// How often is looked whether the interface is still there, and the program still at it.
const LOOK: Duration = Duration::from_millis(200);

/// Runs the program, and shows its figures until that is enough.
pub(super) fn run(
    args: &Query,
    device: &str,
    (query, messages, map): (&telemetry::Query, &dyn Messages, &SourceMap),
    mut show: Show,
    interrupts: &Interrupts,
) -> Done {
    let refused_query = |wrong| refused_in(wrong, map);
    let most = args.groups.map(|most| most as usize);
    let most = most.unwrap_or_else(|| groups(query));
    let text = telemetry::program(query, &args.query, messages, most).map_err(refused_query)?;
    let index = interface::index(device).map_err(refused)?;
    let hooks = hooks(args, device)?;
    kernel::bundle::check_rights(&hooks, hooks.len()).map_err(refused)?;
    let pins = Pins::default();
    mend(&pins)?;
    let free_name = || free_name(&pins, device);
    let name = match &args.name {
        Some(name) => name.clone(),
        None => free_name().map_err(refused)?,
    };
    let options = Options {
        lasts: Lasts::WithProcess,
        free_name: args.name.is_none().then_some(&free_name),
        interrupts: Some(interrupts),
        observer: &Progress::new(false),
        ..Options::default()
    };
    let members: Vec<(&str, Hook)> = hooks.iter().map(|&hook| (member(hook), hook)).collect();
    let unit = Unit::at_hooks(AtHooks {
        name,
        called: "program of the query",
        text: text.into(),
        interface: device,
        hooks: &members,
        shared: telemetry::objects_of(query, messages),
    });
    let instead = "`--off-path` answers the query whatever the kernel refuses";
    let running = driver::run::start(unit, &pins, &options)
        .map_err(|why| started::not_started(why, args.verbose, Some(instead)))?;
    let name = running.name().to_owned();
    let shows_tags = query
        .attributes
        .iter()
        .any(|a| a.field() == Some(Field::VlanId));
    let warnings = started::warnings(&running, |kind| kind != Kind::Tags || shows_tags);
    for line in started::started(&running).iter().chain(&warnings) {
        err_line!("{line}");
    }
    err_line!("{name}: running; interrupt to end");
    let mut stores = Vec::new();
    for &hook in &hooks {
        let (_, store) = pins.open(&name, Some(member(hook))).map_err(refused)?;
        stores.push(store);
    }
    let mut stores = Stores(stores);
    let mut reading = telemetry::Reading::new(query.clone());
    let mut schedule = Schedule::begin(args);
    let end = loop {
        let interrupted = interrupts
            .wait_for(schedule.wait().min(LOOK))
            .map_err(|e| Stop::Failed(format!("waiting for an interrupt failed: {e}")))?
            .is_some();
        let gone = gone(&running, index);
        let last = interrupted || gone.is_some() || schedule.is_over();
        if !last && !schedule.is_due() {
            continue;
        }
        let (seconds, elapsed) = schedule.take();
        let report = reading.report(&mut stores, seconds);
        let report = match report {
            Err(StoreError::Unloaded) => break Some(End::ByAnother),
            report => report.map_err(|error| {
                let what = "the figures could not be read";
                refused(errors::store(Span::NONE, what, &error))
            })?,
        };
        let shown = show.report(&report, 0, elapsed)?;
        if last || shown == Reading::Over {
            break gone;
        }
    };
    match (end, running.end().map_err(refused)?) {
        (Some(End::InterfaceGone), _) => err_line!("{name}: the interface is gone"),
        (Some(End::ByAnother), _) | (None, Ended::ByAnother) => {
            err_line!("{name}: detached by another command");
        }
        (None, Ended::Detached) => err_line!("{name}: detached"),
    }
    Ok(ExitCode::SUCCESS)
}

/// What ended it from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    ByAnother,
    InterfaceGone,
}

fn gone(running: &Running<'_>, index: u32) -> Option<End> {
    if running.is_gone() {
        return Some(End::ByAnother);
    }
    interface::name(index)
        .is_none()
        .then_some(End::InterfaceGone)
}

/// How many groups there is room for where nothing else is asked for, each of this machine's processors having figures of its own.
pub(super) fn groups(query: &telemetry::Query) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    telemetry::groups_on_path(query, processors)
}

/// The hooks at which the program runs.
fn hooks(args: &Query, device: &str) -> Result<Vec<Hook>, Stop> {
    let direction = args
        .direction
        .unwrap_or(match interface::is_loopback(device) {
            true => Direction::In,
            false => Direction::Both,
        });
    let incoming = match args.target {
        Ingress::Xdp => Hook::Xdp,
        Ingress::TcIngress => Hook::TcIngress,
    };
    if args.target == Ingress::Xdp && direction == Direction::Out {
        return Err(Stop::Usage(
            "`--target xdp` is for packets that come in: omit it, or `--direction out`".into(),
        ));
    }
    Ok(match direction {
        Direction::In => vec![incoming],
        Direction::Out => vec![Hook::TcEgress],
        Direction::Both => vec![incoming, Hook::TcEgress],
    })
}

/// What the program at a hook is called.
fn member(hook: Hook) -> &'static str {
    match hook {
        Hook::TcEgress => "out",
        Hook::Xdp | Hook::TcIngress => "in",
    }
}

/// `query-IF`, or with a number behind it the first that nothing runs under.
fn free_name(pins: &Pins, device: &str) -> Result<String, Box<Diagnostic>> {
    let taken = pins.names()?;
    // An interface's name may have signs that an instance's may not.
    let first = format!(
        "query-{}",
        device.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
    );
    let numbered = (2..).map(|number| format!("{first}-{number}"));
    let mut names = std::iter::once(first.clone()).chain(numbered);
    let free = names.find(|name| !taken.contains(name));
    Ok(free.unwrap_or(first))
}
