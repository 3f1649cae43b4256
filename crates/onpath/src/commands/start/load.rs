//! Compiled programs into the kernel.

use super::prepare::{Interfaces, Prepared};
use super::unit::Unit;
use crate::output::{Stop, print_diagnostics, refused_in, tell_line};
use crate::progress::Progress;
use bpf::abi::Abi;
use driver::bundle;
use kernel::bundle::{LoadRefused, Loader, Member, Source};
use kernel::{Failure, Instance};

/// Loads all programs. One that the verifier refuses for what clang made of it is compiled in other ways first.
pub fn load(
    unit: &Unit,
    prepared: &mut [Prepared],
    verbose: bool,
    progress: &Progress,
) -> Result<Vec<Instance>, Stop> {
    loop {
        let LoadRefused { member, failure } = match load_all(unit, prepared, progress)? {
            Ok(instances) => return Ok(instances),
            Err(refusal) => refusal,
        };
        let again = &mut prepared[member];
        if !again.tried && kernel::build::is_curable(&failure.log) {
            again.try_others(unit, member, progress)?;
            continue;
        }
        let Failure { diagnostic, log } = failure;
        let stop = refused_in(diagnostic, &again.sources);
        if verbose {
            tell_line!("\nthe kernel's log:\n{log}");
        } else if !log.is_empty() {
            tell_line!("note: `--verbose` shows the kernel's whole log");
        }
        return Err(stop);
    }
}

/// Loads all programs as they are. The outer error has been told.
fn load_all(
    unit: &Unit,
    prepared: &[Prepared],
    progress: &Progress,
) -> Result<Result<Vec<Instance>, LoadRefused>, Stop> {
    let abis: Vec<&Abi> = prepared.iter().map(|p| &*p.compiled.abi).collect();
    let shared = bundle::resolve(&unit.bundle, &abis).map_err(|wrong| {
        print_diagnostics(&wrong, &unit.map);
        Stop::Told(1)
    })?;
    let programs = &unit.bundle.programs;
    let sources: Vec<Source> = programs
        .iter()
        .zip(prepared)
        .map(|(member, p)| Source {
            name: &member.name.value,
            object: &p.compiled.object,
            abi: &p.compiled.abi,
            schema: &p.compiled.schema,
            sources: &p.sources,
        })
        .collect();
    let mut loader = Loader::new(&sources, &shared);
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
pub fn members(unit: &Unit, instances: Vec<Instance>, interfaces: Vec<Interfaces>) -> Vec<Member> {
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
