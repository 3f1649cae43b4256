//! `onpath build`

use super::source::elaborate_or;
use crate::args::{Build, Emit};
use crate::output::{Done, Form, Stop, failed, print_json, say, say_line};
use diag::{Diagnostics, SourceMap, columns, system_message};
use driver::bpf_target::{self, Compiled, Request};
use driver::hooks;
use kernel::budget::{STACK_LIMIT, VERIFIER_LIMIT};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Compiles a program: status 1 if it is refused, 2 if the target cannot run it. With `--report` the
/// JSON is what [`report`] makes, or, of a program that is refused, an object with its `diagnostics`.
pub fn run(args: Build) -> Done {
    let form = Form::of(args.json);
    let elaborated = elaborate_or(&args.source, |why, sources| form.print(why, sources))?;
    let front = elaborated.took;
    let (program, sources) = (elaborated.program, elaborated.map);
    let unfit = |diagnostics: Diagnostics| {
        form.print(&diagnostics, &sources);
        Stop::Told(2)
    };
    let hook = match args.hook {
        Some(hook) => hook.hook(),
        None => hooks::usual(&program.arch),
    };
    let request = Request {
        externs: &args.externs,
        hook,
        ..Request::default()
    };
    match args.emit {
        Some(Emit::IrRaw) => {
            say!("{program}");
            return Ok(ExitCode::SUCCESS);
        }
        Some(Emit::Ir) => {
            say!("{}", driver::optimise(&program));
            return Ok(ExitCode::SUCCESS);
        }
        Some(Emit::C) => {
            say!(
                "{}",
                bpf_target::generate(&program, &sources, request)
                    .map_err(unfit)?
                    .c_source
            );
            return Ok(ExitCode::SUCCESS);
        }
        None => {}
    }
    let compiled = bpf_target::compile(&program, &sources, request).map_err(unfit)?;
    let stem = args
        .source
        .file
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    if let Some(dir) = &args.output {
        write(dir, &stem, &compiled)?;
        if !args.json {
            say_line!(
                "{}: {stem}.c, {stem}.o and {stem}.json written",
                dir.display()
            );
        }
    }
    if args.report {
        let report = report(&compiled, front, &sources);
        if args.json {
            print_json(&report);
        } else {
            say!("{}", show(&report));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write(dir: &Path, stem: &str, compiled: &Compiled) -> Result<(), Stop> {
    let mut description = control::describe::describe(&compiled.schema);
    description["schema"] = serde_json::to_value(&*compiled.schema).unwrap_or_default();
    description["bpf"] = serde_json::to_value(&*compiled.abi).unwrap_or_default();
    let files: [(&str, Vec<u8>); 3] = [
        ("c", compiled.c_source.clone().into_bytes()),
        ("o", compiled.object.clone()),
        ("json", format!("{description:#}\n").into_bytes()),
    ];
    if let Err(error) = std::fs::create_dir_all(dir) {
        let why = system_message(&error);
        return failed(format!("`{}` could not be made: {why}", dir.display()));
    }
    for (extension, bytes) in files {
        let path = dir.join(format!("{stem}.{extension}"));
        if let Err(error) = std::fs::write(&path, bytes) {
            let why = system_message(&error);
            return failed(format!("`{}` was not written: {why}", path.display()));
        }
    }
    Ok(())
}

/// What the program needs: `functions` (each with `name`, `section`, `instructions`, `stack` in bytes),
/// `instructions` and `stack` of the whole, `stack_limit`, `maps` (each with `name`, `kind`, `entries`,
/// `bytes`), what the compiler moved (`scratch`: `bytes` and `variables` in a per-CPU map, for which the
/// stack has no room; `copied_headers`: those that live in variables instead of the packet), the
/// `strategy` by which it was compiled and the `failed_strategies` before it (`name` and `reason`), what the
/// `verifier` says (`accepted`, and `instructions` walked with their `limit`, or the `reason`), and
/// `milliseconds` of `own` and `clang`'s time.
fn report(compiled: &Compiled, front: Duration, sources: &SourceMap) -> Value {
    let functions: Vec<Value> = compiled
        .budget
        .functions
        .iter()
        .map(|f| json!({ "name": f.name, "section": f.section, "instructions": f.instructions, "stack": f.stack }))
        .collect();
    let maps: Vec<Value> = compiled
        .abi
        .maps
        .iter()
        .map(|m| {
            let bytes = u64::from(m.key_size + m.value_size) * u64::from(m.max_entries);
            json!({ "name": m.name, "kind": m.kind, "entries": m.max_entries, "bytes": bytes })
        })
        .collect();
    let verifier = match kernel::load(&compiled.object, &compiled.abi, &compiled.schema, sources) {
        Ok(instance) => json!({
            "accepted": true,
            "instructions": instance.program.prog().info().ok().map(|i| i.verified_instructions),
            "limit": VERIFIER_LIMIT,
        }),
        Err(failure) => json!({ "accepted": false, "reason": failure.diagnostic.message }),
    };
    json!({
        "functions": functions,
        "instructions": compiled.budget.instructions(),
        "stack": compiled.budget.stack(),
        "stack_limit": STACK_LIMIT,
        "maps": maps,
        "scratch": {
            "bytes": compiled.decisions.scratch_bytes,
            "variables": compiled.decisions.scratch_variables,
        },
        "copied_headers": compiled.decisions.copied_headers,
        "strategy": compiled.strategy.name,
        "failed_strategies": compiled.failed.iter().map(|failed| {
            json!({ "name": failed.strategy.name, "reason": failed.reason })
        }).collect::<Vec<_>>(),
        "verifier": verifier,
        "milliseconds": {
            "own": (front + compiled.own_time).as_secs_f64() * 1e3,
            "clang": compiled.clang_time.as_secs_f64() * 1e3,
        },
    })
}

/// The report for people.
fn show(report: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut rows = vec![
        ["FUNCTION", "INSTRUCTIONS", "STACK"]
            .map(String::from)
            .to_vec(),
    ];
    for f in report["functions"].as_array().into_iter().flatten() {
        let stack = format!("{} of {} bytes", f["stack"], report["stack_limit"]);
        rows.push(vec![text(&f["name"]), text(&f["instructions"]), stack]);
    }
    let mut out = columns(&rows);
    let mut rows = vec![
        ["MAP", "KIND", "ENTRIES", "BYTES"]
            .map(String::from)
            .to_vec(),
    ];
    for m in report["maps"].as_array().into_iter().flatten() {
        rows.push(
            ["name", "kind", "entries", "bytes"]
                .iter()
                .map(|k| text(&m[k]))
                .collect(),
        );
    }
    if rows.len() > 1 {
        out += &columns(&rows);
    }
    let names = |list: &Value| {
        let list = list.as_array().map_or(&[][..], Vec::as_slice);
        list.iter().map(text).collect::<Vec<_>>().join(", ")
    };
    let moved = names(&report["scratch"]["variables"]);
    if !moved.is_empty() {
        let bytes = &report["scratch"]["bytes"];
        out += &format!("not on the stack, but in a per-CPU map: {moved} ({bytes} bytes)\n");
    }
    let copied = names(&report["copied_headers"]);
    if !copied.is_empty() {
        out += &format!("headers in variables instead of the packet: {copied}\n");
    }
    let failed = report["failed_strategies"].as_array();
    for failed in failed.into_iter().flatten() {
        let (name, reason) = (text(&failed["name"]), text(&failed["reason"]));
        out += &format!("not compiled with {name}: {reason}\n");
    }
    if failed.is_some_and(|failed| !failed.is_empty()) {
        out += &format!("compiled with {}\n", text(&report["strategy"]));
    }
    let verifier = &report["verifier"];
    out += &if verifier["accepted"] == json!(true) {
        format!(
            "verifier: accepted, {} instructions walked of {}\n",
            verifier["instructions"], verifier["limit"]
        )
    } else {
        format!("verifier: not accepted: {}\n", text(&verifier["reason"]))
    };
    let ms = &report["milliseconds"];
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    out + &format!(
        "time: {:.1} ms our own, {:.0} ms clang\n",
        number(&ms["own"]),
        number(&ms["clang"])
    )
}
