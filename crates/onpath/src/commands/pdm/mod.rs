//! `onpath pdm`

mod live;
mod programs;

use crate::args::Pdm;
use crate::commands::instance::mend;
use crate::commands::started;
use crate::output::{Done, Stop, err_line, failed, out_line, refused};
use crate::progress::Progress;
use crate::prometheus_page::{self, Page, serve};
use bpf::abi::Hook;
use diag::Diagnostic;
use driver::run::{Ended, Lasts, Options};
use host::interrupt::Interrupts;
use kernel::Pins;
use kernel::pins::Moved;
use live::{End, OutputFormat, Show};
use net::interface;
use net::link_settings::{self, Change};
use pdm::filter::{self, Filter};
use pdm::reader::{About, Reader};
use pdm::{Mode, errors, instance};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

/// Smallest MTU for a measurement, in bytes: the minimum MTU of IPv6, and the size of the option.
const LEAST_MTU: u32 = 1280 + 16;

/// Measures at an interface and shows the metrics, or shows a measurement that is running.
pub fn run(args: Pdm) -> Done {
    // Interrupts are held back before anything is set up, so that it can be undone in order.
    let interrupts = match Interrupts::hold() {
        Ok(interrupts) => interrupts,
        Err(error) => return failed(format!("interrupts could not be held back: {error}")),
    };
    match (&args.attach, &args.dev) {
        (Some(name), _) => watch(&args, name, &interrupts),
        (None, Some(device)) => measure(&args, device, &interrupts),
        (None, None) => Err(Stop::Usage("write --dev and an interface".into())),
    }
}

/// Starts a measurement, and shows it until it is interrupted or leaves it running.
fn measure(args: &Pdm, device: &str, interrupts: &Interrupts) -> Done {
    let filters = filters(&args.filter).map_err(usage)?;
    let address = prometheus_page::address(args.prometheus.as_deref())?;
    let index = interface::index(device).map_err(refused)?;
    kernel::bundle::check_rights(&[Hook::TcEgress, Hook::TcIngress], 2).map_err(refused)?;
    let pins = Pins::default();
    mend(&pins)?;
    check_free(device, index, &pins).map_err(refused)?;
    check_interface(device, index).map_err(refused)?;
    // This comes before anything is changed, as the address may be in use.
    let (address, page) = serve(address)?.unzip();

    let name = match &args.name {
        Some(name) => name.clone(),
        None => instance::name(device),
    };
    let links = Change {
        gso_max_segs: (args.mode.mode() == Mode::Conformant).then_some(1),
        ..Change::default()
    };
    let before = link_settings::read(index).ok();
    let limited_from = before.and_then(|before| links.gso_max_segs.and(before.gso_max_segs));
    let options = Options {
        lasts: match args.detach {
            true => Lasts::Detached,
            false => Lasts::WithProcess,
        },
        interrupts: Some(interrupts),
        links,
        // Another command may have started a measurement here since.
        last_check: &|| check_free(device, index, &pins),
        observer: &Progress::new(args.quiet),
        ..Options::default()
    };
    let unit = programs::unit(args, &name, device, &filters)?;
    let running = driver::run::start(unit, &pins, &options)
        .map_err(|why| started::not_started(why, args.verbose, None))?;
    for line in started::started(&running) {
        err_line!("{line}");
    }
    err_line!("{name}: {}", cost(args.mode.mode(), device));
    if args.detach {
        out_line!(
            "{name}: running; `onpath pdm --attach {name}` shows it, `onpath unload {name}` ends it"
        );
        running.leave();
        return Ok(ExitCode::SUCCESS);
    }
    let mut reader = open(&pins, &name)?;
    let show = show(args, page);
    // The page must exist when it is reported.
    live::look(&mut reader, &show, false)?;
    report_served(&name, address);
    err_line!("{name}: running; interrupt to end");
    let ended = || {
        let gone = || interface::name(index).is_none();
        let detached = running.is_gone().then_some(End::DetachedByAnother);
        detached.or_else(|| gone().then_some(End::InterfaceGone))
    };
    let end = live::show(&mut reader, &show, interrupts, ended)?;
    // A move to another namespace can be seen only while the programs are attached.
    let moved = match interface::name(index) {
        Some(_) => None,
        None => pins.moved(&name, index),
    };
    match (end, running.end().map_err(refused)?) {
        (_, Ended::ByAnother) => report_end(&name, End::DetachedByAnother),
        (end, Ended::Detached) => {
            match moved {
                Some(moved) => err_line!("{name}: {}", whereabouts(moved, device, limited_from)),
                None => report_end(&name, end),
            }
            err_line!("{name}: detached");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows a measurement that is running.
fn watch(args: &Pdm, name: &str, interrupts: &Interrupts) -> Done {
    let address = prometheus_page::address(args.prometheus.as_deref())?;
    let pins = Pins::default();
    let loading = pins.loading(name).map_err(refused)?;
    let mut reader = open(&pins, name)?;
    let (address, page) = serve(address)?.unzip();
    let show = show(args, page);
    live::look(&mut reader, &show, false)?;
    report_served(name, address);
    if args.once && show.duration.is_none() {
        live::look(&mut reader, &show, true)?;
    } else {
        // The command that started the measurement reports an interface that is gone.
        let ended = || (!pins.is_still(name, loading)).then_some(End::DetachedByAnother);
        let end = live::show(&mut reader, &show, interrupts, ended)?;
        report_end(name, end);
    }
    Ok(ExitCode::SUCCESS)
}

fn report_end(name: &str, end: End) {
    match end {
        End::Enough => {}
        End::DetachedByAnother => err_line!("{name}: detached by another command"),
        End::InterfaceGone => err_line!("{name}: the interface is gone"),
    }
}

/// Opens the metrics of a running measurement.
fn open(pins: &Pins, name: &str) -> Result<Reader, Stop> {
    let record = pins.record(name).map_err(refused)?;
    let other = || refused(errors::no_measurement(name));
    let device = instance::interface(&record).ok_or_else(other)?;
    let (_, egress) = pins.open(name, Some(instance::EGRESS)).map_err(refused)?;
    let (_, ingress) = pins.open(name, Some(instance::INGRESS)).map_err(refused)?;
    let about = About {
        interface: interface::name(device.index)
            .filter(|_| device.is_here())
            .unwrap_or_else(|| device.name.clone()),
        began: record.loaded,
    };
    Reader::new(about, Box::new(egress), Box::new(ingress)).ok_or_else(other)
}

fn usage(diagnostic: Box<Diagnostic>) -> Stop {
    refused(diagnostic);
    Stop::AlreadyReported(2)
}

fn filters(texts: &[String]) -> Result<Vec<Filter>, Box<Diagnostic>> {
    let filters = texts.iter().map(|text| Filter::parse(text));
    let filters: Vec<Filter> = filters.collect::<Result<_, _>>().map_err(errors::filter)?;
    filter::check_room(&filters).map_err(errors::filter)?;
    Ok(filters)
}

/// Fails if another measurement runs at the interface.
fn check_free(device: &str, index: u32, pins: &Pins) -> Result<(), Box<Diagnostic>> {
    for name in pins.names()? {
        // Records that cannot be read do not matter here.
        let Ok(record) = pins.record(&name) else {
            continue;
        };
        if instance::interface(&record).is_some_and(|at| at.index == index && at.is_here()) {
            return Err(errors::measured(device, &name));
        }
    }
    Ok(())
}

/// Fails if the interface cannot carry the option: it has no IPv6, or its MTU is too small.
fn check_interface(device: &str, index: u32) -> Result<(), Box<Diagnostic>> {
    if !interface::has_ipv6(device) {
        return Err(errors::no_ipv6(device));
    }
    match link_settings::read(index) {
        Ok(settings) if settings.mtu < LEAST_MTU => {
            Err(errors::small_mtu(device, settings.mtu, LEAST_MTU))
        }
        _ => Ok(()),
    }
}

fn report_served(name: &str, address: Option<SocketAddr>) {
    if let Some(address) = address {
        err_line!("{name}: metrics for Prometheus at http://{address}/metrics");
    }
}

fn show(args: &Pdm, page: Option<Page>) -> Show {
    let interval = Duration::from_secs_f64(args.interval);
    let duration = args.duration.map(Duration::from_secs_f64);
    let one_interval = args.once && args.attach.is_none();
    Show {
        form: match (args.json, args.quiet) {
            (true, _) => OutputFormat::Json,
            (_, true) => OutputFormat::Nothing,
            _ => OutputFormat::Table,
        },
        flows: args.flows,
        interval,
        duration: duration.or(one_interval.then_some(interval)),
        once: args.once,
        page,
    }
}

/// Reports on an interface that was moved to another network namespace. `limited_from` is the number of segments from
/// which its segmentation offload was limited to one, if it was.
fn whereabouts(moved: Moved, device: &str, limited_from: Option<u32>) -> String {
    let there = format!("`{device}` is in another network namespace now");
    match (moved, limited_from) {
        (Moved::Hidden, Some(segments)) => format!(
            "{there}, where segmentation offload stays limited: `ip link set dev {device} gso_max_segs {segments}` \
             there ends that"
        ),
        _ => there,
    }
}

/// Describes the cost of a mode to the host.
fn cost(mode: Mode, device: &str) -> String {
    match mode {
        Mode::Conformant => format!(
            "conformant: one option per packet; segmentation offload of {device} is limited to one segment \
             while it runs, which slows fast streams down"
        ),
        Mode::MarkOnce => {
            "mark-once: segmentation offload copies an option into several packets; on the wire \
                           this is not conformant to RFC 8250"
                .to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_left_changed_are_reported() {
        let there = "`eth0` is in another network namespace now";
        assert_eq!(whereabouts(Moved::Found, "eth0", Some(65535)), there);
        assert_eq!(whereabouts(Moved::Hidden, "eth0", None), there);
        assert_eq!(
            whereabouts(Moved::Hidden, "eth0", Some(65535)),
            format!(
                "{there}, where segmentation offload stays limited: `ip link set dev eth0 gso_max_segs 65535` there \
                 ends that"
            )
        );
    }
}
