//! `onpath doctor`

mod commands;
mod interfaces;
mod programs;

use crate::args::Doctor;
use crate::output::{Done, Stop, out, out_line, print_diagnostics, print_json};
use commands::Command;
use diag::{SourceMap, columns};
use driver::examples;
use host::linux;
use kernel::features::Kernel;
use kernel::probe::{self, Finding, Need, ProbeOutcome};
use programs::{Program, Upgrade};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Reports what this machine supports. The status is 1 if something is missing that every program in the kernel
/// needs, and else 0.
pub(crate) fn run(args: Doctor) -> Done {
    let findings = probe::examine();
    let missing = findings
        .iter()
        .any(|f| f.state == ProbeOutcome::Missing && f.need == Need::Needed);
    let examples = examples::examine(Kernel::This).map_err(|refused| {
        print_diagnostics(&refused, &SourceMap::new());
        Stop::AlreadyReported(1)
    })?;
    let programs = programs::examine(&examples, Kernel::This);
    let upgrades = programs::upgrades(&programs);
    let commands = commands(&findings, &programs);
    let losses = interfaces::examine();
    if args.json {
        let list: Vec<Value> = findings
            .iter()
            .map(|f| {
                json!({
                    "name": f.name,
                    "state": f.state,
                    "required": f.need == Need::Needed,
                    "detail": f.detail,
                    "remedy": (f.state == ProbeOutcome::Missing).then_some(f.remedy),
                })
            })
            .collect();
        print_json(&json!({
            "kernel": linux::release(),
            "findings": list,
            "commands": commands.iter().map(Command::as_json).collect::<Vec<_>>(),
            "programs": programs.iter().map(Program::as_json).collect::<Vec<_>>(),
            "interfaces": interfaces::as_json(&losses),
            "upgrades": upgrades.iter().map(Upgrade::as_json).collect::<Vec<_>>(),
        }));
        return Ok(ExitCode::from(u8::from(missing)));
    }
    let rows: Vec<Vec<String>> = findings
        .iter()
        .map(|f| {
            let sign = match (f.state, f.need) {
                (ProbeOutcome::Present, _) => "ok",
                (ProbeOutcome::Missing, Need::Needed) => "MISSING",
                (ProbeOutcome::Missing, Need::Useful) => "absent",
                (ProbeOutcome::Unknown, _) => "unknown",
            };
            vec![sign.to_string(), f.name.to_string(), f.detail.clone()]
        })
        .collect();
    out!("Linux {}\n\n{}", linux::release(), columns(&rows));
    let remedies: Vec<_> = findings
        .iter()
        .filter(|f| f.state == ProbeOutcome::Missing)
        .collect();
    if !remedies.is_empty() {
        out_line!("\nWhat to do:");
        for finding in remedies {
            out_line!("  {}: {}", finding.name, finding.remedy);
        }
    }
    out!("{}", show_commands(&commands));
    out!("{}", show_programs(&programs));
    out!("{}", interfaces::show(&losses));
    let gains: Vec<String> = upgrades.iter().flat_map(Upgrade::lines).collect();
    if !gains.is_empty() {
        out_line!("\nWhat a newer kernel would bring the example programs:");
        for gain in gains {
            out_line!("  {gain}");
        }
    }
    let lacks = lacks_something(&commands, &programs);
    out_line!("\n{}", summary(&findings, lacks));
    Ok(ExitCode::from(u8::from(missing)))
}

/// Examines every command. `pdm` also needs what its example programs need.
fn commands(findings: &[Finding], programs: &[Program]) -> Vec<Command> {
    let mut all = commands::examine(findings);
    let mut measuring = commands::measuring(findings);
    let own = programs
        .iter()
        .find(|program| program.name == commands::PDM);
    if let Some(lacks) = own.map(|program| &program.lacks).filter(|l| !l.is_empty()) {
        for command in &mut measuring {
            command.state = ProbeOutcome::Missing;
            command.lacks.extend(lacks.iter().cloned());
        }
    }
    all.extend(measuring);
    all
}

fn show_commands(commands: &[Command]) -> String {
    let headings = [
        (ProbeOutcome::Present, "Commands that this machine runs"),
        (ProbeOutcome::Missing, "Commands that it does not run"),
        (
            ProbeOutcome::Unknown,
            "Commands that it may run, found out with more capabilities",
        ),
    ];
    let mut out = String::new();
    for (state, heading) in headings {
        let of: Vec<&Command> = commands.iter().filter(|c| c.state == state).collect();
        if of.is_empty() {
            continue;
        }
        out += &format!("\n{heading}:\n");
        for command in of {
            out += &format!("  {}", command.name);
            if !command.lacks.is_empty() {
                out += &format!(": needs {}", command.lacks.join(", "));
            }
            out += "\n";
        }
    }
    out
}

fn show_programs(programs: &[Program]) -> String {
    let (run, others): (Vec<&Program>, Vec<&Program>) = programs
        .iter()
        .partition(|program| program.lacks.is_empty());
    let names: Vec<&str> = run.iter().map(|program| program.name).collect();
    let mut out = String::new();
    if !names.is_empty() {
        out += &format!(
            "\nExample programs that this kernel loads:\n  {}\n",
            names.join(", ")
        );
    }
    if !others.is_empty() {
        out += &format!(
            "\nExample programs that it does not load ({}):\n",
            programs::remedy(programs)
        );
        for program in others {
            out += &format!("  {}: needs {}\n", program.name, program.lacks.join(", "));
        }
    }
    out
}

/// Name of the finding about the compiler.
const CLANG: &str = "clang";

/// Returns true if a command or an example needs something that is missing, besides the compiler. Features with a
/// fallback are not needed.
fn lacks_something(commands: &[Command], programs: &[Program]) -> bool {
    let missing = commands.iter().filter(|c| c.state == ProbeOutcome::Missing);
    let mut of_commands = missing.flat_map(|command| &command.lacks);
    of_commands.any(|lacks| lacks != CLANG) || programs.iter().any(|p| !p.lacks.is_empty())
}

/// Summarises the findings in a sentence.
fn summary(findings: &[Finding], lacks_something: bool) -> String {
    let has = |name: &str| {
        let found = findings.iter().find(|f| f.name == name);
        found.is_some_and(|f| f.state == ProbeOutcome::Present)
    };
    let is_missing = |f: &Finding, need| f.state == ProbeOutcome::Missing && f.need == need;
    if findings.iter().any(|f| is_missing(f, Need::Needed)) {
        return "This machine cannot run programs in the kernel yet; the interpreter runs anywhere."
            .into();
    }
    let hooks = match has("tcx") || has("tc filters") {
        true => "by XDP and by tc",
        false => "by XDP",
    };
    let but = match lacks_something {
        true => "; some programs or commands need missing features",
        false => "",
    };
    match has(CLANG) {
        true => format!("This machine can run programs {hooks}{but}."),
        false => format!(
            "This machine can run programs {hooks} that `onpath build -o` compiled on another one; without clang it \
             compiles none{but}."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_clang_a_machine_runs_what_was_built() {
        let mut all = vec![
            finding("kernel", ProbeOutcome::Present, Need::Needed),
            finding("clang", ProbeOutcome::Missing, Need::Useful),
            finding("tcx", ProbeOutcome::Present, Need::Useful),
        ];
        assert_eq!(
            summary(&all, false),
            "This machine can run programs by XDP and by tc that `onpath build -o` compiled on another one; without \
             clang it compiles none."
        );
        all[2].state = ProbeOutcome::Missing;
        assert!(
            summary(&all, true)
                .ends_with("compiles none; some programs or commands need missing features.")
        );
    }

    fn finding(name: &'static str, state: ProbeOutcome, need: Need) -> Finding {
        Finding {
            name,
            state,
            detail: String::new(),
            need,
            remedy: "",
        }
    }

    #[test]
    fn what_is_absent_is_in_the_last_line() {
        let mut all = vec![
            finding("kernel", ProbeOutcome::Present, Need::Needed),
            finding("tcx", ProbeOutcome::Present, Need::Useful),
            finding("clang", ProbeOutcome::Present, Need::Useful),
        ];
        assert_eq!(
            summary(&all, false),
            "This machine can run programs by XDP and by tc."
        );
        assert_eq!(
            summary(&all, true),
            "This machine can run programs by XDP and by tc; some programs or commands need missing features."
        );
        all[1].state = ProbeOutcome::Missing;
        assert!(summary(&all, true).contains("programs by XDP; some"));
        all[0].state = ProbeOutcome::Missing;
        assert!(summary(&all, true).contains("cannot run programs in the kernel yet"));
    }

    #[test]
    fn what_has_a_fallback_is_not_needed() {
        let lacking = |state, lacks: &[&str]| {
            let command = Command {
                name: "pdm",
                state,
                lacks: lacks.iter().map(|lacks| (*lacks).to_string()).collect(),
            };
            lacks_something(&[command], &[])
        };
        assert!(!lacking(ProbeOutcome::Present, &[]));
        assert!(!lacking(ProbeOutcome::Missing, &["clang"]));
        assert!(lacking(
            ProbeOutcome::Missing,
            &["clang", "detached mounts"]
        ));
        assert!(!lacking(ProbeOutcome::Unknown, &["capabilities"]));
    }
}
