//! Loads compiled programs into the kernel.

use super::Options;
use super::not_started::{NotStarted, Rejected, Report};
use super::observer::{Work, during};
use super::prepare::{Interfaces, Origin, Prepared};
use super::twins;
use super::unit::Unit;
use crate::bpf_target::with_externs;
use crate::bundle::{self, CheckedProgram};
use diag::{SourceMap, Span};
use ir::Program;
use kernel::bundle::{LoadRefused, LoadedProgram, Loader, Source};
use kernel::{Failure, Instance};

/// Loads all programs. If the kernel rejects a program for a reason that another compilation may overcome, it is
/// compiled by the other strategies.
pub(super) fn load(
    unit: &Unit,
    prepared: &mut [Prepared],
    options: &Options<'_>,
) -> Result<Vec<Instance>, NotStarted> {
    loop {
        let loaded = load_all(unit, prepared, options)?;
        let LoadRefused {
            member,
            mut failure,
        } = match loaded {
            Ok(instances) => return Ok(instances),
            Err(refusal) => refusal,
        };
        let refused = &mut prepared[member];
        if let Some((obstacle, reason)) = &failure.obstacle {
            let before = refused.object.clone();
            if refused.try_others(*obstacle, reason, unit, member, options)? {
                twins::follow(prepared, member, &before);
                continue;
            }
        }
        let refused = &mut prepared[member];
        let none = SourceMap::new();
        let sources = refused.text().map_or(&none, |text| &text.sources);
        let sources = &with_externs(sources, &unit.bundle.programs[member].externs);
        failure.find_place(&refused.object, sources);
        let Failure {
            mut diagnostic,
            log,
            about,
            ..
        } = failure;
        if let (Some(name), Some(text)) = (about, refused.text()) {
            diagnostic.primary.span = declared(&text.program, &name);
        }
        let made_for = match &refused.origin {
            Origin::Built(made_for) => *made_for,
            Origin::Text(_) => None,
        };
        return Err(NotStarted::Rejected(Box::new(Rejected {
            report: Report::new(diagnostic, sources),
            log,
            made_for,
        })));
    }
}

/// Loads all programs without recompiling any. The inner error is the kernel's.
fn load_all(
    unit: &Unit,
    prepared: &[Prepared],
    options: &Options<'_>,
) -> Result<Result<Vec<Instance>, LoadRefused>, NotStarted> {
    let none = SourceMap::new();
    let parts: Vec<CheckedProgram> = prepared
        .iter()
        .map(|p| CheckedProgram {
            hook: p.hook,
            abi: Some(&p.abi),
            schema: &p.schema,
            program: None,
        })
        .collect();
    let shared = bundle::together(&unit.bundle, &parts);
    let shared = shared.map_err(|wrong| NotStarted::wrong(wrong, &unit.map))?;
    let programs = &unit.bundle.programs;
    let sources: Vec<Source> = programs
        .iter()
        .zip(prepared)
        .map(|(member, p)| Source {
            name: &member.name.value,
            object: &p.object,
            abi: &p.abi,
            schema: &p.schema,
            sources: p.text().map_or(&none, |text| &text.sources),
        })
        .collect();
    let mut loader = Loader::new(&sources, &shared).allow_memory(options.memory);
    while let Some(number) = loader.next() {
        let verified = during(options.observer, unit.label(number), Work::Verify, || {
            loader.load_next()
        });
        if let Err(refusal) = verified {
            return Ok(Err(refusal));
        }
    }
    Ok(Ok(loader.loaded()))
}

/// Joins the loaded programs with their interfaces.
pub(super) fn members(
    unit: &Unit,
    instances: Vec<Instance>,
    interfaces: Vec<Interfaces>,
) -> Vec<LoadedProgram> {
    let programs = unit.bundle.programs.iter();
    programs
        .zip(instances)
        .zip(interfaces)
        .map(|((member, instance), at)| LoadedProgram {
            name: member.name.value.clone(),
            instance,
            ports: at.ports,
            targets: at.targets,
        })
        .collect()
}

/// Returns the location of the declaration with this control-plane name.
fn declared(program: &Program, name: &str) -> Span {
    let tables = program.tables.values().map(|t| (&t.name, t.span));
    let sets = program.value_sets.values().map(|s| (&s.name, s.span));
    let externs = program.externs.values().map(|e| (&e.name, e.span));
    let mut all = tables.chain(sets).chain(externs);
    let found = all.find(|(declared, _)| *declared == name);
    found.map_or(Span::NONE, |(_, span)| span)
}
