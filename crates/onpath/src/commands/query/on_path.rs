//! Evaluation of a query on the path of an interface's packets: its program runs at the interface's hooks, and this
//! process reads its metrics from mapped memory.

use super::devices::Devices;
use super::off_path::{self, Copies};
use super::show::{Schedule, Show, ending};
use crate::args::{Direction, Ingress, Query};
use crate::commands::instance::mend;
use crate::commands::started;
use crate::output::{Done, Reading, Stop, err_line, refused, refused_in};
use crate::progress::Progress;
use bpf::abi::Hook;
use control::{StoreError, errors};
use diag::{Diagnostic, Diagnostics, SourceMap, Span};
use driver::run::{AtHooks, Ended, Lasts, Observer, Options, ProgressStep, Running, Unit, Work};
use host::interrupt::Interrupts;
use kernel::Pins;
use kernel::attachment::TcOrder;
use kernel::loss::LossKind;
use net::interface;
use std::process::ExitCode;
use std::time::Duration;
use telemetry::{Evaluator, HeaderField, Messages, Stores};

/// Time between two checks that the interface exists and the program is attached.
const LOOK: Duration = Duration::from_millis(200);

/// Time after which a step is reported, as the user waits for the answer.
const PATIENCE: Duration = Duration::from_millis(300);

/// Reporter of the steps before a query runs.
struct Starting(Progress);

impl Observer for Starting {
    fn during(&self, step: &ProgressStep, work: &mut dyn FnMut()) {
        let text = match step.work {
            Work::Compile => "compiling the program for the path".into(),
            Work::Recompile => {
                "compiling another variant of the program, since the verifier rejected the first"
                    .into()
            }
            Work::Verify => "the kernel verifies the program".into(),
            Work::CheckEntries(_) | Work::PutEntries(_) => step.to_string(),
        };
        self.0.during(&text, work);
    }

    fn warn(&self, warnings: &Diagnostics, texts: &SourceMap) {
        self.0.warn(warnings, texts);
    }

    fn notice(&self, text: &str) {
        self.0.notice(text);
    }
}

/// Runs the program, and shows its metrics until the query ends. Until the program runs, the metrics of `until` are
/// shown, which it computes from copies of the packets.
pub(super) fn run(
    args: &Query,
    mut devices: Devices,
    (query, messages, map): (&telemetry::Query, &dyn Messages, &SourceMap),
    until: Option<Evaluator>,
    mut show: Show,
    interrupts: &Interrupts,
) -> Done {
    let refused_query = |wrong| refused_in(wrong, map);
    let most = args.groups.map(|most| most as usize);
    let most = most.unwrap_or_else(|| groups(query));
    let text = telemetry::program(query, &args.query, messages, most).map_err(refused_query)?;
    let at = hooks(args, &devices)?;
    let hooks: Vec<Hook> = at.iter().map(|(hook, _)| *hook).collect();
    let attachments = at.iter().map(|(_, interfaces)| interfaces.len()).sum();
    kernel::bundle::check_rights(&hooks, attachments).map_err(refused)?;
    let pins = Pins::default();
    mend(&pins)?;
    let first = devices.query();
    let free_name = || free_name(&pins, &first);
    let name = match &args.name {
        Some(name) => name.clone(),
        None => free_name().map_err(refused)?,
    };
    let options = Options {
        lasts: Lasts::WithProcess,
        free_name: args.name.is_none().then_some(&free_name),
        interrupts: Some(interrupts),
        start_soon: true,
        // As off the path: packets as they come in, before programs that drop or redirect them, and as they go out.
        order: &TcOrder::NearestWire,
        observer: &Starting(Progress::after(PATIENCE)),
        ..Options::default()
    };
    let members = at.iter();
    let members = members.map(|(hook, interfaces)| (member(*hook), *hook, &interfaces[..]));
    let members: Vec<(&str, Hook, &[String])> = members.collect();
    let unit = Unit::at_hooks(AtHooks {
        name,
        called: "program of the query",
        text: text.into(),
        hooks: &members,
        shared: telemetry::objects_of(query, messages),
    });
    let instead = "`--off-path` answers the query whatever the kernel refuses";
    let start = || driver::run::start(unit, &pins, &options);
    let running = match until {
        None => start(),
        Some(evaluator) => {
            let copies = Copies::begin(&devices, evaluator)?;
            off_path::meanwhile(args, copies, &mut show, start)?
        }
    };
    let running = running.map_err(|why| started::not_started(why, args.verbose, Some(instead)))?;
    let name = running.name().to_owned();
    let shows_tags = query
        .attributes
        .iter()
        .any(|a| a.field() == Some(HeaderField::VlanId));
    let warnings = started::warnings(&running, |kind| kind != LossKind::Tags || shows_tags);
    for line in started::started(&running).iter().chain(&warnings) {
        err_line!("{line}");
    }
    err_line!("{name}: running; {}", ending(args));
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
        let gone = gone(&running, &mut devices);
        let last = interrupted || gone.is_some() || schedule.is_over();
        if !last && !schedule.is_due() {
            continue;
        }
        let (seconds, elapsed) = schedule.take();
        let report = reading.report(&mut stores, seconds);
        let report = match report {
            Err(StoreError::Unloaded) => break Some(End::ByAnother),
            report => report.map_err(|error| {
                let what = "the metrics could not be read";
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

/// External reason for the end of a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    ByAnother,
    InterfaceGone,
}

fn gone(running: &Running<'_>, devices: &mut Devices) -> Option<End> {
    if running.is_gone() {
        return Some(End::ByAnother);
    }
    devices.are_gone().then_some(End::InterfaceGone)
}

/// Returns the default number of groups that there is room for, as each of this machine's processors has its own
/// metrics.
pub(super) fn groups(query: &telemetry::Query) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    telemetry::groups_on_path(query, processors)
}

/// Returns the hooks at which the program runs, each with its interfaces.
fn hooks(args: &Query, devices: &Devices) -> Result<Vec<(Hook, Vec<String>)>, Stop> {
    let is_loopback = |name: &&str| interface::is_loopback(name);
    let direction = args.direction.unwrap_or(Direction::Both);
    let all = || devices.names().map(String::from).collect();
    // All packets that leave by loopback come in there too.
    let outgoing: Vec<String> = match args.direction {
        Some(_) => all(),
        None => {
            let others = devices.names().filter(|name| !is_loopback(name));
            others.map(String::from).collect()
        }
    };
    let incoming = match args.target {
        Ingress::Xdp => Hook::Xdp,
        Ingress::TcIngress => Hook::TcIngress,
    };
    if args.target == Ingress::Xdp && direction == Direction::Out {
        return Err(Stop::Usage(
            "`--target xdp` is for packets that come in: omit it, or `--direction out`".into(),
        ));
    }
    let hooks = match direction {
        Direction::In => vec![(incoming, all())],
        Direction::Out => vec![(Hook::TcEgress, outgoing)],
        Direction::Both => vec![(incoming, all()), (Hook::TcEgress, outgoing)],
    };
    let are_some = |(_, interfaces): &(Hook, Vec<String>)| !interfaces.is_empty();
    Ok(hooks.into_iter().filter(are_some).collect())
}

/// Returns the name of the program at a hook.
fn member(hook: Hook) -> &'static str {
    match hook {
        Hook::TcEgress => "out",
        Hook::Xdp | Hook::TcIngress => "in",
    }
}

/// Returns a name that is free: `first`, or `first` with the smallest number appended.
fn free_name(pins: &Pins, first: &str) -> Result<String, Box<Diagnostic>> {
    let taken = pins.names()?;
    let numbered = (2..).map(|number| format!("{first}-{number}"));
    let mut names = std::iter::once(first.to_owned()).chain(numbered);
    let free = names.find(|name| !taken.contains(name));
    Ok(free.unwrap_or_else(|| first.to_owned()))
}
