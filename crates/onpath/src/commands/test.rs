//! `onpath test`

use super::source::elaborate_or;
use crate::args::{Test, TestTarget, TraceFormat};
use crate::output::{Done, Stop, out, out_line, print_diagnostics, print_json};
use arch::tc::Direction;
use bpf::abi::Hook;
use diag::{Code, Diagnostic, Diagnostics, SourceMap, Span};
use driver::bpf_target::Reach;
use driver::read_text;
use driver::stf::{self, Case, Prepared, Target, TestResult, Trace, TraceForm};
use kernel::features::Kernel;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;

/// How many tests went how.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    unreadable: usize,
}

/// Runs STF tests: status 0 if all pass, 1 if one fails, 2 if one cannot be read or run.
///
/// The JSON is an array with an object a test: `test`, `passed`, `sent` and `received` (numbers of
/// packets) if it was run, `failures` (texts) if it failed, `refused` (diagnostics as `onpath check
/// --json` prints them) if it, or the program, could not be run.
pub(crate) fn run(args: Test) -> Done {
    let target = target(&args)?;
    let refuse = |diagnostics: &Diagnostics, map: &SourceMap| {
        if args.json {
            let refused = args.tests.iter();
            let refused =
                refused.map(|path| refusal(&path.display().to_string(), diagnostics, map));
            print_json(&refused.collect());
        } else {
            print_diagnostics(diagnostics, map);
        }
    };
    if let Target::Kernel { .. } = target {
        Kernel::This.check().map_err(|too_old| {
            refuse(&too_old.into(), &SourceMap::new());
            Stop::AlreadyReported(2)
        })?;
    }
    let cases = match read_cases(&args) {
        Ok(cases) => cases,
        Err(why) if args.json => {
            refuse(&unreadable(&why).into(), &SourceMap::new());
            return Err(Stop::AlreadyReported(2));
        }
        Err(why) => return Err(Stop::Usage(why)),
    };
    let elaborated = elaborate_or(&args.source, refuse)?;
    let mut program = Prepared::new(elaborated, target, &args.externs).map_err(|unfit| {
        refuse(&unfit.diagnostics, &unfit.map);
        Stop::AlreadyReported(2)
    })?;
    let trace = args.trace.map(|format| Trace {
        form: match format {
            TraceFormat::Text => TraceForm::Text,
            TraceFormat::Json => TraceForm::Json,
        },
        write: Rc::new(|text| out!("{text}")),
    });
    let mut tally = Tally::default();
    let mut results: Vec<Value> = Vec::new();
    for case in &cases {
        let result = program.run(case, trace.clone());
        if args.json {
            results.push(as_json(case, &result, &program));
        } else {
            show(case, &result, &program);
        }
        match result {
            TestResult::Passed { .. } => tally.passed += 1,
            TestResult::Failed { .. } => tally.failed += 1,
            TestResult::Refused(_) | TestResult::NotLoaded(_) => tally.unreadable += 1,
        }
    }
    if args.json {
        print_json(&Value::Array(results));
    } else if cases.len() > 1 {
        out_line!("{}", tally.text());
    }
    Ok(ExitCode::from(tally.status()))
}

impl Tally {
    fn status(&self) -> u8 {
        match (self.unreadable, self.failed) {
            (0, 0) => 0,
            (0, _) => 1,
            _ => 2,
        }
    }

    fn text(&self) -> String {
        let mut text = format!("{} passed", self.passed);
        for (count, what) in [(self.failed, "failed"), (self.unreadable, "not run")] {
            if count > 0 {
                text += &format!(", {count} {what}");
            }
        }
        text
    }
}

/// A script that cannot be read, for programs.
fn unreadable(why: &str) -> Box<Diagnostic> {
    Diagnostic::error(Code("E0823"), Span::NONE, why)
        .help("check the path, and that it is a text file that you may read")
        .into()
}

/// All scripts, or why one cannot be read.
fn read_cases(args: &Test) -> Result<Vec<Case>, String> {
    let read = |path: &PathBuf| {
        Ok(Case {
            name: path.display().to_string(),
            text: read_text(path)?,
        })
    };
    args.tests.iter().map(read).collect()
}

fn show(case: &Case, result: &TestResult, program: &Prepared) {
    let name = &case.name;
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

fn as_json(case: &Case, result: &TestResult, program: &Prepared) -> Value {
    let name = &case.name;
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

fn target(args: &Test) -> Result<Target, Stop> {
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
                () if !args.externs.is_empty() => {
                    usage("`--extern` is for the kernel's targets: the interpreter does not run C")
                }
                () => Ok(Target::Interp {
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
        TestTarget::Tc => Hook::TcIngress,
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
    Ok(Target::Kernel {
        hook,
        reach,
        kernel: args.kernel.map_or(Kernel::This, Kernel::Version),
        parse_record: bpf::ParseRecord::BySize,
        layout: None,
        parts: None,
    })
}
