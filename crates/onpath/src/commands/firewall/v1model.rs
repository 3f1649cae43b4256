//! `onpath firewall --emit v1model`, and the plan for such a firewall in hardware.

use super::names::{Lists, read};
use super::{ENTRIES_FILE, unreadable_entries};
use crate::args::Firewall;
use crate::output::{Done, out, out_line, print_json, refused};
use crate::written;
use asic::exact_match::tofino_blocks;
use diag::{columns, counted, shown};
use firewall::automaton::{Automaton, Form, Reset, SliceBytes};
use firewall::deep4r::{self, Settings};
use host::files;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Name of the file with the program's settings.
const SETTINGS_FILE: &str = "deep4r_list.p4";
/// Payload of a whole TCP segment on Ethernet, in bytes.
const SEGMENT: usize = 1460;

/// Writes the published program, its settings and its entries.
pub(super) fn emit(args: &Firewall, lists: &[PathBuf], output: &Path) -> Done {
    let started = Instant::now();
    let settings = Settings {
        look_ups: args.look_ups,
        ids: args.ids,
        are_ids_free: args.free_ids,
    };
    settings.check().map_err(refused)?;
    let lists = read(lists, args.named.strict)?;
    let names = lists.names.iter().map(String::as_str);
    let (slice, reset) = (args.slice.bytes(), args.reset.reset());
    let automaton = Automaton::new(names, &Form::ALL, slice, reset);
    let entries = deep4r::entries(&automaton);
    let is_readable = entries.len() as u64 <= files::LARGEST;
    // The program that is run comes last, so that it is not there without its entries.
    let files = [
        (ENTRIES_FILE, entries),
        (deep4r::PROGRAM_FILE, deep4r::PROGRAM.to_owned()),
        (SETTINGS_FILE, deep4r::settings(&automaton, settings)),
    ];
    let mut written = Vec::new();
    for (name, text) in &files {
        written.push(written::file(output, name, text.as_bytes())?);
    }
    let milliseconds = started.elapsed().as_secs_f64() * 1e3;
    let mebibytes = host::linux::peak_memory() as f64 / f64::from(1 << 20);
    let longest = settings.longest_payload(slice, reset);
    if args.json {
        print_json(&json!({
            "names": lists.names.len(),
            "skipped": lists.skipped,
            "states": automaton.state_count(),
            "entries": automaton.entries.len(),
            "links": automaton.links.len(),
            "longest_payload": longest,
            "milliseconds": milliseconds,
            "peak_mebibytes": mebibytes,
            "files": written,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    out_line!(
        "{}, {} skipped",
        counted(lists.names.len(), "name"),
        counted(lists.skipped, "line")
    );
    let rows = automaton.sizes().into_iter().map(|size| {
        let mut counts = vec![
            counted(size.states, "state"),
            counted(size.entries, "entry"),
        ];
        if reset == Reset::Links {
            counts.push(counted(size.links, "failure link"));
        }
        vec![size.form.name().to_owned(), counts.join(", ")]
    });
    out!("{}", columns(&rows.collect::<Vec<_>>()));
    out_line!(
        "in the kernel, packets with payloads of up to {} are searched, and longer ones are dropped{}",
        counted(longest, "byte"),
        advice(settings, slice, reset)
    );
    out_line!("took {milliseconds:.0} ms and {mebibytes:.0} MiB at the most");
    out_line!("{}", written::line(output, &written));
    let folder = output.to_string_lossy();
    let folder = shown(&folder);
    match is_readable {
        true => out_line!(
            "run it: onpath run '{folder}/{SETTINGS_FILE}' --dev INSIDE,OUTSIDE --entries '{folder}/{ENTRIES_FILE}'"
        ),
        false => out_line!("{}", unreadable_entries()),
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a text about settings for longer payloads, if there are some and whole segments are not searched yet.
fn advice(settings: Settings, slice: SliceBytes, reset: Reset) -> String {
    let most = Settings {
        look_ups: deep4r::MOST_LOOK_UPS,
        ..settings
    };
    let reached = most.longest_payload(SliceBytes::Four, reset);
    let longest = settings.longest_payload(slice, reset);
    if longest >= SEGMENT || longest >= reached {
        return String::new();
    }
    let when = match reset {
        Reset::Start => "",
        Reset::Links => " if matches fail often",
    };
    format!(
        "{when}: `--slice 4 --look-ups {}` reaches {reached} bytes",
        deep4r::MOST_LOOK_UPS
    )
}

/// Prints the memory that a Tofino switch would need for the automaton of some lists, as published: names in text, slices
/// of one byte, and no links.
pub(crate) fn plan(lists: &Lists, as_json: bool) -> Done {
    let names = lists.names.iter().map(String::as_str);
    let forms = [Form::Text];
    let slice = SliceBytes::One;
    let automaton = Automaton::new(names, &forms, slice, Reset::Start);
    let state = deep4r::state_bits(&automaton);
    // The key is a state and a slice, the result a state and the decision.
    let usage = tofino_blocks(automaton.entries.len() as u64, state + 8, state + 1);
    if as_json {
        print_json(&json!({
            "names": lists.names.len(),
            "states": automaton.state_count(),
            "entries": automaton.entries.len(),
            "target": "tofino",
            "model": true,
            "fits": usage.fits(),
            "usage": [{ "resource": usage.resource.name(), "needed": usage.needed, "available": usage.available }],
        }));
    } else {
        let answer = if usage.fits() { "fits" } else { "does not fit" };
        out_line!(
            "{} on tofino: {answer} (by a model of the hardware)",
            counted(lists.names.len(), "name")
        );
        out_line!(
            "  needs  {} of {} bits and {}",
            counted(automaton.state_count(), "state"),
            state,
            counted(automaton.entries.len(), "entry")
        );
        out_line!(
            "  takes  {} of {} SRAM blocks of a pipeline ({:.2} %)",
            usage.needed,
            usage.available,
            100.0 * usage.needed as f64 / usage.available as f64
        );
    }
    Ok(ExitCode::from(u8::from(!usage.fits())))
}
