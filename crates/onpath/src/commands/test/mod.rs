//! `onpath test`

mod folder;
mod junit;
mod replay;
mod runs;

use crate::args::{Test, TestTarget, TraceFormat};
use crate::output::{Done, Stop, out, out_line, print_diagnostics, print_json};
use arch::tc::Direction;
use bpf::abi::Hook;
use diag::{Diagnostic, Diagnostics, SourceMap, render_plain, shown};
use driver::bpf_target::Reach;
use driver::stf::{self, Case, Prepared, StfTarget, TestResult, Trace, TraceForm};
use host::files::read_text;
use junit::{Came, Ran};
use kernel::features::Kernel;
use runs::{Refused, Runs, TestPlan};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Numbers of tests by result.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    unreadable: usize,
    skipped: usize,
}

/// Runs STF tests. The status is 0 if all pass, 1 if one fails, and 2 if one cannot be read or run. Tests that are
/// not for the target are skipped.
///
/// The JSON is an array with an object for each test:
///
/// - `test`: its name.
/// - `passed`: true if it passed; absent if it was skipped.
/// - `sent`, `received`: numbers of packets, if it was run.
/// - `failures`: texts, if it failed.
/// - `warnings`: diagnostics, if there are any.
/// - `refused`: diagnostics as `onpath check --json` prints them, if it or the program could not be run.
/// - `skipped`: the reason, if it is not for the target.
pub(crate) fn run(args: Test) -> Done {
    let target = target(&args)?;
    if !args.read.is_empty() {
        return replay::run(&args, target);
    }
    let is_folder = args.source.file.is_dir();
    let needed = match (is_folder, args.tests.is_empty()) {
        (true, false) => Some("give a folder alone, or a program and its tests"),
        (false, true) => Some("name the tests of the program, or a folder with programs and tests"),
        _ if is_folder && args.trace.is_some() => Some("`--trace` is for the tests of one program"),
        _ => None,
    };
    if let Some(text) = needed {
        return Err(Stop::Usage(text.to_string()));
    }
    if let StfTarget::Kernel { .. } = target {
        Kernel::This.check().map_err(|too_old| {
            refuse_all(&args, &too_old.into(), &SourceMap::new());
            Stop::AlreadyReported(2)
        })?;
    }
    let (results, tally) = if is_folder {
        folder::run(&args, target)?
    } else {
        of_program(&args, target)?
    };
    write_junit(&args, &results)?;
    Ok(ExitCode::from(tally.status()))
}

/// Writes the results to the file for a build server, if the arguments name one.
fn write_junit(args: &Test, results: &[Ran]) -> Result<(), Stop> {
    let Some(path) = &args.junit else {
        return Ok(());
    };
    std::fs::write(path, junit::document(results)).map_err(|error| {
        let why = diag::system_message(&error);
        Stop::Failed(format!("`{}` cannot be written: {why}", path.display()))
    })
}

/// Returns the result of a test that was run.
fn came(result: &TestResult, program: &Prepared) -> Came {
    match result {
        TestResult::Passed { .. } => Came::Passed,
        TestResult::Failed { failures, .. } => Came::Failed(failures.join("\n")),
        TestResult::Refused(why) | TestResult::NotLoaded(why) => {
            Came::Refused(render_plain(why, program.map(result)))
        }
    }
}

/// Reports errors that keep all tests from running.
fn refuse_all(args: &Test, diagnostics: &Diagnostics, map: &SourceMap) {
    if args.json {
        let refused = args.tests.iter();
        let refused = refused.map(|path| refusal(&path.display().to_string(), diagnostics, map));
        print_json(&refused.collect());
    } else {
        print_diagnostics(diagnostics, map);
    }
}

/// Runs the tests that the arguments name, on their program.
fn of_program(args: &Test, target: StfTarget) -> Result<(Vec<Ran>, Tally), Stop> {
    let cannot = |why: String| {
        refuse_all(args, &unreadable(&why).into(), &SourceMap::new());
        Stop::AlreadyReported(2)
    };
    let cases = read_cases(args).map_err(cannot)?;
    let mut runs = Runs::new(args, args.source.clone(), args.externs.clone(), target);
    let over = |name: String, came, took| Ran {
        program: args.source.file.display().to_string(),
        name,
        came,
        took,
    };
    let stop = |why: Box<Refused>| {
        refuse_all(args, &why.diagnostics, &why.map);
        let text = render_plain(&why.diagnostics, &why.map);
        let refused = |case: &Case| {
            let came = Came::Refused(text.clone());
            over(case.name.clone(), came, Duration::ZERO)
        };
        let all: Vec<Ran> = cases.iter().map(refused).collect();
        let written = write_junit(args, &all).err();
        written.unwrap_or(Stop::AlreadyReported(why.status))
    };
    let plans: Result<Vec<TestPlan>, _> = cases.iter().map(|case| runs.plan(case)).collect();
    let plans = plans.map_err(stop)?;
    let trace = args.trace.map(|format| Trace {
        form: match format {
            TraceFormat::Text => TraceForm::Text,
            TraceFormat::Json => TraceForm::Json,
        },
        write: Rc::new(|text| out!("{text}")),
    });
    let mut tally = Tally::default();
    let mut all: Vec<Ran> = Vec::new();
    let mut results: Vec<Value> = Vec::new();
    for (case, plan) in cases.iter().zip(plans) {
        let directions = match plan {
            TestPlan::Run(directions) => directions,
            TestPlan::Skip(why) => {
                if args.json {
                    results.push(json!({ "test": case.name, "skipped": why }));
                } else {
                    out_line!("{}: skipped: {why}", shown(&case.name));
                }
                all.push(over(case.name.clone(), Came::Skipped(why), Duration::ZERO));
                continue;
            }
        };
        for direction in directions {
            let name = direction_shown(&case.name, runs.declared(direction));
            let prepared = runs.prepared(direction, print_diagnostics);
            let program = prepared.map_err(stop)?;
            let begun = Instant::now();
            let result = program.run(case, trace.clone());
            if args.json {
                results.push(as_json(&name, &result, program));
            } else {
                let (warnings, script) = program.warnings();
                print_diagnostics(warnings, script);
                show(&name, &result, program);
            }
            let came = came(&result, program);
            all.push(over(name, came, begun.elapsed()));
        }
    }
    all.iter().for_each(|ran| tally.add(&ran.came));
    if args.json {
        print_json(&Value::Array(results));
    } else if all.len() > 1 {
        out_line!("{}", tally.text());
    }
    Ok((all, tally))
}

/// Returns the name of a test, with its direction if that is not ingress.
fn direction_shown(name: &str, direction: Direction) -> String {
    match direction {
        Direction::Ingress => name.to_string(),
        Direction::Egress => format!("{name} (egress)"),
    }
}

impl Tally {
    fn add(&mut self, came: &Came) {
        *match came {
            Came::Passed => &mut self.passed,
            Came::Failed(_) => &mut self.failed,
            Came::Refused(_) => &mut self.unreadable,
            Came::Skipped(_) => &mut self.skipped,
        } += 1;
    }

    fn status(&self) -> u8 {
        match (self.unreadable, self.failed) {
            (0, 0) => 0,
            (0, _) => 1,
            _ => 2,
        }
    }

    fn text(&self) -> String {
        let mut text = format!("{} passed", self.passed);
        for (count, what) in [
            (self.failed, "failed"),
            (self.unreadable, "not run"),
            (self.skipped, "skipped"),
        ] {
            if count > 0 {
                text += &format!(", {count} {what}");
            }
        }
        text
    }
}

/// Returns the diagnostic for a script that cannot be read.
fn unreadable(why: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0823",
        why,
        "check the path, and that it is a text file that you may read",
    )
}

/// Reads all scripts, or returns the reason why one cannot be read.
fn read_cases(args: &Test) -> Result<Vec<Case>, String> {
    let read = |path: &PathBuf| {
        Ok(Case {
            name: path.display().to_string(),
            text: read_text(path)?,
        })
    };
    args.tests.iter().map(read).collect()
}

fn show(name: &str, result: &TestResult, program: &Prepared) {
    let name = shown(name);
    match result {
        TestResult::Passed {
            sent: 0,
            received: 0,
        } => out_line!("{name}: passed (it sends no packet)"),
        TestResult::Passed { sent, received } => {
            out_line!(
                "{name}: passed ({} in, {received} out)",
                stf::packets(*sent)
            );
        }
        TestResult::Failed { failures, .. } => {
            out_line!("{name}: FAILED");
            for failure in failures {
                out_line!("{failure}");
            }
        }
        TestResult::Refused(diagnostics) | TestResult::NotLoaded(diagnostics) => {
            print_diagnostics(diagnostics, program.map(result))
        }
    }
}

fn as_json(name: &str, result: &TestResult, program: &Prepared) -> Value {
    let mut json = result_as_json(name, result, program);
    let (warnings, script) = program.warnings();
    if !warnings.is_empty() {
        json["warnings"] = diag::to_json(warnings, script);
    }
    json
}

fn result_as_json(name: &str, result: &TestResult, program: &Prepared) -> Value {
    match result {
        TestResult::Passed { sent, received } => {
            json!({ "test": name, "passed": true, "sent": sent, "received": received })
        }
        TestResult::Failed {
            failures,
            sent,
            received,
        } => {
            json!({ "test": name, "passed": false, "sent": sent, "received": received, "failures": failures })
        }
        TestResult::Refused(diagnostics) | TestResult::NotLoaded(diagnostics) => {
            refusal(name, diagnostics, program.map(result))
        }
    }
}

fn refusal(name: &str, diagnostics: &Diagnostics, map: &SourceMap) -> Value {
    json!({ "test": name, "passed": false, "refused": diag::to_json(diagnostics, map) })
}

fn target(args: &Test) -> Result<StfTarget, Stop> {
    let usage = |text: &str| Err(Stop::Usage(text.to_string()));
    let hook = match args.target {
        TestTarget::Interp => {
            return match () {
                () if args.fast => {
                    usage("`--fast` is for the kernel's targets: the interpreter has only one mode")
                }
                () if args.kernel.is_some() => {
                    usage("`--kernel` is for the kernel's targets: the interpreter needs none")
                }
                () => Ok(StfTarget::Interp {
                    seed: args.seed.unwrap_or(control::repeatable::SEED),
                    direction: if args.egress {
                        Direction::Egress
                    } else {
                        Direction::Ingress
                    },
                }),
            };
        }
        TestTarget::Xdp => Hook::Xdp,
        TestTarget::TcIngress => Hook::TcIngress,
        TestTarget::TcEgress => Hook::TcEgress,
    };
    if args.trace.is_some() {
        return usage("`--trace` is for `--target interp`: run the test there to print a trace");
    }
    if args.seed.is_some() {
        return usage("`--seed` is for `--target interp`: the kernel draws its own random numbers");
    }
    if args.egress {
        return usage(
            "`--egress` is for `--target interp`: in the kernel, use `--target tc-egress`",
        );
    }
    let reach = if args.fast {
        Reach::TestRun
    } else {
        Reach::Veth
    };
    Ok(StfTarget::Kernel {
        hook,
        reach,
        kernel: args.kernel.map_or(Kernel::This, Kernel::Version),
        parse_record: bpf::ParseRecord::BySize,
        layout: None,
        outline: None,
    })
}
