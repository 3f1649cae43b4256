//! Reports of `onpath run --specialize`.

use crate::output::{err_line, out_line, print_diagnostics};
use diag::counted;
use driver::specialize::{Done, Specialization};
use serde_json::{Value, json};

/// Prints a report on one program of an instance.
pub(super) fn print(instance: &str, program: &str, what: &Specialization<'_>, json: bool) {
    match what {
        Specialization::Done(done) if json => out_line!("{}", as_json(instance, program, done)),
        Specialization::Done(done) => print_done(program, done),
        Specialization::Refused(diagnostics, texts) => {
            err_line!("{program}: not specialized:");
            print_diagnostics(diagnostics, texts);
        }
        Specialization::Failed(error) => err_line!("{program}: not specialized: {error}"),
        Specialization::NoProc => err_line!("{program}: not specialized: /proc is not mounted"),
    }
}

fn as_json(instance: &str, program: &str, done: &Done) -> Value {
    let tables = done.tables.iter();
    let tables: Vec<Value> = tables
        .map(|table| json!({ "table": table.name, "entries": table.entries }))
        .collect();
    let left = done.left_alone.iter();
    let left: Vec<Value> = left
        .map(|(table, why)| json!({ "table": table, "reason": why.to_string() }))
        .collect();
    json!({
        "name": instance, "program": program, "state": "specialized", "tables": tables, "left_alone": left,
        "milliseconds": done.took.as_millis() as u64,
    })
}

fn print_done(program: &str, done: &Done) {
    let took = done.took.as_millis();
    let tables: Vec<String> = done
        .tables
        .iter()
        .map(|table| format!("{} ({})", table.name, counted(table.entries, "entry")))
        .collect();
    out_line!(
        "{program}: specialized in {took} ms to {}",
        tables.join(", ")
    );
    for (table, why) in &done.left_alone {
        out_line!("{program}: table {table} is looked up: {why}");
    }
}
