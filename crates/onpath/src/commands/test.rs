//! `onpath test`

use super::source::elaborate;
use crate::args::{Test, TestTarget, TraceFormat};
use crate::output::{Done, Stop, failed, print_diagnostics, print_json};
use crate::stf::{self, Case, Target, Trace, Verdict};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Runs STF tests: status 0 if all pass, 1 if one fails, 2 if the target cannot run them.
pub fn run(args: Test) -> Done {
    let target = target(&args)?;
    let elaborated = elaborate(&args.source)?;
    let mut program =
        stf::Prepared::new(elaborated, target, &args.externs).map_err(|refused| refused.tell())?;
    let trace = args.trace.map(|format| match format {
        TraceFormat::Text => Trace::Text,
        TraceFormat::Json => Trace::Json,
    });
    let mut results: Vec<Value> = Vec::new();
    let mut passed = 0;
    for path in &args.tests {
        let name = path.display().to_string();
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => return failed(format!("{name} could not be read: {error}")),
        };
        let case = Case {
            name: name.clone(),
            text,
        };
        match program.run(&case, trace) {
            Verdict::Passed { sent, received } => {
                passed += 1;
                if !args.json {
                    println!("{name}: passed ({sent} packets in, {received} out)");
                }
                results.push(
                    json!({ "test": name, "passed": true, "sent": sent, "received": received }),
                );
            }
            Verdict::Failed(failures) => {
                if !args.json {
                    println!("{name}: FAILED");
                    for failure in &failures {
                        println!("{failure}");
                    }
                }
                results.push(json!({ "test": name, "passed": false, "failures": failures }));
            }
            Verdict::Refused(diagnostics) => {
                print_diagnostics(&diagnostics, program.map());
                return Err(Stop::Told(2));
            }
        }
    }
    if args.json {
        print_json(&Value::Array(results));
    }
    Ok(ExitCode::from(u8::from(passed != args.tests.len())))
}

fn target(args: &Test) -> Result<Target, Stop> {
    let usage = |text: &str| Err(Stop::Usage(text.to_string()));
    match (args.target, args.fast) {
        (TestTarget::Interp, true) => {
            usage("`--fast` is for `--target xdp`: the interpreter has but one way")
        }
        (TestTarget::Interp, false) if !args.externs.is_empty() => {
            usage("`--extern` is for `--target xdp`: the interpreter does not run C")
        }
        (TestTarget::Interp, false) => Ok(Target::Interp { seed: args.seed }),
        (TestTarget::Xdp, _) if args.trace.is_some() => usage(
            "`--trace` is for `--target interp`: run the test there to see the packet's story",
        ),
        (TestTarget::Xdp, true) => Ok(Target::XdpFast),
        (TestTarget::Xdp, false) => Ok(Target::XdpVeth),
    }
}
