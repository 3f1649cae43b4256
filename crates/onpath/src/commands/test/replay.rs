//! `onpath test --read`, which sends the packets of captures through the interpreter.

use super::runs::Runs;
use crate::args::{Test, TraceFormat};
use crate::commands::captures::captures;
use crate::output::{Done, Stop, out, out_line, print_diagnostics, print_json};
use arch::tc::Direction;
use diag::{SourceMap, counted, shown, system_message};
use driver::replay::{Refused, Replay, Tally};
use driver::stf::{StfTarget, Trace, TraceForm};
use host::files::is_same;
use host::safe_dir::NewFile;
use serde_json::{Value, json};
use std::io::{self, BufWriter};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use telemetry::Link;
use telemetry::capture::{self, CaptureWriter};

/// Numbers of packets with missing parts, which the result alone does not show.
#[derive(Clone, Copy, Default)]
struct Incomplete {
    /// Packets that are truncated in the capture.
    cut: u64,
    /// Packets without a time, which were written with the time of another one.
    dated: u64,
}

/// Sends the packets to the program, writes those that come out, and prints the verdicts.
pub(super) fn run(args: &Test, target: StfTarget) -> Done {
    keeps_inputs(args)?;
    let captures = captures(&args.read)?;
    let direction = match args.egress {
        true => Direction::Egress,
        false => Direction::Ingress,
    };
    let mut runs = Runs::new(args, args.source.clone(), args.externs.clone(), target);
    let prepared = runs.prepared(direction, print_diagnostics).map_err(|why| {
        print_diagnostics(&why.diagnostics, &why.map);
        Stop::AlreadyReported(why.status)
    })?;
    let trace = args.trace.map(|format| Trace {
        form: match format {
            TraceFormat::Text => TraceForm::Text,
            TraceFormat::Json => TraceForm::Json,
        },
        write: Rc::new(|text| out!("{text}")),
    });
    let port = args.port.unwrap_or(0);
    let Some(replay) = Replay::new(prepared, port, trace) else {
        return Err(Stop::Usage("`--read` is for `--target interp`".to_owned()));
    };
    let mut replay = replay.map_err(|wrong| {
        print_diagnostics(&wrong, prepared.sources());
        Stop::AlreadyReported(2)
    })?;
    let entered = args.entries.as_ref().map(|file| {
        let entered = replay.enter(&prepared.schema(), file);
        entered.map_err(|refused| match refused {
            Refused::Wrong(wrong, map) => {
                print_diagnostics(&wrong, &map);
                Stop::AlreadyReported(1)
            }
            Refused::Failed(why) => Stop::Failed(why),
        })
    });
    let entered = entered.transpose()?;
    let writer = args.write.as_ref().map(|path| {
        let made = NewFile::begin(path).and_then(|file| CaptureWriter::new(BufWriter::new(file)));
        made.map_err(|error| not_written(args, &error))
    });
    let mut writer = writer.transpose()?;
    let mut incomplete = Incomplete::default();
    let mut stopped = None;
    let read = capture::read(captures, |frame| {
        if frame.link != Link::Ethernet {
            stopped = Some(Stop::Failed(format!(
                "packet {} does not begin with an Ethernet header, which the program takes for granted: capture at an interface whose \
                 packets do",
                replay.tally.packets + 1
            )));
            return ControlFlow::Break(());
        }
        incomplete.cut += u64::from(frame.bytes.len() < frame.length as usize);
        for packet in replay.packet(frame.time, frame.bytes) {
            let written = writer
                .as_mut()
                .map(|to| to.packet(packet.port, frame.time, &packet.bytes));
            if let Some(Err(error)) = written {
                stopped = Some(not_written(args, &error));
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    });
    if let Some(stop) = stopped {
        return Err(stop);
    }
    if let Some(writer) = writer {
        incomplete.dated = writer.dated();
        let file = writer.end().and_then(|to| Ok(to.into_inner()?));
        let put = file.and_then(NewFile::put);
        put.map_err(|error| not_written(args, &error))?;
    }
    let tally = &replay.tally;
    match args.json {
        true => print_json(&as_json(args, port, tally, incomplete, entered)),
        false => print(args, port, tally, incomplete),
    }
    // The packets before the error have been sent.
    read.map_err(|wrong| {
        print_diagnostics(&wrong, &SourceMap::new());
        Stop::AlreadyReported(1)
    })?;
    Ok(ExitCode::from(u8::from(tally.fault.is_some())))
}

/// Refuses to write to a file that is read.
fn keeps_inputs(args: &Test) -> Result<(), Stop> {
    let Some(output) = &args.write else {
        return Ok(());
    };
    let inputs = args.read.iter().chain([&args.source.file]);
    let mut inputs = inputs.chain(&args.externs).chain(&args.entries);
    match inputs.find(|input| is_same(input, output)) {
        None => Ok(()),
        Some(input) => Err(Stop::Usage(format!(
            "`--write {}` would replace `{}`, which this command reads: name another file",
            output.display(),
            input.display()
        ))),
    }
}

fn not_written(args: &Test, error: &io::Error) -> Stop {
    let path = args.write.as_deref().unwrap_or(Path::new(""));
    let why = system_message(error);
    Stop::Failed(format!("`{}` cannot be written: {why}", path.display()))
}

fn print(args: &Test, port: u32, tally: &Tally, incomplete: Incomplete) {
    let Incomplete { cut, dated } = incomplete;
    let files = args.read.iter().map(|path| path.display().to_string());
    let files = files.collect::<Vec<_>>().join(", ");
    let files = shown(&files);
    out_line!(
        "{files}: {} in at port {port}",
        counted(tally.packets, "packet")
    );
    for (became, packets) in &tally.became {
        out_line!("  {packets} {became}");
    }
    if let Some((packet, why)) = &tally.fault {
        out_line!("  packet {packet} was the first to be given up: {why}");
    }
    if cut > 0 {
        out_line!("  {cut} are not whole in the capture: the program saw their first bytes only");
    }
    if tally.digests > 0 {
        out_line!(
            "  {} sent to the control plane",
            counted(tally.digests, "digest")
        );
    }
    for (port, (packets, bytes)) in &tally.out {
        let (packets, bytes) = (counted(*packets, "packet"), counted(*bytes, "byte"));
        out_line!("out at port {port}: {packets}, {bytes}");
    }
    if let Some(path) = &args.write {
        let all = tally.out.values().map(|(packets, _)| packets).sum::<u64>();
        let path = path.display().to_string();
        out_line!("{}: {} written", shown(&path), counted(all, "packet"));
        if dated > 0 {
            let packets = counted(dated, "packet");
            out_line!(
                "  {packets} came without a time and have that of the packet before (1970 if none has one): the format has packets without a \
                 time for the first port only"
            );
        }
    }
}

fn as_json(
    args: &Test,
    port: u32,
    tally: &Tally,
    incomplete: Incomplete,
    entered: Option<usize>,
) -> Value {
    let out = tally.out.iter().map(
        |(port, (packets, bytes))| json!({ "port": port, "packets": packets, "bytes": bytes }),
    );
    let mut all = json!({
        "read": args.read,
        "port": port,
        "packets": tally.packets,
        "became": tally.became,
        "cut": incomplete.cut,
        "digests": tally.digests,
        "out": out.collect::<Vec<Value>>(),
    });
    if let Some((packet, why)) = &tally.fault {
        all["given_up"] = json!({ "packet": packet, "why": why });
    }
    if let Some(path) = &args.write {
        all["written"] = json!(path);
        all["dated"] = json!(incomplete.dated);
    }
    if let Some(entered) = entered {
        all["entries"] = json!(entered);
    }
    all
}
