//! `onpath check`

use super::source::input;
use crate::args::{Check, HookArg};
use crate::output::{Done, Stop, out_line, print_diagnostics, print_json};
use bpf::abi::Hook;
use diag::{Diagnostics, Severity, SourceMap, Span, counted, shown};
use driver::Elaborated;
use driver::bpf_target::{self, Request};
use driver::built::{self, Built, is_object};
use driver::bundle::{self, Bundle, is_bundle};
use schema::Schema;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;

/// Diagnostics, with the texts that they are about.
type Reported = Vec<(Diagnostics, SourceMap)>;

/// Checks a program, an object or a bundle: status 0 if it is accepted, 1 if it is refused.
pub(crate) fn run(mut args: Check) -> Done {
    let found = built::find(&args.source.file);
    let nothing = found.map(|file| args.source.file = file).err();
    let file = args.source.file.display().to_string();
    let (reported, what) = if let Some(refused) = nothing {
        (vec![(refused.into(), SourceMap::new())], String::new())
    } else if is_object(&args.source.file) {
        (check_object(&args)?, String::new())
    } else if is_bundle(&args.source.file) {
        let (reported, what) = check_toml(&args)?;
        (reported, format!(", {what}"))
    } else {
        let reported = match (args.target, driver::elaborate(&input(&args.source))) {
            (
                None,
                Ok(Elaborated {
                    diagnostics, map, ..
                }),
            ) => (diagnostics, map),
            (Some(hook), Ok(elaborated)) => at_hook(elaborated, hook.hook()),
            (Some(_), Err(refused)) => (refused.diagnostics, refused.map),
            // A library is accepted, and so is a program for an unknown architecture.
            (None, Err(refused)) => (
                refused.right_elsewhere.unwrap_or(refused.diagnostics),
                refused.map,
            ),
        };
        (vec![reported], String::new())
    };
    let count = |severity| {
        let all = reported
            .iter()
            .flat_map(|(diagnostics, _)| diagnostics.iter());
        all.filter(|d| d.severity == severity).count()
    };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    if args.json {
        let lists = reported.iter().map(|(list, map)| diag::to_json(list, map));
        let diagnostics: Vec<Value> = lists.flat_map(elements).collect();
        print_json(&json!({ "accepted": errors == 0, "diagnostics": diagnostics }));
    } else {
        for (diagnostics, map) in &reported {
            print_diagnostics(diagnostics, map);
        }
        let file = shown(&file);
        match (errors, warnings) {
            (0, 0) => out_line!("{file}: accepted{what}"),
            (0, n) => out_line!("{file}: accepted{what}, {}", counted(n, "warning")),
            (n, 0) => out_line!("{file}: refused, {}", counted(n, "error")),
            (n, m) => out_line!(
                "{file}: refused, {}, {}",
                counted(n, "error"),
                counted(m, "warning")
            ),
        }
    }
    Ok(ExitCode::from(u8::from(errors > 0)))
}

/// Returns the diagnostics of a program that is to run at a hook.
fn at_hook(mut elaborated: Elaborated, hook: Hook) -> (Diagnostics, SourceMap) {
    let request = Request::hook(hook);
    if let Err(unfit) = bpf_target::check(&elaborated.program, &elaborated.map, request) {
        elaborated.diagnostics.append(unfit);
    }
    (elaborated.diagnostics, elaborated.map)
}

fn elements(list: Value) -> Vec<Value> {
    match list {
        Value::Array(elements) => elements,
        other => vec![other],
    }
}

/// Checks that an object and its description belong together, and fit the hook.
fn check_object(args: &Check) -> Result<Reported, Stop> {
    let file = &args.source.file;
    if !args.source.include.is_empty() || !args.source.define.is_empty() {
        return Err(Stop::Usage(format!(
            "`-I` and `-D` are for a P4 program, and {} is compiled already",
            file.display()
        )));
    }
    let fits = built::read(file).and_then(|built| match args.target.map(HookArg::hook) {
        Some(hook) if hook != built.hook => Err(built::errors::other_hook(
            file,
            built.hook,
            hook,
            Span::NONE,
        )),
        _ => Ok(()),
    });
    let wrong = fits.err().map(Diagnostics::from).unwrap_or_default();
    Ok(vec![(wrong, SourceMap::new())])
}

/// Checks a bundle, or the schema of a message. Also returns its kind in words, if it is accepted.
fn check_toml(args: &Check) -> Result<(Reported, String), Stop> {
    if !args.source.include.is_empty() || !args.source.define.is_empty() {
        return Err(Stop::Usage(format!(
            "`-I` and `-D` are for a single program: {} sets `include` and `define` for each of its programs",
            args.source.file.display()
        )));
    }
    if args.target.is_some() {
        return Err(Stop::Usage(format!(
            "`--target` is for a single program: {} sets `target` for each of its programs",
            args.source.file.display()
        )));
    }
    let mut map = SourceMap::new();
    let file = bundle::entries::add(&mut map, &args.source.file).map_err(Stop::Failed)?;
    if bundle::is_message(&map, file) {
        let (wrong, what) = match payload::load(&map, file) {
            Ok(schema) => {
                let attributes = counted(schema.names().len(), "attribute");
                let warned = payload::lint(&map, file);
                (warned, format!("a message with {attributes}"))
            }
            Err(wrong) => (wrong, String::new()),
        };
        return Ok((vec![(wrong, map)], what));
    }
    match bundle::read(&map, file) {
        Ok(bundle) => {
            let reported = check_bundle(&bundle, map)?;
            Ok((reported, counted(bundle.programs.len(), "program")))
        }
        Err(wrong) => Ok((vec![(wrong, map)], String::new())),
    }
}

/// Checks all of a bundle that can be checked without a kernel, a network and clang. `map` has its text.
fn check_bundle(bundle: &Bundle, mut map: SourceMap) -> Result<Reported, Stop> {
    let mut reported = Reported::new();
    let mut own = Diagnostics::new();
    let mut programs = Vec::new();
    for member in &bundle.programs {
        if is_object(&member.source.value) {
            match built::of_member(member) {
                Ok(built) => programs.push(ValidProgram::Built(built)),
                Err(refused) => own.push(*refused),
            }
            continue;
        }
        match driver::elaborate(&member.input()) {
            Ok(elaborated) => programs.push(ValidProgram::Text(Box::new(elaborated))),
            Err(refused) => reported.push((refused.diagnostics, refused.map)),
        }
    }
    if reported.is_empty() && !own.has_errors() {
        own = together(bundle, &mut programs, &mut map).map_err(Stop::Failed)?;
    }
    for part in programs {
        if let ValidProgram::Text(elaborated) = part {
            reported.push((elaborated.diagnostics, elaborated.map));
        }
    }
    reported.push((own, map));
    Ok(reported)
}

/// A program of a bundle that is valid by itself.
enum ValidProgram {
    Text(Box<Elaborated>),
    Built(Built),
}

/// Checks programs that are each valid by themselves: their hooks, their entries and their shared state. Diagnostics
/// about a program's text are added to the program's. Those about the bundle or its entries are returned.
fn together(
    bundle: &Bundle,
    programs: &mut [ValidProgram],
    map: &mut SourceMap,
) -> Result<Diagnostics, String> {
    let mut own = Diagnostics::new();
    let mut described = Vec::new();
    for (number, (member, part)) in bundle.programs.iter().zip(programs.iter_mut()).enumerate() {
        described.push(match part {
            ValidProgram::Text(elaborated) => {
                let program = &elaborated.program;
                let hook = member.hook_of(program);
                let request = Request {
                    externs: &member.externs,
                    ..Request::hook(hook)
                };
                let checked = bpf_target::check(program, &elaborated.map, request);
                let abi = checked
                    .map(|output| Arc::new(output.abi))
                    .map_err(|refused| {
                        match bundle::moved_to(&refused, bundle.hook_span(number)) {
                            Some(placed) => own.append(placed),
                            None => elaborated.diagnostics.append(refused),
                        }
                    });
                (hook, abi.ok(), Arc::new(Schema::of(program)))
            }
            ValidProgram::Built(built) => {
                let fits = built::check_hook(member, built);
                let abi = fits.map(|()| Arc::clone(&built.abi));
                let abi = abi.map_err(|refused| own.push(*refused));
                (built.hook, abi.ok(), Arc::clone(&built.schema))
            }
        });
    }
    let parts = programs.iter().zip(&described);
    let parts: Vec<bundle::CheckedProgram> = parts
        .map(|(part, (hook, abi, schema))| bundle::CheckedProgram {
            hook: *hook,
            abi: abi.as_deref(),
            schema,
            program: match part {
                ValidProgram::Text(elaborated) => Some(&elaborated.program),
                ValidProgram::Built(_) => None,
            },
        })
        .collect();
    own.append(bundle::check(bundle, &parts, map)?);
    Ok(own)
}
