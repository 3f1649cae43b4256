//! Compiled programs into the kernel.

use super::How;
use super::prepare::{Interfaces, Origin, Prepared};
use super::unit::Unit;
use crate::output::{Stop, err_line, print_diagnostics, refused_in};
use crate::progress::Progress;
use bpf::abi::Abi;
use diag::{SourceMap, Span};
use driver::built::errors::for_kernel;
use driver::bundle::{self, Described};
use ir::Program;
use kernel::bundle::{LoadRefused, Loader, Member, Source};
use kernel::probe::kernel_version;
use kernel::{Failure, Instance};

/// Loads all programs. One rejected for what clang made of it is recompiled with other strategies first.
pub(crate) fn load(
    unit: &Unit,
    prepared: &mut [Prepared],
    how: &How<'_>,
    progress: &Progress,
) -> Result<Vec<Instance>, Stop> {
    loop {
        let loaded = load_all(unit, prepared, how.memory, progress)?;
        let LoadRefused {
            member,
            mut failure,
        } = match loaded {
            Ok(instances) => return Ok(instances),
            Err(refusal) => refusal,
        };
        let refused = &mut prepared[member];
        if let Some((obstacle, reason)) = &failure.obstacle
            && refused.try_others(*obstacle, reason, unit, member, progress)?
        {
            continue;
        }
        let none = SourceMap::new();
        let sources = refused.text().map_or(&none, |text| &text.sources);
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
        let stop = refused_in(diagnostic, sources);
        if let Origin::Built(Some((major, minor))) = &refused.origin {
            err_line!(
                "note: this object was built for Linux {major}.{minor} and newer; {}",
                for_kernel(kernel_version())
            );
        }
        if how.verbose {
            err_line!("\nthe kernel's log:\n{log}");
        } else if !log.is_empty() {
            err_line!("note: `--verbose` shows the kernel's full log");
        }
        if let Some(instead) = how.instead {
            err_line!("note: {instead}");
        }
        return Err(stop);
    }
}

/// Loads all programs as they are. The outer error has been reported.
fn load_all(
    unit: &Unit,
    prepared: &[Prepared],
    memory: Option<u64>,
    progress: &Progress,
) -> Result<Result<Vec<Instance>, LoadRefused>, Stop> {
    let abis: Vec<&Abi> = prepared.iter().map(|p| &*p.abi).collect();
    let none = SourceMap::new();
    let refuse = |wrong| {
        print_diagnostics(&wrong, &unit.map);
        Stop::AlreadyReported(1)
    };
    bundle::check_groups(&unit.bundle, &abis).map_err(refuse)?;
    let described = prepared.iter().map(|p| Described {
        abi: &p.abi,
        schema: &p.schema,
    });
    let described: Vec<Described> = described.collect();
    let shared = bundle::resolve(&unit.bundle, &described).map_err(refuse)?;
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
    let mut loader = Loader::new(&sources, &shared).allow_memory(memory);
    while let Some(number) = loader.next() {
        let label = unit.label(&programs[number]);
        let step = format!("{label}: the kernel verifies it");
        if let Err(refusal) = progress.during(&step, || loader.load_next()) {
            return Ok(Err(refusal));
        }
    }
    Ok(Ok(loader.loaded()))
}

/// The loaded programs at their interfaces.
pub(crate) fn members(
    unit: &Unit,
    instances: Vec<Instance>,
    interfaces: Vec<Interfaces>,
) -> Vec<Member> {
    let programs = unit.bundle.programs.iter();
    programs
        .zip(instances)
        .zip(interfaces)
        .map(|((member, instance), at)| Member {
            name: member.name.value.clone(),
            instance,
            ports: at.ports,
            targets: at.targets,
        })
        .collect()
}

/// Where a program declares what has this control-plane name.
fn declared(program: &Program, name: &str) -> Span {
    let tables = program.tables.values().map(|t| (&t.name, t.span));
    let sets = program.value_sets.values().map(|s| (&s.name, s.span));
    let externs = program.externs.values().map(|e| (&e.name, e.span));
    let mut all = tables.chain(sets).chain(externs);
    let found = all.find(|(declared, _)| *declared == name);
    found.map_or(Span::NONE, |(_, span)| span)
}
