//! `onpath run --specialize`: what watches the tables of running programs.

use super::prepare::{Origin as Prior, Prepared, Read};
use super::unit::Unit;
use crate::output::{Stop, err_line, out_line, print_diagnostics};
use diag::counted;
use driver::specialize::{Done, Failed, Origin, Specializer};
use kernel::Pins;
use kernel::pins::Owner;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often is looked whether a table has changed.
const LOOK: Duration = Duration::from_millis(50);

/// A program that is to be specialized.
pub(super) struct Member {
    /// Its name in its instance.
    name: String,
    /// How the user knows it.
    label: String,
    origin: Origin,
}

/// Fails if a program has no text to compile anew.
pub(super) fn check(unit: &Unit, read: &[Read]) -> Result<(), Stop> {
    let mut all = unit.bundle.programs.iter().zip(read);
    let built = all.find(|(_, read)| matches!(read, Read::Built(_)));
    match built {
        None => Ok(()),
        Some((member, _)) => Err(Stop::Usage(format!(
            "`--specialize` compiles P4 programs anew, and {} is compiled already: give the program's text, or omit the flag",
            member.source.value.display()
        ))),
    }
}

/// What is needed to specialize the programs of a unit.
pub(super) fn members(unit: &Unit, prepared: Vec<Prepared>) -> Vec<Member> {
    let programs = unit.bundle.programs.iter().zip(prepared);
    let member = |(member, prepared): (&driver::bundle::Member, Prepared)| {
        let Prior::Text(text) = prepared.origin else {
            return None;
        };
        Some(Member {
            name: member.name.value.clone(),
            label: unit.label(member),
            origin: Origin {
                program: text.program,
                sources: text.sources,
                hook: prepared.hook,
                externs: member.externs.clone(),
            },
        })
    };
    programs.filter_map(member).collect()
}

/// The threads that watch the programs' tables.
pub(super) struct Watchers {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Watchers {
    /// Has them end. One that compiles a program first completes that.
    pub(super) fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            // What it had to report, it has.
            let _ = thread.join();
        }
    }
}

/// Starts to watch the tables of an instance's programs.
pub(super) fn start(instance: &str, members: Vec<Member>, json: bool) -> Watchers {
    let stop = Arc::new(AtomicBool::new(false));
    let threads = members.into_iter().map(|member| {
        let (instance, stop) = (instance.to_owned(), Arc::clone(&stop));
        thread::spawn(move || watch(&instance, member, &stop, json))
    });
    Watchers {
        threads: threads.collect(),
        stop,
    }
}

/// Watches a program's tables until it is unloaded, or this is to stop.
fn watch(instance: &str, member: Member, stop: &AtomicBool, json: bool) {
    let Member {
        name,
        label,
        origin,
    } = member;
    let Ok((_, store)) = Pins::default().open(instance, Some(&name)) else {
        return;
    };
    let Ok(this) = Owner::this() else {
        return err_line!("{label}: not specialized: /proc is not mounted");
    };
    let mut specializer = match Specializer::new(origin, store, this) {
        Ok(specializer) => specializer,
        Err(Failed::Unloaded) => return,
        Err(Failed::Refused(_)) => return,
        Err(Failed::Store(error)) => return err_line!("{label}: not specialized: {error}"),
    };
    while !stop.load(Ordering::Relaxed) {
        match specializer.step() {
            Ok(None) => thread::sleep(LOOK),
            Ok(Some(done)) => print(instance, &label, &done, json),
            Err(Failed::Unloaded) => return,
            Err(Failed::Store(error)) => err_line!("{label}: not specialized: {error}"),
            Err(Failed::Refused(diagnostics)) => {
                err_line!("{label}: not specialized:");
                print_diagnostics(&diagnostics, specializer.sources());
            }
        }
    }
}

fn print(instance: &str, label: &str, done: &Done, json: bool) {
    let took = done.took.as_millis();
    if json {
        let tables = done.tables.iter();
        let tables: Vec<Value> = tables
            .map(|table| json!({ "table": table.name, "entries": table.entries }))
            .collect();
        let left = done.left_alone.iter();
        let left: Vec<Value> = left
            .map(|(table, why)| json!({ "table": table, "reason": why.to_string() }))
            .collect();
        out_line!(
            "{}",
            json!({ "name": instance, "program": label, "state": "specialized", "tables": tables, "left_alone": left, "milliseconds": took as u64 })
        );
        return;
    }
    let tables: Vec<String> = done
        .tables
        .iter()
        .map(|table| format!("{} ({})", table.name, counted(table.entries, "entry")))
        .collect();
    out_line!("{label}: specialized in {took} ms to {}", tables.join(", "));
    for (table, why) in &done.left_alone {
        out_line!("{label}: table {table} is looked up: {why}");
    }
}
