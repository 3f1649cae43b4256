//! `onpath build`

mod bundle;
mod layouts;

use super::loads_from;
use super::source::elaborate;
use crate::args::{Build, Emit};
use crate::output::{Done, Stop, notice, out, out_line, print_diagnostics, print_json};
use crate::written;
use bpf::costs::weights::kernel::{LONGEST, STACK};
use bpf::costs::weights::walk;
use diag::{Diagnostic, Diagnostics, SourceMap, columns};
use driver::bpf_target::{self, Compiled, Refused, Request, Trial};
use driver::built::is_object;
use driver::bundle::is_bundle;
use driver::hooks;
use host::caps;
use ir::Program;
use kernel::Verified;
use kernel::features::Kernel;
use kernel::memory::{self, Need};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Duration;

/// Compiles a program or a bundle. The status is 1 if it is refused, by the verifier too if that is asked, and 2 if
/// the target cannot run it. With `--report` the JSON is the result of [`report`], or for a refused program an object
/// with its `diagnostics`.
pub(crate) fn run(args: Build) -> Done {
    if is_object(&args.source.file) {
        return Err(Stop::Usage(format!(
            "{} is compiled already: `onpath run` loads it, `onpath check` checks it",
            args.source.file.display()
        )));
    }
    if is_bundle(&args.source.file) {
        return bundle::run(&args);
    }
    let elaborated = elaborate(&args.source)?;
    let front = elaborated.took;
    let (program, sources) = (elaborated.program, elaborated.map);
    let unfit = |diagnostics: Diagnostics| {
        print_diagnostics(&diagnostics, &sources);
        Stop::AlreadyReported(2)
    };
    let hook = match args.target {
        Some(hook) => hook.hook(),
        None => hooks::default_hook(&program),
    };
    let request = Request {
        externs: &args.externs,
        hook,
        // A report loads the program once, and tries other strategies only if it is rejected.
        trial: Trial::None,
        kernel: args.kernel.map_or(Kernel::This, Kernel::Version),
        table_memory: args.table_memory,
        notice: &notice,
        ..Request::default()
    };
    match args.emit {
        Some(Emit::IrRaw) => {
            out!("{program}");
            return Ok(ExitCode::SUCCESS);
        }
        Some(Emit::Ir) => {
            out!("{}", driver::optimise(&program));
            return Ok(ExitCode::SUCCESS);
        }
        Some(Emit::C) => {
            out!(
                "{}",
                bpf_target::generate(&program, &sources, request)
                    .map_err(unfit)?
                    .c_source
            );
            return Ok(ExitCode::SUCCESS);
        }
        None => {}
    }
    let (compiled, verification) =
        compile(&program, &sources, request, args.report).map_err(unfit)?;
    let mut written = Vec::new();
    if let Some(dir) = &args.output {
        let stem = args.source.file.file_stem().unwrap_or_default();
        written = written::program(dir, &stem.to_string_lossy(), &compiled)?;
        if !args.json {
            out_line!("{}", written::line(dir, &written));
        }
    }
    let status = status(verification.as_ref());
    let kernel = loads_from(&compiled, request);
    let report = verification.map(|verification| report(&compiled, front, &verification, &kernel));
    match (args.json, report) {
        (true, report) => {
            let mut object = report.unwrap_or_else(|| json!({}));
            if args.output.is_some() {
                object["written"] = json!(written);
            }
            print_json(&object);
        }
        (false, Some(report)) => out!("{}", show(&report)),
        (false, None) => {}
    }
    Ok(status)
}

/// Returns the exit status of a command that reports the verifier's results: 1 if it rejects a program.
fn status<'a>(asked: impl IntoIterator<Item = &'a Verification>) -> ExitCode {
    let is_refused = |asked: &Verification| matches!(asked.answer, Answer::Refused(_));
    ExitCode::from(u8::from(asked.into_iter().any(is_refused)))
}

/// Compiles a program, and asks the verifier about it if a report is wanted.
fn compile(
    program: &Program,
    sources: &SourceMap,
    request: Request,
    report: bool,
) -> Result<(Compiled, Option<Verification>), Diagnostics> {
    let compiled = bpf_target::compile(program, sources, request)?;
    match report {
        true => ask(compiled, program, sources, request).map(|(last, asked)| (last, Some(asked))),
        false => Ok((compiled, None)),
    }
}

/// The verifier's result for a program.
struct Verification {
    answer: Answer,
    /// Time that the verifier took for all objects that were tried, without the search for the locations of refusals.
    time: Duration,
}

enum Answer {
    /// This process may not ask, or the kernel is too old.
    NotAsked(String),
    Accepted {
        instructions: u32,
    },
    Refused(String),
}

/// Asks the verifier. If it rejects a program for a reason that another compilation may overcome, the other
/// strategies are tried, as `onpath run` does.
fn ask(
    compiled: Compiled,
    program: &Program,
    sources: &SourceMap,
    request: Request,
) -> Result<(Compiled, Verification), Diagnostics> {
    let missing = caps::missing(&caps::RUN);
    let reason = match Kernel::This.check() {
        Err(too_old) => Some(too_old.message.clone()),
        Ok(()) if missing.is_empty() => None,
        Ok(()) => Some(format!("this process lacks {}", missing.join(", "))),
    };
    if let Some(reason) = reason {
        let verification = Verification {
            answer: Answer::NotAsked(reason),
            time: Duration::ZERO,
        };
        return Ok((compiled, verification));
    }
    let verify = |compiled: &Compiled| kernel::verify(&compiled.object, &compiled.abi, sources);
    let mut answer = verify(&compiled);
    let mut time = answer.took;
    let mut last = compiled;
    if let Some(others) = others(&last, &answer, program, sources, request)? {
        time += others.verify_time;
        // If the best object is still the first one, its answer is known.
        if !(others.is_refused() && others.object == last.object) {
            answer = verify(&others);
            time += answer.took;
        }
        last = others;
    }
    let answer = match answer.instructions {
        Ok(instructions) => Answer::Accepted { instructions },
        Err(mut failure) => {
            let sources = bpf_target::with_externs(sources, request.externs);
            failure.find_place(&last.object, &sources);
            Answer::Refused(with_location(&failure.diagnostic, &sources))
        }
    };
    Ok((last, Verification { answer, time }))
}

/// Compiles by the other strategies, if one may overcome the verifier's reason for rejecting this object. clang's
/// time includes that of this object.
fn others(
    refused: &Compiled,
    answer: &Verified,
    program: &Program,
    sources: &SourceMap,
    request: Request,
) -> Result<Option<Compiled>, Diagnostics> {
    let failure = answer.instructions.as_ref().err();
    let Some((obstacle, reason)) = failure.and_then(|failure| failure.obstacle.as_ref()) else {
        return Ok(None);
    };
    if !obstacle.is_surmountable(refused.decisions.can_shrink()) {
        return Ok(None);
    }
    let trial = Trial::Others(Refused {
        object: &refused.object,
        obstacle: *obstacle,
        reason,
    });
    let mut others = bpf_target::compile(program, sources, Request { trial, ..request })?;
    others.clang_time += refused.clang_time;
    Ok(Some(others))
}

/// Returns the message of a refusal with its line.
fn with_location(refused: &Diagnostic, sources: &SourceMap) -> String {
    let message = &refused.message;
    match sources.line_col(refused.primary.span) {
        Some((file, at)) => format!("{message} (at {}:{})", sources.file(file).name, at.line),
        None => message.clone(),
    }
}

/// Describes the kernels that load a program which was just compiled, by [`loads_from::describe`].
fn loads_from(compiled: &Compiled, request: Request) -> Value {
    let externs: Vec<String> = request
        .externs
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    loads_from::describe(
        &compiled.abi.uses,
        request.hook,
        request.kernel.version(),
        &externs,
    )
}

/// Reports on a compiled program as JSON:
///
/// - `functions`: `name`, `section`, `instructions` and `stack` (in bytes) of each function.
/// - `instructions`, `stack`: all instructions, and the largest stack of a function; `stack_limit` is the kernel's.
/// - `maps`: `name`, `kind` and `entries` of each map. `for` has the `kind` and `name` of the object in it. `memory`
///   is in bytes, when the program is `loaded` and when the map is `full`.
/// - `memory`: that of all maps, and the `available` memory.
/// - `layouts`: search structures of tables ([`layouts::describe`]).
/// - `scratch`: `bytes` and `variables` in a per-CPU map, for which the stack has no room.
/// - `parse_record`: `used` is true if the parse results are in a per-CPU map. `estimate` is the number of
///   instructions that the verifier might process otherwise.
/// - `copied_headers`: headers that live in variables instead of the packet.
/// - `rolled_stacks`: `name` and `elements` of header stacks whose elements a loop parses.
/// - `maps_used`: `count` of maps, with each outer map counted once, and the number of `inner` maps.
/// - `programs`: number of programs that are chained by tail calls.
/// - `parser_iterations`: maximum number of loop iterations of a packet, null if the kernel has `may_goto`.
/// - `strategy`, `failed_strategies`: the strategy of compilation, and `name` and `reason` of each that failed
///   before.
/// - `verifier`: `asked`, `accepted`, and the `instructions` processed of the largest program with their `limit`, or
///   the `reason`.
/// - `milliseconds`: `own`, `clang`'s and the `verifier`'s time for all strategies, without the search for the line
///   of a refusal.
/// - `kernel`: the version of Linux from which on the object loads, and why ([`loads_from::describe`]).
fn report(
    compiled: &Compiled,
    front: Duration,
    verification: &Verification,
    kernel: &Value,
) -> Value {
    let functions: Vec<Value> = compiled
        .budget
        .functions
        .iter()
        .map(|f| json!({ "name": f.name, "section": f.section, "instructions": f.instructions, "stack": f.stack }))
        .collect();
    let needs = memory::of_program(&compiled.abi);
    let maps: Vec<Value> = compiled
        .abi
        .maps
        .iter()
        .filter_map(|m| {
            let need = needs.iter().find(|need| need.map == m.name)?;
            Some(json!({
                "name": m.name,
                "kind": m.kind,
                "entries": m.max_entries,
                "for": { "kind": need.role, "name": need.name },
                "memory": { "loaded": need.need.loaded, "full": need.need.full },
            }))
        })
        .collect();
    let all = |bytes: fn(&Need) -> u64| {
        let all = needs.iter().map(|need| bytes(&need.need));
        all.fold(0, u64::saturating_add)
    };
    let verifier = match &verification.answer {
        Answer::NotAsked(why) => json!({ "asked": false, "reason": why }),
        Answer::Accepted { instructions } => json!({
            "asked": true,
            "accepted": true,
            "instructions": instructions,
            "limit": LONGEST,
        }),
        Answer::Refused(why) => json!({ "asked": true, "accepted": false, "reason": why }),
    };
    json!({
        "kernel": kernel,
        "functions": functions,
        "instructions": compiled.budget.instructions(),
        "stack": compiled.budget.stack(),
        "stack_limit": STACK,
        "maps": maps,
        "layouts": layouts::describe(&compiled.abi, &needs),
        "memory": {
            "loaded": all(|need| need.loaded),
            "full": all(|need| need.full),
            "available": memory::available(),
        },
        "scratch": {
            "bytes": compiled.decisions.scratch_bytes,
            "variables": compiled.decisions.scratch_variables,
        },
        "parse_record": {
            "used": compiled.decisions.parse_record,
            "estimate": compiled.decisions.verifier_estimate,
        },
        "copied_headers": compiled.decisions.copied_headers,
        "rolled_stacks": compiled.decisions.rolled_stacks.iter().map(|(name, elements)| {
            json!({ "name": name, "elements": elements })
        }).collect::<Vec<_>>(),
        "maps_used": {
            "count": compiled.decisions.maps_used,
            "inner": compiled.decisions.inner_maps,
        },
        "programs": compiled.decisions.programs,
        "parser_iterations": compiled.decisions.parser_iterations,
        "strategy": compiled.strategy.name,
        "failed_strategies": compiled.failed.iter().map(|failed| {
            json!({ "name": failed.strategy.name, "reason": failed.reason })
        }).collect::<Vec<_>>(),
        "verifier": verifier,
        "milliseconds": {
            "own": (front + compiled.compiler_time).as_secs_f64() * 1e3,
            "clang": compiled.clang_time.as_secs_f64() * 1e3,
            "verifier": verification.time.as_secs_f64() * 1e3,
        },
    })
}

/// Returns the report as text.
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
        ["MAP", "KIND", "ENTRIES", "FOR", "MEMORY"]
            .map(String::from)
            .to_vec(),
    ];
    let size = |value: &Value| memory::readable(value.as_u64().unwrap_or_default());
    for m in report["maps"].as_array().into_iter().flatten() {
        let role = match text(&m["for"]["kind"]) {
            role if role.is_empty() => String::new(),
            role => format!("{role} {}", text(&m["for"]["name"])),
        };
        let mut row: Vec<String> = ["name", "kind", "entries"].map(|k| text(&m[k])).to_vec();
        row.extend([role, size(&m["memory"]["full"])]);
        rows.push(row);
    }
    if rows.len() > 1 {
        out += &columns(&rows);
        let all = &report["memory"];
        out += &format!(
            "memory: {} when loaded, {} when full",
            size(&all["loaded"]),
            size(&all["full"])
        );
        if all["full"].as_u64() > all["available"].as_u64() && all["available"].is_u64() {
            out += &format!(", more than the {} that are free", size(&all["available"]));
        }
        out += "\n";
    }
    out += &layouts::show(&report["layouts"]);
    let names = |list: &Value| {
        let list = list.as_array().map_or(&[][..], Vec::as_slice);
        list.iter().map(text).collect::<Vec<_>>().join(", ")
    };
    let moved = names(&report["scratch"]["variables"]);
    if !moved.is_empty() {
        let bytes = &report["scratch"]["bytes"];
        out += &format!("not on the stack, but in a per-CPU map: {moved} ({bytes} bytes)\n");
    }
    if report["parse_record"]["used"] == true {
        let estimate = &report["parse_record"]["estimate"];
        let about = match estimate.as_u64() {
            Some(walk::MOST) => "over",
            _ => "about",
        };
        out += &format!(
            "parse results: in a per-CPU map; in variables the verifier might process {about} {estimate} instructions\n"
        );
    }
    let copied = names(&report["copied_headers"]);
    if !copied.is_empty() {
        out += &format!("headers in variables instead of the packet: {copied}\n");
    }
    for stack in report["rolled_stacks"].as_array().into_iter().flatten() {
        let (name, elements) = (text(&stack["name"]), &stack["elements"]);
        out += &format!(
            "header stack {name}: a loop parses its {elements} elements, and the parse results say where each is\n"
        );
    }
    if let Some(inner @ 1..) = report["maps_used"]["inner"].as_u64() {
        let used = &report["maps_used"]["count"];
        out += &format!(
            "{inner} of the maps in outer maps: the program uses {used}, and the kernel lets it use 64\n"
        );
    }
    if let Some(programs @ 2..) = report["programs"].as_u64() {
        out += &format!("programs: {programs}, chained by tail calls\n");
    }
    out += &loads_from::show(&report["kernel"], report["parser_iterations"].as_u64());
    let failed = report["failed_strategies"].as_array();
    for failed in failed.into_iter().flatten() {
        let (name, reason) = (text(&failed["name"]), text(&failed["reason"]));
        out += &format!("not compiled with {name}: {reason}\n");
    }
    if failed.is_some_and(|failed| !failed.is_empty()) {
        out += &format!("compiled with {}\n", text(&report["strategy"]));
    }
    let verifier = &report["verifier"];
    let (asked, accepted) = (&verifier["asked"], &verifier["accepted"]);
    out += &match (asked == &json!(true), accepted == &json!(true)) {
        (false, _) => format!("verifier: not run: {}\n", text(&verifier["reason"])),
        (true, true) => format!(
            "verifier: accepted, {}{} instructions processed of {}\n",
            match report["programs"].as_u64() {
                Some(2..) => "up to ",
                _ => "",
            },
            verifier["instructions"],
            verifier["limit"]
        ),
        (true, false) => format!("verifier: refused: {}\n", text(&verifier["reason"])),
    };
    let ms = &report["milliseconds"];
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    out += &format!(
        "time: compiler {:.1} ms, clang {:.0} ms",
        number(&ms["own"]),
        number(&ms["clang"])
    );
    if asked == &json!(true) {
        out += &format!(", verifier {:.0} ms", number(&ms["verifier"]));
    }
    out + "\n"
}
