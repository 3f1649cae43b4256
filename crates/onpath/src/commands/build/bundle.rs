//! `onpath build BUNDLE.toml`, which writes a folder with all that `onpath run` of the bundle needs.

use super::{Verification, compile, loads_from, report, show, status};
use crate::args::Build;
use crate::commands::source::elaborate_input;
use crate::output::{Done, Stop, failed, notice, out, out_line, print_diagnostics, print_json};
use crate::written;
use bpf::abi::Hook;
use diag::{Diagnostics, SourceMap};
use driver::Elaborated;
use driver::bpf_target::{Compiled, Request, Trial};
use driver::built::is_object;
use driver::bundle::{self, At, Bundle, BundledProgram, Entries};
use host::files::read_text;
use kernel::features::Kernel;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// A compiled program of the bundle.
struct BundleProgram {
    hook: Hook,
    compiled: Compiled,
    /// The kernels that load its object ([`loads_from`]).
    kernel: Value,
    verification: Option<Verification>,
    /// The elaborated program.
    elaborated: Elaborated,
}

impl BundleProgram {
    fn described(&self) -> bundle::CheckedProgram<'_> {
        bundle::CheckedProgram {
            hook: self.hook,
            abi: Some(&self.compiled.abi),
            schema: &self.compiled.schema,
            program: Some(&self.elaborated.program),
        }
    }
}

/// Compiles all programs of a bundle, and writes them with a bundle file that names the objects. The JSON has the
/// files that were `written`. With `--report` it also has `programs`, each with its `name` and the report of a single
/// program.
pub(super) fn run(args: &Build) -> Done {
    let file = &args.source.file;
    check_flags(args)?;
    let mut map = SourceMap::new();
    let id = bundle::entries::add(&mut map, file).map_err(Stop::Failed)?;
    let mut bundle = bundle::read(&map, id).map_err(|wrong| refuse(&wrong, &map, 1))?;
    if let Some(dir) = &args.output {
        check_overwrites(file, &bundle, dir)?;
    }
    let mut parts = Vec::new();
    for number in 0..bundle.programs.len() {
        parts.push(part(&bundle, number, &map, args)?);
    }
    let described: Vec<bundle::CheckedProgram> =
        parts.iter().map(BundleProgram::described).collect();
    let wrong = bundle::check(&bundle, &described, &mut map).map_err(Stop::Failed)?;
    if wrong.has_errors() {
        return Err(refuse(&wrong, &map, 1));
    }
    let mut written = Vec::new();
    if let Some(dir) = &args.output {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        written = write(dir, &name, &mut bundle, &parts, args.json)?;
    }
    let reports = bundle
        .programs
        .iter()
        .zip(&parts)
        .filter_map(|(member, part)| {
            let verification = part.verification.as_ref()?;
            let took = part.elaborated.took;
            let mut report = report(&part.compiled, took, verification, &part.kernel);
            report["name"] = json!(member.name.value);
            Some(report)
        });
    let reports: Vec<Value> = reports.collect();
    if args.json {
        let mut object = json!({});
        if args.report {
            object["programs"] = json!(reports);
        }
        if args.output.is_some() {
            object["written"] = json!(written);
        }
        print_json(&object);
    } else {
        for report in &reports {
            out_line!("{}:", report["name"].as_str().unwrap_or_default());
            out!("{}", show(report));
        }
    }
    Ok(status(
        parts.iter().filter_map(|part| part.verification.as_ref()),
    ))
}

fn refuse(wrong: &Diagnostics, map: &SourceMap, status: u8) -> Stop {
    print_diagnostics(wrong, map);
    Stop::AlreadyReported(status)
}

fn check_flags(args: &Build) -> Result<(), Stop> {
    let file = args.source.file.display();
    let for_programs = [
        ("-I", !args.source.include.is_empty()),
        ("-D", !args.source.define.is_empty()),
        ("--target", args.target.is_some()),
        ("--extern", !args.externs.is_empty()),
    ];
    if let Some((flag, _)) = for_programs.iter().find(|(_, given)| *given) {
        return Err(Stop::Usage(format!(
            "`{flag}` is for a single program: {file} sets it for each of its programs"
        )));
    }
    match args.emit {
        Some(_) => Err(Stop::Usage(format!(
            "`--emit` is for a single program: name one of {file}"
        ))),
        None => Ok(()),
    }
}

/// Returns the name of a program's file of entries in the folder.
fn entries_file(member: &BundledProgram) -> String {
    format!("{}.txt", member.name.value)
}

/// Fails if an output file would overwrite an input file.
fn check_overwrites(file: &Path, bundle: &Bundle, dir: &Path) -> Result<(), Stop> {
    let mut pairs = vec![(
        file.to_owned(),
        dir.join(file.file_name().unwrap_or_default()),
    )];
    for member in &bundle.programs {
        if let Some(Entries::File(entries)) = &member.entries {
            pairs.push((entries.value.clone(), dir.join(entries_file(member))));
        }
    }
    let real = |path: &Path| fs::canonicalize(path).ok();
    let same = |(from, to): &&(PathBuf, PathBuf)| real(from).is_some() && real(from) == real(to);
    match pairs.iter().find(same) {
        Some((from, _)) => Err(Stop::Usage(format!(
            "`{}` would be overwritten: give `-o` another folder",
            from.display()
        ))),
        None => Ok(()),
    }
}

/// Compiles a program.
fn part(
    bundle: &Bundle,
    number: usize,
    map: &SourceMap,
    args: &Build,
) -> Result<BundleProgram, Stop> {
    let member = &bundle.programs[number];
    let source = &member.source.value;
    if is_object(source) {
        return failed(format!(
            "`{}` is compiled already: name its P4 program, or copy the bundle with it",
            source.display()
        ));
    }
    let elaborated = elaborate_input(&member.input(), print_diagnostics)?;
    let hook = member.hook_of(&elaborated.program);
    let request = Request {
        externs: &member.externs,
        kernel: args.kernel.map_or(Kernel::This, Kernel::Version),
        table_memory: args.table_memory,
        // The report loads the program, as for a single one.
        trial: Trial::None,
        notice: &notice,
        ..Request::hook(hook)
    };
    let made = compile(&elaborated.program, &elaborated.map, request, args.report);
    let (compiled, verification) =
        made.map_err(
            |unfit| match bundle::moved_to(&unfit, bundle.hook_span(number)) {
                Some(placed) => refuse(&placed, map, 2),
                None => refuse(&unfit, &elaborated.map, 2),
            },
        )?;
    Ok(BundleProgram {
        hook,
        kernel: loads_from(&compiled, request),
        compiled,
        verification,
        elaborated,
    })
}

/// Writes the folder: for each program the files of a single one and its entries, then the bundle's file.
fn write(
    dir: &Path,
    name: &str,
    bundle: &mut Bundle,
    parts: &[BundleProgram],
    quiet: bool,
) -> Result<Vec<PathBuf>, Stop> {
    let mut all = Vec::new();
    for (member, part) in bundle.programs.iter_mut().zip(parts) {
        let stem = &member.name.value;
        let mut written = written::program(dir, stem, &part.compiled)?;
        member.source = At::nowhere(format!("{stem}.o").into());
        member.hook = Some(At::nowhere(part.hook));
        let copied = entries_file(member);
        if let Some(Entries::File(entries)) = &mut member.entries {
            let text = read_text(&entries.value).map_err(Stop::Failed)?;
            written.push(written::file(dir, &copied, text.as_bytes())?);
            entries.value = copied.into();
        }
        if !quiet {
            out_line!("{}", written::line(dir, &written));
        }
        all.extend(written);
    }
    let written = written::file(dir, name, bundle::write(bundle).as_bytes())?;
    if !quiet {
        out_line!("{}", written::line(dir, std::slice::from_ref(&written)));
    }
    all.push(written);
    Ok(all)
}
