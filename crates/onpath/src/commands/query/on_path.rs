//! A query on the packets of an interface, on their path: its program runs at the interface's hooks, and here its
//! figures are read from memory that is mapped.

use super::args::{Direction, Ingress, Query};
use super::show::{Schedule, Show};
use crate::commands::counter::counters;
use crate::commands::instance::mend;
use crate::commands::start::unit::{Unit, synthetic};
use crate::commands::start::{Ended, How, Running, set_up};
use crate::output::{Done, Reading, Stop, err_line, refused, refused_in};
use bpf::abi::Hook;
use control::entry::find;
use control::figure::find_figures;
use control::{Groups, Piece, Store, StoreError, errors};
use diag::{Diagnostic, SourceMap, Span};
use driver::bundle::{Bundle, Member, Ports, Share, SharedBy};
use kernel::attach::TcMethod;
use kernel::interrupt::Interrupts;
use kernel::link_settings::Change;
use kernel::loss::Kind;
use kernel::{Pins, interface};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use telemetry::{Field, Kept, Messages};

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
        None => free_name()?,
    };
    let how = How {
        method: TcMethod::Best,
        verbose: args.verbose,
        memory: None,
        ends_with_process: true,
        free_name: args.name.is_none().then_some(&free_name),
        instead: Some("`--off-path` answers the query whatever the kernel refuses"),
        quiet: false,
        detach: false,
        specialize: false,
        interrupts,
        links: Change::default(),
        adjust: false,
        last_check: &|| Ok(()),
    };
    let objects = telemetry::objects_of(query, messages);
    let unit = unit(&name, device, &hooks, objects, text.into());
    let running = set_up(unit, &pins, how)?;
    let name = running.name().to_owned();
    let shows_tags = query
        .attributes
        .iter()
        .any(|a| a.field() == Some(Field::VlanId));
    let warnings = running.warnings(|kind| kind != Kind::Tags || shows_tags);
    for line in running.report.iter().chain(&warnings) {
        err_line!("{line}");
    }
    err_line!("{name}: running; interrupt to end");
    let mut stores = Stores(Vec::new());
    for &hook in &hooks {
        let (_, store) = pins.open(&name, Some(member(hook))).map_err(refused)?;
        stores.0.push(Box::new(store));
    }
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
    match (end, running.end()?) {
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

/// The running programs' state: they share their figures, and each counts its packets.
struct Stores(Vec<Box<dyn Store>>);

impl Kept for Stores {
    type Error = StoreError;

    fn groups(&mut self, object: &str) -> Result<Groups, StoreError> {
        let Some(store) = self.0.first() else {
            return Ok(Groups::default());
        };
        let found = find_figures(store.schema(), Piece::new(object, 0));
        store.figures(found.map_err(|wrong| absent(&wrong))?)
    }

    fn counters(&mut self, object: &str) -> Result<Vec<(u64, u64)>, StoreError> {
        let mut sums = BTreeMap::new();
        for store in &self.0 {
            let found = find(counters(store.schema()), Piece::new(object, 0), "counter")
                .map_err(|wrong| absent(&wrong))?;
            for (index, count) in store.counters(found)? {
                *sums.entry(index).or_insert(0) += count.packets;
            }
        }
        Ok(sums.into_iter().collect())
    }
}

/// The program has every object that a report is made of.
fn absent(wrong: &Diagnostic) -> StoreError {
    StoreError::Unsupported {
        what: wrong.message.clone(),
    }
}

/// The hooks at which the program runs.
fn hooks(args: &Query, device: &str) -> Result<Vec<Hook>, Stop> {
    let direction = args
        .direction
        .unwrap_or(match interface::is_loopback(device) {
            true => Direction::In,
            false => Direction::Both,
        });
    let incoming = match args.hook {
        Ingress::Xdp => Hook::Xdp,
        Ingress::Tc => Hook::TcIngress,
    };
    if args.hook == Ingress::Xdp && direction == Direction::Out {
        return Err(Stop::Usage(
            "`--hook xdp` is for packets that come in: omit it, or `--direction out`".into(),
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
fn free_name(pins: &Pins, device: &str) -> Result<String, Stop> {
    let taken = pins.names().map_err(refused)?;
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

/// The program at each of the hooks; they keep their figures together.
fn unit(name: &str, device: &str, hooks: &[Hook], objects: Vec<String>, text: Arc<str>) -> Unit {
    let member = |&hook: &Hook| Member {
        name: synthetic(member(hook).to_owned()),
        source: synthetic(PathBuf::from("program of the query")),
        text: Some(Arc::clone(&text)),
        include: Vec::new(),
        define: Vec::new(),
        externs: Vec::new(),
        hook: Some(synthetic(hook)),
        ports: Ports {
            dev: vec![device.to_owned()],
            ..Ports::default()
        },
        entries: None,
    };
    let share = |object: String| Share {
        of: (0..hooks.len())
            .map(|program| SharedBy {
                program,
                state: object.clone(),
                span: Span::NONE,
            })
            .collect(),
        name: synthetic(object),
    };
    let shares = match hooks.len() {
        1 => Vec::new(),
        _ => objects.into_iter().map(share).collect(),
    };
    Unit {
        name: name.to_owned(),
        bundle: Bundle {
            name: None,
            programs: hooks.iter().map(member).collect(),
            shares,
        },
        alone: false,
        map: SourceMap::new(),
    }
}
