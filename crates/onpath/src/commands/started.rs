//! Reports of the commands that start programs, on success and on failure.

use crate::commands::{attached, changes};
use crate::output::{Stop, err_line, print_diagnostics};
use diag::counted;
use driver::built::errors::for_kernel;
use driver::run::{Adjusted, Filled, NotStarted, Rejected, Report, Running, Unsuited};
use host::linux::kernel_version;
use kernel::loss::{Loss, LossKind};

/// Prints why a unit was not started. For a rejection by the kernel, it also prints the log if `verbose` is set, and
/// the advice `instead`.
pub(crate) fn not_started(why: NotStarted, verbose: bool, instead: Option<&str>) -> Stop {
    let print = |report: &Report| print_diagnostics(&report.diagnostics, &report.texts);
    match why {
        NotStarted::Wrong(report) => {
            print(&report);
            Stop::AlreadyReported(1)
        }
        NotStarted::Unfit(report) => {
            print(&report);
            Stop::AlreadyReported(2)
        }
        NotStarted::Rejected(rejected) => {
            let Rejected {
                report,
                log,
                made_for,
            } = *rejected;
            print(&report);
            if let Some((major, minor)) = made_for {
                err_line!(
                    "note: this object was built for Linux {major}.{minor} and newer; {}",
                    for_kernel(kernel_version())
                );
            }
            if verbose {
                err_line!("\nthe kernel's log:\n{log}");
            } else if !log.is_empty() {
                err_line!("note: `--verbose` shows the kernel's full log");
            }
            if let Some(instead) = instead {
                err_line!("note: {instead}");
            }
            Stop::AlreadyReported(1)
        }
        NotStarted::Unsuited(unsuited) => Stop::Usage(unsuited_text(unsuited)),
        NotStarted::Unchanged { name } => Stop::Failed(format!("{name} runs already")),
        NotStarted::Failed(text) => Stop::Failed(text),
    }
}

impl From<NotStarted> for Stop {
    fn from(why: NotStarted) -> Stop {
        not_started(why, false, None)
    }
}

fn unsuited_text(unsuited: Unsuited) -> String {
    match unsuited {
        Unsuited::NothingAtTc { name, flag } => format!(
            "`{flag}` is for programs at tc, and {name} runs by XDP: omit it, or add `--target tc-ingress`"
        ),
        Unsuited::NoText { object } => format!(
            "`--specialize` compiles P4 programs anew, and {} is compiled already: give the program's text, or omit the flag",
            object.display()
        ),
        Unsuited::Devices(why) => why,
    }
}

/// Returns lines about a unit that was started: the time that it took, its attachments, and changed settings.
pub(crate) fn started(running: &Running<'_>) -> Vec<String> {
    let name = running.name();
    let took = running.took.as_millis();
    let instructions = counted(running.instructions, "instruction");
    let mut lines = vec![match running.compiler_time {
        None => format!("{name}: loaded in {took} ms, {instructions}"),
        Some(compiler) => format!(
            "{name}: compiled and loaded in {took} ms (compiler {} ms), {instructions}",
            compiler.as_millis(),
        ),
    }];
    let at = running.attached.iter();
    lines.extend(at.flat_map(|at| attached::lines(&at.program, &at.port, at.hook.name(), &at.how)));
    lines.extend(adjusted(name, &running.adjusted));
    if running.hidden {
        lines.push(format!(
            "{name}: not visible to commands outside this mount namespace (`ip netns exec` creates one for each \
             command; `onpath --netns NAME` does not)"
        ));
    }
    lines
}

/// Returns warnings about its programs' losses, a line for each kind that matters.
pub(crate) fn warnings(running: &Running<'_>, matters: impl Fn(LossKind) -> bool) -> Vec<String> {
    let of_one = running.losses.chunk_by(|one, other| one.0 == other.0);
    let lines = of_one.flat_map(|of_one| {
        let all = of_one.iter().map(|(_, loss)| loss);
        let all: Vec<&Loss> = all.filter(|loss| matters(loss.kind)).collect();
        attached::loss_lines(&of_one[0].0, &all)
    });
    lines.collect()
}

/// Returns a report on entries: `router: 2 changes made in 3 ms`.
pub(crate) fn filled(filled: &Filled) -> String {
    let made = changes::made_text(filled.changes, filled.took);
    format!("{}: {made}", filled.program)
}

/// Returns a line about all settings that were made, and one for each that could not be made.
fn adjusted(name: &str, adjusted: &Adjusted) -> Vec<String> {
    let mut by_place: Vec<Loss> = Vec::new();
    for loss in &adjusted.made {
        let known = by_place.iter_mut().find(|known| known.at == loss.at);
        match known
            .and_then(|known| known.change.as_mut())
            .zip(loss.change)
        {
            Some((known, change))
                if known.gso_max_segs.is_none() && change.gso_max_segs.is_none() =>
            {
                known.offloads = known.offloads.or(change.offloads);
            }
            _ => by_place.push(loss.clone()),
        }
    }
    let commands: Vec<String> = by_place.iter().filter_map(Loss::command).collect();
    let made = (!commands.is_empty()).then(|| {
        format!(
            "{name}: set for as long as it runs: `{}`",
            commands.join("; ")
        )
    });
    let failed = adjusted.failed.iter();
    let failed = failed.map(|(command, why)| format!("{name}: `{command}` fails: {why}"));
    made.into_iter().chain(failed).collect()
}
