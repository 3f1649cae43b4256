//! `bench specialized`: the router and the firewall, specialized to their tables as by `onpath run --specialize`,
//! against the same programs with look-ups. Both have the same maps, and are interleaved.

use crate::error::Error;
use crate::machine::Machine;
use crate::programs::Baselines;
use control::entries;
use driver::Input;
use driver::bpf_target::Request;
use driver::specialize::{Contents, MOST_ENTRIES};
use kernel::Instance;
use kernel::bench::{Effort, Subject, interleaved, median, undisturbed};
use serde::Serialize;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Number of rounds, and of runs in each.
const EFFORT: Effort = Effort {
    rounds: 40,
    runs: 100_000,
};

/// Program and packets for it.
struct Subjects {
    program: &'static str,
    /// Returns the lines of a number of entries, given the program's example.
    entries: fn(&str, usize) -> Vec<String>,
    packets: &'static [(&'static str, Packet)],
}

/// Fields of a packet that the programs read.
struct Packet {
    src: [u8; 4],
    dst: [u8; 4],
    protocol: u8,
    dst_port: u16,
    flags: u8,
    /// True if the program changes it, so that it cannot be repeated without end.
    wears_out: bool,
}

/// Makes a packet to an address, by a protocol.
const fn packet(src: [u8; 4], dst: [u8; 4], protocol: u8, dst_port: u16, flags: u8) -> Packet {
    Packet {
        src,
        dst,
        protocol,
        dst_port,
        flags,
        wears_out: false,
    }
}

const HOST: [u8; 4] = [10, 1, 1, 2];

const SUBJECTS: [Subjects; 2] = [
    Subjects {
        program: "router",
        entries: routes,
        packets: &[
            ("to the router", packet(HOST, [10, 0, 1, 1], 17, 7, 0)),
            (
                "forwarded",
                Packet {
                    wears_out: true,
                    ..packet(HOST, [10, 0, 2, 9], 17, 7, 0)
                },
            ),
            ("no route", packet(HOST, [192, 0, 2, 1], 17, 7, 0)),
        ],
    },
    Subjects {
        program: "firewall",
        entries: rules,
        packets: &[
            (
                "blocked source",
                packet([10, 66, 1, 2], [10, 0, 2, 9], 6, 80, 2),
            ),
            ("established", packet(HOST, [10, 0, 2, 9], 6, 5000, 0x10)),
            ("web server", packet(HOST, [192, 0, 2, 9], 6, 443, 2)),
            ("ping", packet(HOST, [10, 0, 2, 9], 1, 0, 0)),
            ("no rule", packet(HOST, [10, 0, 2, 9], 6, 5000, 2)),
        ],
    },
];

/// Returns the program's own example entries, filled up to `count` with further networks.
fn routes(example: &str, count: usize) -> Vec<String> {
    let more = |n: usize| {
        format!(
            "add routes hdr.ipv4.dst:10.9.{n}.0/28 next_hop(port:0, src_mac:02:00:00:00:01:01, dst_mac:02:00:00:00:09:{n:02x})"
        )
    };
    filled_up(example, count, more)
}

/// Returns the same for rules. The further ones are checked first.
fn rules(example: &str, count: usize) -> Vec<String> {
    let more = |n: usize| format!("add rules {} src:10.77.{n}.0/24 deny()", 200 + n);
    filled_up(example, count, more)
}

fn filled_up(example: &str, count: usize, more: impl Fn(usize) -> String) -> Vec<String> {
    let mut lines: Vec<String> = example.lines().map(str::to_owned).collect();
    lines.retain(|line| line.starts_with("add "));
    lines.truncate(count);
    let missing = count - lines.len();
    lines.extend((0..missing).map(more));
    lines
}

impl Packet {
    fn bytes(&self) -> Vec<u8> {
        let mut packet = vec![2; 12];
        packet.extend(0x0800u16.to_be_bytes());
        let mut ipv4 = vec![0x45, 0, 0, 46, 0, 1, 0, 0, 64, self.protocol, 0, 0];
        ipv4.extend(self.src);
        ipv4.extend(self.dst);
        let words = ipv4.chunks(2);
        let sum: u32 = words.map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
        let sum = (sum & 0xffff) + (sum >> 16);
        ipv4[10..12].copy_from_slice(&(!(sum as u16 + (sum >> 16) as u16)).to_be_bytes());
        packet.extend(ipv4);
        packet.extend(5000u16.to_be_bytes());
        packet.extend(self.dst_port.to_be_bytes());
        packet.extend([0; 8]);
        packet.extend([0x50, self.flags]);
        packet.resize(64, 0);
        packet
    }
}

/// Times of a packet.
#[derive(Debug, Serialize)]
struct Row {
    program: &'static str,
    entries: usize,
    packet: &'static str,
    /// Time of a program of two instructions, in nanoseconds.
    baseline_ns: f64,
    looked_up_ns: f64,
    specialized_ns: f64,
    /// Ratio of the time with look-ups to the specialized time, of whole runs.
    gain: f64,
}

#[derive(Debug, Serialize)]
struct Report {
    machine: Machine,
    /// Median gain of each program's packets, with its example entries.
    gains: Vec<(&'static str, f64)>,
    rows: Vec<Row>,
}

/// Measures all programs, and returns JSON and Markdown.
pub(crate) fn measure(root: &Path) -> Result<(String, String), Error> {
    let baselines = Baselines::build(root)?;
    let mut rows = Vec::new();
    let mut gains = Vec::new();
    for subjects in &SUBJECTS {
        let folder = root.join("programs").join(subjects.program);
        let path = folder.join("entries.txt");
        let example = fs::read_to_string(&path).map_err(|e| Error::file("read", &path, &e))?;
        let few = example.lines().filter(|l| l.starts_with("add ")).count();
        for count in [0, few, MOST_ENTRIES] {
            let lines = (subjects.entries)(&example, count);
            let pair = pair(&folder.join(format!("{}.p4", subjects.program)), &lines)?;
            let first = rows.len();
            for (name, packet) in subjects.packets {
                let row = one(subjects.program, (name, packet), count, &pair, &baselines)?;
                eprintln!("{row:?}");
                rows.push(row);
            }
            if count == few {
                let all: Vec<f64> = rows[first..].iter().map(|row| row.gain).collect();
                gains.push((subjects.program, median(&all)));
            }
        }
    }
    let report = Report {
        machine: Machine::this(),
        gains,
        rows,
    };
    Ok((crate::json(&report)? + "\n", report.markdown()))
}

/// Loads a program with these entries, and the same specialized to them, over the same maps.
fn pair(path: &Path, lines: &[String]) -> Result<[Instance; 2], Error> {
    let elaborated = driver::elaborate(&Input::file(path))
        .map_err(|refused| Error::diagnostics(&refused.diagnostics, &refused.map))?;
    let (program, mut sources) = (elaborated.program, elaborated.map);
    let compiled = driver::bpf_target::compile(&program, &sources, Request::default())
        .map_err(|d| Error::diagnostics(&d, &sources))?;
    let mut instance = kernel::load(&compiled.object, &compiled.abi, &compiled.schema, &sources)?;
    let file = sources.add("entries", lines.join("\n"));
    let file = file.ok_or_else(|| Error::new("too many entries"))?;
    let changes = entries::parse(&compiled.schema, &sources, file)
        .map_err(|d| Error::diagnostics(&d, &sources))?;
    let refused = |what: String| Error::new(format!("{}: {what}", path.display()));
    entries::apply(&mut instance.store, &changes)
        .map_err(|_| refused("an entry was refused".into()))?;
    let store = |error: control::StoreError| refused(error.to_string());
    instance.store.count_changes().map_err(store)?;
    let tables = instance.store.changeable_tables();
    let read = instance.store.small_contents(&tables, MOST_ENTRIES);
    let contents: Vec<_> = tables
        .into_iter()
        .zip(read.map_err(store)?)
        .filter_map(|(table, (generation, found))| {
            let found = found?;
            let contents = Contents {
                generation,
                entries: found.entries,
                default_action: found.default_action,
            };
            Some((table, contents))
        })
        .collect();
    let (_, special) =
        driver::specialize::compile(&program, &contents, &sources, Request::default());
    let special = special.ok_or_else(|| refused("no table can be compiled in".into()))?;
    let special = special.map_err(|d| Error::diagnostics(&d, &sources))?;
    let beside = kernel::store::load_beside(&instance.store, &special.object, &special.abi);
    Ok([instance, beside.map_err(store)?])
}

fn one(
    program: &'static str,
    (name, packet): (&'static str, &Packet),
    entries: usize,
    pair: &[Instance; 2],
    baselines: &Baselines,
) -> Result<Row, Error> {
    let bytes = packet.bytes();
    let mut outcomes = Vec::new();
    for instance in pair {
        let mut out = vec![0; 256];
        let ran = instance.program.prog().run_xdp(&bytes, &mut out, 0, 1);
        let ran = ran.map_err(Error::system("a test run"))?;
        out.truncate(ran.length);
        outcomes.push((ran.verdict, out));
    }
    if outcomes[0] != outcomes[1] {
        return Err(Error::new(format!(
            "{program}, {name}: the programs do not do the same: {outcomes:x?}"
        )));
    }
    let programs = [
        &baselines.drop.prog,
        pair[0].program.prog(),
        pair[1].program.prog(),
    ];
    let subjects = programs.map(|prog| Subject {
        prog,
        packet: &bytes,
        repeats: packet.wears_out.then_some(20),
    });
    let samples = interleaved(&subjects, EFFORT).map_err(Error::system("a test run"))?;
    let ns: Vec<f64> = samples.iter().map(|turns| undisturbed(turns)).collect();
    Ok(Row {
        program,
        entries,
        packet: name,
        baseline_ns: ns[0],
        looked_up_ns: ns[1],
        specialized_ns: ns[2],
        gain: ns[1] / ns[2],
    })
}

/// Returns date and machine, for the head of a document.
pub(crate) fn taken_on(machine: &Machine) -> String {
    let Machine {
        date,
        kernel,
        processor,
        processors,
        clang,
    } = machine;
    format!("{date}, Linux {kernel}, {processors} × {processor}, clang {clang}")
}

impl Report {
    fn markdown(&self) -> String {
        let mut text = format!(
            "# Programs specialized to their tables\n\n{}. Written by `make bench-specialized`.\n\n\
             Nanoseconds a packet by test runs, in turn, with what the kernel does around a run (the baseline: a program of two instructions). \
             \"Looked up\" is the program as `onpath run` runs it, \"specialized\" as `onpath run --specialize` does; the gain is their ratio, \
             the kernel's part included.\n\n",
            taken_on(&self.machine)
        );
        // Writing to a string does not fail.
        for (program, gain) in &self.gains {
            let _ = writeln!(
                text,
                "- {program}, with its example entries: median gain {gain:.2}"
            );
        }
        text += "\n| program | entries | packet | baseline | looked up | specialized | gain |\n|---|--:|---|--:|--:|--:|--:|\n";
        for row in &self.rows {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {:.1} | {:.1} | {:.1} | {:.2} |",
                row.program,
                row.entries,
                row.packet,
                row.baseline_ns,
                row.looked_up_ns,
                row.specialized_ns,
                row.gain
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_texts_of_a_program_are_loaded_and_measured() {
        let root = crate::root();
        let path = root.join("programs/router/router.p4");
        let lines = routes("add routes hdr.ipv4.dst:10.0.1.1 to_host()", 3);
        let pair = pair(&path, &lines).expect("this test needs root and clang");
        let baselines = Baselines::build(&root).expect("compiles");
        for (name, packet) in SUBJECTS[0].packets {
            // It fails if the programs' results differ.
            let row = one("router", (name, packet), 3, &pair, &baselines).expect("runs");
            assert!(row.looked_up_ns > 0.0 && row.specialized_ns > 0.0);
        }
    }

    #[test]
    fn packets_have_a_checksum_that_is_right() {
        for (_, packet) in SUBJECTS.iter().flat_map(|s| s.packets) {
            let bytes = packet.bytes();
            let words = bytes[14..34].chunks(2);
            let sum: u32 = words.map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
            assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff);
        }
    }
}
