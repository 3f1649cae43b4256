//! `onpath query`

mod devices;
mod drawing;
mod intervals;
pub(crate) mod list;
mod off_path;
mod on_path;
mod show;

use super::captures::captures;
use crate::args::Query;
use crate::output::{Done, Stop, failed, out, print_diagnostics, refused_in};
use devices::Devices;
use diag::SourceMap;
use host::interrupt::Interrupts;
use intervals::Intervals;
use kernel::sys::random_numbers;
use show::Show;
use std::ops::ControlFlow;
use std::process::ExitCode;
use telemetry::capture::{self, Capture};
use telemetry::{Catalogue, Evaluator, Schemas};

/// Answers a query, or explains it.
pub fn run(args: Query) -> Done {
    let messages = Schemas::builtin();
    let catalogue = Catalogue::new(&messages);
    if let Some(prefix) = &args.list {
        return list::run(&catalogue, prefix, args.json);
    }
    let mut map = SourceMap::new();
    let query = telemetry::compile(&args.query, &catalogue, &mut map).map_err(|diagnostics| {
        print_diagnostics(&diagnostics, &map);
        Stop::AlreadyReported(1)
    })?;
    let groups = args.groups.map(|groups| groups as usize);
    if args.explain {
        out!(
            "{}",
            telemetry::explain(&query, catalogue.messages(), groups)
        );
        return Ok(ExitCode::SUCCESS);
    }
    if args.p4 {
        let groups = groups.unwrap_or_else(|| on_path::groups(&query));
        let text = telemetry::program(&query, &args.query, catalogue.messages(), groups)
            .map_err(|wrong| refused_in(wrong, &map))?;
        out!("{text}");
        return Ok(ExitCode::SUCCESS);
    }
    // Senders of packets must not be able to predict which values share a counter.
    let hash_key = match random_numbers() {
        Ok(key) => key,
        Err(error) => return failed(format!("no random numbers could be drawn: {error}")),
    };
    let evaluator = Evaluator::new(query.clone(), catalogue.messages(), groups, hash_key);
    if args.dev.is_empty() {
        let captures = captures(&args.read)?;
        let drawn = Evaluator::new(query.clone(), catalogue.messages(), groups, hash_key);
        let mut show = Show::begin(&args, query)?;
        return capture(&args, captures, (evaluator, drawn), &mut show);
    }
    let devices = Devices::find(&args.dev)?;
    if args.off_path || args.at_once {
        off_path::check(&devices)?;
    }
    // Interrupts are held back before a thread is started and anything is set up, so that it can be undone in order.
    let interrupts = match Interrupts::hold() {
        Ok(interrupts) => interrupts,
        Err(error) => return failed(format!("interrupts could not be held back: {error}")),
    };
    let show = Show::begin(&args, query.clone())?;
    match args.off_path {
        true => off_path::run(&args, devices, evaluator, show, &interrupts),
        false => on_path::run(
            &args,
            devices,
            (&query, catalogue.messages(), &map),
            args.at_once.then_some(evaluator),
            show,
            &interrupts,
        ),
    }
}

/// Answers a query from captures. The second evaluator is for the picture, if one is wanted, as its rates are those
/// of intervals.
fn capture(
    args: &Query,
    captures: Vec<Capture>,
    (mut evaluator, drawn): (Evaluator, Evaluator),
    show: &mut Show,
) -> Done {
    let mut intervals = show
        .drawing()
        .map(|drawing| Intervals::new(drawn, drawing, args.every));
    let read = capture::read(captures, |frame| {
        evaluator.packet(frame);
        if let Some(intervals) = &mut intervals {
            intervals.packet(frame);
        }
        ControlFlow::Continue(())
    });
    if let Some(intervals) = intervals {
        intervals.end()?;
    }
    let is_shown = read.is_ok() || evaluator.counts().packets > 0;
    if is_shown {
        let seconds = evaluator.seconds();
        show.capture(&evaluator.report(seconds));
    }
    // The packets that were read before the error are shown all the same.
    read.map_err(|wrong| {
        print_diagnostics(&wrong, &SourceMap::new());
        Stop::AlreadyReported(1)
    })?;
    Ok(ExitCode::SUCCESS)
}
