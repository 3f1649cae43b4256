//! `bench tables`: time and memory to insert many entries into a table of each kind; look-ups ([`look_ups`]); and the
//! hash of keys ([`key_hash`]).

use crate::error::Error;
use crate::machine::Machine;
use crate::{key_hash, look_ups};
use control::Store;
use control::entries::{self, Existing};
use driver::Input;
use driver::bpf_target::Request;
use kernel::Instance;
use serde::Serialize;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Numbers of entries for every kind.
const COUNTS: [u32; 3] = [1_000, 10_000, 100_000];
/// Further number for the kinds that keep an entry in one element of one map.
const MILLION: u32 = 1_000_000;

/// Match kind of a table, or a value set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum TableKind {
    Exact,
    Lpm,
    Ternary,
    Range,
    Optional,
    ValueSet,
}

impl TableKind {
    const ALL: [TableKind; 6] = [
        TableKind::Exact,
        TableKind::Lpm,
        TableKind::Ternary,
        TableKind::Range,
        TableKind::Optional,
        TableKind::ValueSet,
    ];

    fn name(self) -> &'static str {
        match self {
            TableKind::Exact => "exact",
            TableKind::Lpm => "lpm",
            TableKind::Ternary => "ternary",
            TableKind::Range => "range",
            TableKind::Optional => "optional",
            TableKind::ValueSet => "value set",
        }
    }

    fn counts(self) -> Vec<u32> {
        // Without optimisation a million entries take minutes and are not significant.
        let flat = matches!(self, TableKind::Exact | TableKind::Lpm) && !cfg!(debug_assertions);
        let million = flat.then_some(MILLION);
        COUNTS.into_iter().chain(million).collect()
    }

    /// Returns a line of an entries file. Each number gives another entry.
    fn line(self, number: u32) -> String {
        let found = number % 7;
        match self {
            TableKind::Exact => format!("add all key:{number} give(found: {found})"),
            TableKind::Lpm => format!(
                "add all key:{:#x}/{} give(found: {found})",
                number << 8,
                24 + number % 4
            ),
            // Sixteen masks.
            TableKind::Ternary => format!(
                "add all {} key:{:#x}&&&{:#x} give(found: {found})",
                1 + number % 100,
                number << 4,
                0xffff_fff0u32 | (number % 16)
            ),
            // Each range needs three prefixes.
            TableKind::Range => format!(
                "add all {} key:{}..{} give(found: {found})",
                1 + number % 100,
                number << 4,
                (number << 4) + 6
            ),
            TableKind::Optional => format!(
                "add all {} key:{number} give(found: {found})",
                1 + number % 100
            ),
            TableKind::ValueSet => format!("value_set_add members {number}"),
        }
    }

    fn program(self, size: u32) -> String {
        let kind = match self {
            TableKind::ValueSet => "exact",
            other => other.name(),
        };
        format!(
            "#include <core.p4>
#include <xdp_model.p4>
header call_t {{ bit<112> before; bit<32> key; bit<32> found; }}
struct headers_t {{ call_t call; }}
parser prs(packet_in packet, out headers_t hdr) {{
    value_set<bit<32>>({size}) members;
    state start {{
        packet.extract(hdr.call);
        transition select(hdr.call.key) {{ members: known; default: accept; }}
    }}
    state known {{ hdr.call.found = 1; transition accept; }}
}}
control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {{
    action give(bit<32> found) {{ hdr.call.found = found; }}
    action none() {{ }}
    table all {{
        key = {{ hdr.call.key : {kind} @name(\"key\"); }}
        actions = {{ give; none; }}
        default_action = none();
        size = {size};
    }}
    apply {{
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
        all.apply();
    }}
}}
control dep(in headers_t hdr, packet_out packet) {{ apply {{ packet.emit(hdr.call); }} }}
xdp(prs(), sw(), dep()) main;
"
        )
    }
}

/// Cost of one file.
#[derive(Clone, Debug, Serialize)]
struct Row {
    kind: TableKind,
    entries: u32,
    /// Time from the text of the file to the maps.
    seconds: f64,
    /// Peak memory of this process, including the file's text, above its memory before.
    peak_kibibytes: u64,
    /// Time to add one more entry.
    one_more_seconds: f64,
}

#[derive(Debug, Serialize)]
struct Report {
    machine: Machine,
    rows: Vec<Row>,
    look_ups: Vec<look_ups::Row>,
    key_hash: Vec<key_hash::Row>,
}

/// Measures all kinds, and returns JSON and Markdown.
pub(crate) fn measure(root: &Path) -> Result<(String, String), Error> {
    let mut rows = Vec::new();
    for kind in TableKind::ALL {
        for entries in kind.counts() {
            let row = one(kind, entries)?;
            eprintln!("{entries} entries, {}: {:.3} s", kind.name(), row.seconds);
            rows.push(row);
        }
    }
    let report = Report {
        machine: Machine::this(),
        rows,
        look_ups: look_ups::measure()?,
        key_hash: key_hash::measure(root, key_hash::EFFORT)?,
    };
    Ok((crate::json(&report)? + "\n", report.markdown()))
}

fn one(kind: TableKind, count: u32) -> Result<Row, Error> {
    let mut instance = compile(&kind.program(count + 1))?;
    let before = memory("VmRSS")?;
    let text: String = (0..count).fold(String::new(), |mut text, number| {
        text += &kind.line(number);
        text.push('\n');
        text
    });
    reset_peak()?;
    let seconds = apply(&mut instance, text)?;
    let peak = memory("VmHWM")?;
    Ok(Row {
        kind,
        entries: count,
        seconds,
        peak_kibibytes: peak.saturating_sub(before),
        one_more_seconds: apply(&mut instance, kind.line(count))?,
    })
}

/// Compiles and loads a program.
pub(crate) fn compile(text: &str) -> Result<Instance, Error> {
    let path = std::env::temp_dir().join(format!("onpath-tables-{}.p4", std::process::id()));
    fs::write(&path, text).map_err(|e| Error::file("write", &path, &e))?;
    let elaborated = driver::elaborate(&Input::file(&path));
    fs::remove_file(&path).map_err(|e| Error::file("remove", &path, &e))?;
    let elaborated =
        elaborated.map_err(|refused| Error::diagnostics(&refused.diagnostics, &refused.map))?;
    let sources = elaborated.map;
    let compiled = driver::bpf_target::compile(&elaborated.program, &sources, Request::default())
        .map_err(|d| Error::diagnostics(&d, &sources))?;
    Ok(kernel::load(
        &compiled.object,
        &compiled.abi,
        &compiled.schema,
        &sources,
    )?)
}

/// Applies an entries file, and returns the time in seconds.
pub(crate) fn apply(instance: &mut Instance, text: String) -> Result<f64, Error> {
    let mut map = diag::SourceMap::new();
    let file = map
        .add("entries", text)
        .ok_or_else(|| Error::new("too many entries"))?;
    let store: &mut dyn Store = &mut instance.store;
    let begun = Instant::now();
    entries::load(entries::lines(&map, file), Existing::Keep, store)
        .map_err(|d| Error::diagnostics(&d, &map))?;
    Ok(begun.elapsed().as_secs_f64())
}

/// Returns a value of this process's status, in KiB.
fn memory(name: &str) -> Result<u64, Error> {
    let path = Path::new("/proc/self/status");
    let status = fs::read_to_string(path).map_err(|e| Error::file("read", path, &e))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.trim_start_matches(':').split_whitespace().next());
    let number = number.and_then(|number| number.parse().ok());
    number.ok_or_else(|| Error::new(format!("{} has no {name}", path.display())))
}

/// Resets the peak of the process's memory.
fn reset_peak() -> Result<(), Error> {
    let path = Path::new("/proc/self/clear_refs");
    fs::write(path, "5").map_err(|e| Error::file("write", path, &e))
}

impl Report {
    fn markdown(&self) -> String {
        let Machine {
            date,
            kernel,
            processor,
            processors,
            ..
        } = &self.machine;
        let build = if cfg!(debug_assertions) {
            " An unoptimised build."
        } else {
            ""
        };
        let mut text = format!(
            "# Tables: many entries\n\n{date}, Linux {kernel}, {processors} × {processor}. Written by `make bench-tables`.{build}\n\n\
             From the text of an entries file to the maps of a loaded program; the peak of memory is that of the process, \
             the text included. \"One more\" is a file of one line for the full table.\n\n\
             | kind | entries | seconds | peak MiB | one more, ms |\n|---|--:|--:|--:|--:|\n"
        );
        for row in &self.rows {
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "| {} | {} | {:.3} | {:.0} | {:.1} |",
                row.kind.name(),
                row.entries,
                row.seconds,
                row.peak_kibibytes as f64 / 1024.0,
                row.one_more_seconds * 1e3
            );
        }
        text + &look_ups::markdown(&self.look_ups) + &key_hash::markdown(&self.key_hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_different_entries() {
        for kind in TableKind::ALL {
            let lines: std::collections::BTreeSet<String> =
                (0..5000).map(|number| kind.line(number)).collect();
            assert_eq!(lines.len(), 5000, "{kind:?}");
        }
    }
}
