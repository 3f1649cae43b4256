//! Comparison of a unit that is to start with a running one of the same name.

use super::prepare::{Interfaces, Read};
use super::unit::Unit;
use super::{Lasts, NotStarted, Options};
use crate::bundle::{BundledProgram, Entries, Share};
use diag::FileId;
use host::files::read_text;
use kernel::attachment::TcMethod;
use kernel::errors::device::{self, Difference};
use kernel::pins::{Asked, MemberRecord};
use kernel::port::Port;
use kernel::{Pins, Record};
use net::link_events::netns_cookie;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// Returns all that a start asks for, but for interfaces, which may change while the unit runs. Messages name a
/// difference by `what`, after `it runs with other`. `entries` are the open files of entries.
pub(super) fn asked(
    unit: &Unit,
    read: &[Read],
    entries: &[Option<FileId>],
    options: &Options<'_>,
) -> Vec<Asked> {
    let mut all = vec![
        one("version of Onpath", env!("CARGO_PKG_VERSION").to_owned()),
        one("programs", names(unit)),
        one("shared states", hashed(&[shares(unit).as_bytes()])),
        one(
            "`--clsact`",
            (options.method == TcMethod::Clsact).to_string(),
        ),
        one("order at tc", format!("{:?}", options.order)),
        one("`--adjust`", options.adjust.to_string()),
        one("`--specialize`", options.specialize.to_string()),
        one("`--allow-memory`", format!("{:?}", options.memory)),
        one("`--table-memory`", format!("{:?}", options.table_memory)),
    ];
    for ((member, read), file) in unit.bundle.programs.iter().zip(read).zip(entries) {
        let mut of = |what: &str, value: String| all.push(one(&named(unit, member, what), value));
        of("code", code(read));
        of("`--target`", read.hook().name().to_owned());
        of("groups", format!("{:?}", member.ports.groups));
        // Who made entries notes what they were made of, and may change them since.
        if !matches!(member.entries, Some(Entries::Made(..))) {
            of("entries", entries_of(unit, member, *file));
        }
        of("extern functions", externs(member));
    }
    all.extend(unit.notes.iter().cloned());
    all
}

/// Fails if something runs under the unit's name: with [`NotStarted::Unchanged`] if it is the same unit, and else
/// with the differences.
pub(super) fn check(
    unit: &Unit,
    interfaces: &[Interfaces],
    pins: &Pins,
    options: &Options<'_>,
    asked: &[Asked],
) -> Result<(), NotStarted> {
    let takes_another_name = options.free_name.is_some();
    let record = match options.lasts {
        Lasts::UntilEnded | Lasts::Detached if !takes_another_name => pins.record(&unit.name).ok(),
        _ => None,
    };
    let Some(record) = record.filter(|record| record.owner.is_none()) else {
        return Ok(pins.check_free(&unit.name)?);
    };
    let differences = differences(unit, interfaces, &record, asked);
    match differences.is_empty() {
        true => Err(NotStarted::Unchanged {
            name: unit.name.clone(),
        }),
        false => Err(device::instance_differs(&unit.name, &differences).into()),
    }
}

fn differences(
    unit: &Unit,
    interfaces: &[Interfaces],
    record: &Record,
    wanted: &[Asked],
) -> Vec<Difference> {
    // If one of these differs, all others differ too.
    let differs = |what: &str| {
        let value = |all: &[Asked]| all.iter().find(|a| a.what == what).map(|a| a.value.clone());
        value(wanted) != value(&record.asked)
    };
    if let Some(first) = ["version of Onpath", "programs"]
        .into_iter()
        .find(|&what| differs(what))
    {
        return vec![Difference::new(first)];
    }
    if netns_cookie().is_ok_and(|cookie| cookie != record.netns_cookie) {
        return vec![Difference::new("network namespace")];
    }
    let mut found: Vec<Difference> = wanted
        .iter()
        .filter(|asked| differs(&asked.what))
        .map(|asked| Difference::new(&asked.what))
        .collect();
    let members = unit.bundle.programs.iter().zip(&record.members);
    for ((member, now), at) in members.zip(interfaces) {
        let wanted = interfaces_of(member);
        let runs = interfaces_now(now);
        let indices = |ports: &[Port]| ports.iter().map(|port| port.index).collect::<BTreeSet<_>>();
        let runs_at = now.interfaces.iter().map(|at| at.index).collect();
        let sends_to = now.targets.iter().map(|at| at.index).collect();
        if wanted != runs {
            let what = named(unit, member, "interfaces");
            found.push(Difference::with_values(&what, &runs, &wanted));
        } else if (indices(&at.ports), indices(&at.targets)) != (runs_at, sends_to) {
            found.push(Difference::new(&named(
                unit,
                member,
                "interfaces of these names",
            )));
        }
    }
    found
}

fn one(what: &str, value: String) -> Asked {
    Asked {
        what: what.to_owned(),
        value,
    }
}

/// Returns `code`, or `code of fw` if there are several programs.
fn named(unit: &Unit, member: &BundledProgram, what: &str) -> String {
    match unit.bundle.programs.len() {
        1 => what.to_owned(),
        _ => format!("{what} of {}", member.name.value),
    }
}

fn names(unit: &Unit) -> String {
    let names = unit.bundle.programs.iter().map(|p| p.name.value.as_str());
    names.collect::<Vec<_>>().join(" ")
}

/// Returns the shares as text, without their locations in the bundle's file.
fn shares(unit: &Unit) -> String {
    let of = |share: &Share| {
        let of = share
            .of
            .iter()
            .map(|by| format!("{}.{}", by.program, by.state));
        format!("{}: {}", share.name.value, of.collect::<Vec<_>>().join(" "))
    };
    let all = unit.bundle.shares.iter().map(of);
    all.collect::<Vec<_>>().join("\n")
}

/// Returns the hash of the elaborated program, or of the object. Comments and names of files are no part of it.
fn code(read: &Read) -> String {
    match read {
        Read::Text { program, .. } => hashed(&[program.to_string().as_bytes()]),
        Read::Built(built) => hashed(&[&built.object]),
    }
}

fn entries_of(unit: &Unit, member: &BundledProgram, file: Option<FileId>) -> String {
    match (&member.entries, file) {
        (_, Some(file)) => hashed(&[unit.map.file(file).text.as_bytes()]),
        (None | Some(Entries::File(_) | Entries::Made(..)), None) => String::new(),
        (Some(Entries::Lines(lines)), None) => {
            let lines: Vec<&[u8]> = lines.iter().map(|line| line.value.as_bytes()).collect();
            hashed(&lines)
        }
    }
}

fn externs(member: &BundledProgram) -> String {
    let texts = member.externs.iter();
    let texts: Vec<String> = texts
        .map(|file| read_text(file).unwrap_or_default())
        .collect();
    let texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    hashed(&texts)
}

fn hashed(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let bytes = hash.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the wanted interfaces as text: `0=eth0, 1=eth1, reached 2=eth2`.
fn interfaces_of(member: &BundledProgram) -> String {
    let attached = member.ports.attached();
    let attached = attached.map(|at| (at.port, at.interface));
    let reached = member.ports.reach.iter();
    let reached = reached.map(|at| (at.port, at.interface.clone()));
    listed(attached.collect(), reached.collect())
}

fn interfaces_now(member: &MemberRecord) -> String {
    let attached = member
        .interfaces
        .iter()
        .map(|at| (at.port, at.name.clone()));
    let reached = member.targets.iter().map(|at| (at.port, at.name.clone()));
    listed(attached.collect(), reached.collect())
}

fn listed(mut attached: Vec<(u32, String)>, mut reached: Vec<(u32, String)>) -> String {
    attached.sort();
    reached.sort();
    let attached = attached.iter().map(|(port, name)| format!("{port}={name}"));
    let reached = reached
        .iter()
        .map(|(port, name)| format!("reached {port}={name}"));
    attached.chain(reached).collect::<Vec<_>>().join(", ")
}
