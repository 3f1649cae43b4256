//! Tests of a folder: programs run in parallel, and the tests of each program in order.

use super::junit::{Came, Ran};
use super::runs::{Refused, Runs, TestPlan};
use super::{Tally, direction_shown, unreadable};
use crate::args::{Source, Test};
use crate::output::{Stop, err, out_line, print_json};
use arch::tc::Direction;
use diag::{Diagnostics, SourceMap, render_plain, shown};
use driver::stf::{Case, StfTarget};
use host::files::read_text;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// Stack of a worker, in bytes, which deep programs need.
const STACK: usize = 64 << 20;

/// A program and its tests.
struct Pair {
    program: PathBuf,
    scripts: Vec<PathBuf>,
}

/// A test that has ended, with its JSON and its warnings.
struct Shown {
    ran: Ran,
    json: Value,
    /// Warnings about its script, as text.
    warnings: String,
}

/// Runs every `NAME.stf` and `NAME.CASE.stf` in a folder and those below it. Each runs on the `NAME.p4` beside it, or
/// on the program that has the folder's name. Results are printed in the order of the paths, each program's as soon
/// as all before it have ended.
pub(super) fn run(args: &Test, target: StfTarget) -> Result<(Vec<Ran>, Tally), Stop> {
    let folder = &args.source.file;
    let pairs = pairs(folder)
        .map_err(|error| Stop::Usage(format!("`{}` cannot be read: {error}", folder.display())))?;
    if pairs.is_empty() {
        return Err(Stop::Usage(format!(
            "there are no tests in `{}`: they are called NAME.stf or NAME.CASE.stf, beside NAME.p4",
            folder.display()
        )));
    }
    let next = AtomicUsize::new(0);
    let (send, results) = mpsc::channel();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all = Vec::new();
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        for _ in 0..workers.min(pairs.len()) {
            let (next, pairs, send) = (&next, &pairs, send.clone());
            let work = move || {
                while let Some((number, pair)) = take(next, pairs) {
                    let shown = run_pair(args, pair, target);
                    // There is no receiver if another test ended without a result.
                    let _ = send.send((number, shown));
                }
            };
            let worker = std::thread::Builder::new().stack_size(STACK);
            worker
                .spawn_scoped(scope, work)
                .map_err(|error| Stop::Failed(format!("no thread for tests: {error}")))?;
        }
        // Only the workers' senders are left. If the workers die, the wait for a result ends.
        drop(send);
        let mut waiting = BTreeMap::new();
        for number in 0..pairs.len() {
            while !waiting.contains_key(&number) {
                match results.recv() {
                    Ok((done, shown)) => waiting.insert(done, shown),
                    Err(_) => return Err(Stop::Failed("a test ended without a result".into())),
                };
            }
            let of_program = waiting.remove(&number).unwrap_or_default();
            for (i, shown) in of_program.iter().enumerate() {
                tally.add(&shown.ran.came);
                let same = |before: &Shown| before.ran.came == shown.ran.came;
                if !args.json {
                    err!("{}", shown.warnings);
                    show(
                        &shown.ran,
                        i.checked_sub(1).is_some_and(|i| same(&of_program[i])),
                    );
                }
            }
            all.extend(of_program);
        }
        Ok(())
    })?;
    if args.json {
        let results = all.iter().map(|shown| shown.json.clone());
        print_json(&results.collect());
    } else {
        out_line!("{}", tally.text());
    }
    Ok((all.into_iter().map(|shown| shown.ran).collect(), tally))
}

fn take<'p>(next: &AtomicUsize, pairs: &'p [Pair]) -> Option<(usize, &'p Pair)> {
    let number = next.fetch_add(1, Ordering::Relaxed);
    Some((number, pairs.get(number)?))
}

/// Returns all pairs below a folder, sorted by path.
fn pairs(folder: &Path) -> std::io::Result<Vec<Pair>> {
    let mut by_program: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|e| e == "stf") {
                by_program.entry(program_of(&path)).or_default().push(path);
            }
        }
    }
    let pairs = by_program.into_iter().map(|(program, mut scripts)| {
        scripts.sort();
        Pair { program, scripts }
    });
    Ok(pairs.collect())
}

/// Returns the program that a script is for.
fn program_of(script: &Path) -> PathBuf {
    let mut beside = script.with_extension("p4");
    // `a.b.stf` is one of several for `a.p4`, unless there is `a.b.p4`.
    let mut name = beside.file_stem().map(PathBuf::from).unwrap_or_default();
    while !beside.exists() && name.extension().is_some() {
        name.set_extension("");
        beside = script.with_file_name(format!("{}.p4", name.display()));
    }
    let folder = script.parent().and_then(Path::file_name);
    let of_folder = folder.map(|f| script.with_file_name(format!("{}.p4", f.to_string_lossy())));
    match of_folder {
        Some(of_folder) if !beside.exists() && of_folder.exists() => of_folder,
        _ => beside,
    }
}

fn run_pair(args: &Test, pair: &Pair, target: StfTarget) -> Vec<Shown> {
    let source = Source {
        file: pair.program.clone(),
        ..args.source.clone()
    };
    // The C file of the program's extern functions lies beside it.
    let beside = Some(pair.program.with_extension("c")).filter(|c| c.exists());
    let externs = args.externs.iter().cloned().chain(beside).collect();
    let mut runs = Runs::new(args, source, externs, target);
    let mut all = Vec::new();
    for script in &pair.scripts {
        let name = script.display().to_string();
        let case = match read_text(script) {
            Ok(text) => Case { name, text },
            Err(why) => {
                let diagnostics = unreadable(&why).into();
                all.push(refused(pair, &name, &diagnostics, &SourceMap::new()));
                continue;
            }
        };
        let plan = match runs.plan(&case) {
            Ok(plan) => plan,
            Err(why) => {
                all.push(refused(pair, &case.name, &why.diagnostics, &why.map));
                continue;
            }
        };
        match plan {
            TestPlan::Skip(why) => all.push(Shown {
                json: json!({ "test": case.name, "skipped": why }),
                warnings: String::new(),
                ran: over(pair, case.name, Came::Skipped(why)),
            }),
            TestPlan::Run(directions) => {
                for direction in directions {
                    all.push(run_case(&mut runs, pair, &case, direction));
                }
            }
        }
    }
    all
}

fn run_case(runs: &mut Runs, pair: &Pair, case: &Case, direction: Direction) -> Shown {
    let name = direction_shown(&case.name, runs.declared(direction));
    let begun = Instant::now();
    let prepared = match runs.prepared(direction, |_, _| ()) {
        Ok(prepared) => prepared,
        Err(why) => {
            let Refused {
                map, diagnostics, ..
            } = *why;
            return refused(pair, &name, &diagnostics, &map);
        }
    };
    let result = prepared.run(case, None);
    let json = super::as_json(&name, &result, prepared);
    let (warnings, script) = prepared.warnings();
    let warnings = match warnings.is_empty() {
        true => String::new(),
        false => render_plain(warnings, script),
    };
    let ran = Ran {
        took: begun.elapsed(),
        ..over(pair, name, super::came(&result, prepared))
    };
    Shown {
        ran,
        json,
        warnings,
    }
}

fn over(pair: &Pair, name: String, came: Came) -> Ran {
    Ran {
        program: pair.program.display().to_string(),
        name,
        came,
        took: Default::default(),
    }
}

fn refused(pair: &Pair, name: &str, diagnostics: &Diagnostics, map: &SourceMap) -> Shown {
    Shown {
        json: super::refusal(name, diagnostics, map),
        warnings: String::new(),
        ran: over(
            pair,
            name.to_string(),
            Came::Refused(render_plain(diagnostics, map)),
        ),
    }
}

/// Prints a test's result. `again` is true if the test before it had the same one.
fn show(ran: &Ran, again: bool) {
    let name = shown(&ran.name);
    match &ran.came {
        Came::Passed => out_line!("{name}: passed"),
        Came::Skipped(why) => out_line!("{name}: skipped: {why}"),
        Came::Failed(text) => out_line!("{name}: FAILED\n{}", text.trim_end()),
        Came::Refused(_) if again => out_line!("{name}: not run either"),
        Came::Refused(text) => out_line!("{name}: not run\n{}", text.trim_end()),
    }
}
