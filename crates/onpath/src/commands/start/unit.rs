//! Unit that the flags of `onpath run` name.

use crate::args::Run;
use crate::output::{Stop, refused};
use control::Replica;
use driver::built::{self, is_object};
use driver::bundle::{PortSpec, Ports, is_bundle};
use driver::run::{Alone, Unit};
use std::path::Path;

/// Reads the unit from the flags and, if there is one, from the bundle's file.
pub(super) fn read(args: &Run) -> Result<Unit, Stop> {
    let file = built::find(&args.file).map_err(refused)?;
    if is_bundle(&file) {
        from_file(args, &file)
    } else {
        alone(args, &file)
    }
}

fn from_file(args: &Run, path: &Path) -> Result<Unit, Stop> {
    let for_programs = [
        ("-I", !args.include.is_empty()),
        ("-D", !args.define.is_empty()),
        ("--target", args.target.is_some()),
        ("--port", !args.ports.is_empty()),
        ("--reach", !args.reach.is_empty()),
        ("--group", !args.groups.is_empty()),
        ("--entries", args.entries.is_some()),
        ("--extern", !args.externs.is_empty()),
    ];
    if let Some((flag, _)) = for_programs.iter().find(|(_, given)| *given) {
        return Err(Stop::Usage(format!(
            "`{flag}` is for a single program: {} sets it for each of its programs",
            path.display()
        )));
    }
    Ok(Unit::from_file(path, args.name.clone(), &args.dev)?)
}

fn alone(args: &Run, path: &Path) -> Result<Unit, Stop> {
    let for_texts = [
        ("-I", !args.include.is_empty()),
        ("-D", !args.define.is_empty()),
        ("--table-memory", args.table_memory.is_some()),
        ("--extern", !args.externs.is_empty()),
    ];
    if let Some((flag, _)) = for_texts.iter().find(|(_, given)| *given)
        && is_object(path)
    {
        return Err(Stop::Usage(format!(
            "`{flag}` is for a P4 program, and {} is compiled already: give it to `onpath build`",
            path.display()
        )));
    }
    Ok(Unit::alone(Alone {
        name: args.name.clone(),
        file: path.to_owned(),
        include: args.include.clone(),
        define: args.define.iter().map(|d| driver::macro_of(d)).collect(),
        externs: args.externs.clone(),
        hook: args.target.map(|hook| hook.hook()),
        ports: ports(args)?,
        entries: args.entries.clone(),
    }))
}

fn ports(args: &Run) -> Result<Ports, Stop> {
    if args.dev.iter().any(String::is_empty) {
        return Err(Stop::Usage(
            "`--dev` has no name: write an interface's, such as --dev eth0".to_string(),
        ));
    }
    let numbered = |flag: &str, given: &[String]| -> Result<Vec<PortSpec>, Stop> {
        given.iter().map(|text| port(flag, text)).collect()
    };
    let groups: Result<Vec<_>, Stop> = args.groups.iter().map(|text| group(text)).collect();
    let ports = Ports {
        dev: args.dev.clone(),
        numbered: numbered("port", &args.ports)?,
        reach: numbered("reach", &args.reach)?,
        groups: groups?,
    };
    if ports.attached().next().is_none() {
        return Err(Stop::Usage(format!(
            "{} needs an interface to run at: add --dev, such as --dev eth0",
            args.file.display()
        )));
    }
    match ports.clash() {
        Some(clash) => Err(Stop::Usage(clash.message())),
        None => Ok(ports),
    }
}

/// Parses `N=IF`.
fn port(flag: &str, text: &str) -> Result<PortSpec, Stop> {
    let parts = text.split_once('=').map(|(n, name)| (n.parse(), name));
    match parts {
        Some((Ok(port), name)) if !name.is_empty() => Ok(PortSpec {
            port,
            interface: name.to_string(),
        }),
        _ => Err(Stop::Usage(format!(
            "`{text}` is not a port: write --{flag} NUMBER=INTERFACE, such as --{flag} 1=eth0"
        ))),
    }
}

/// Parses `N=PORT,PORT:RID`.
fn group(text: &str) -> Result<(u16, Vec<Replica>), Stop> {
    let parse = || {
        let (group, ports) = text.split_once('=')?;
        let group = group.parse().ok().filter(|group| *group > 0)?;
        let ports: Option<Vec<Replica>> = ports.split(',').map(|p| p.parse().ok()).collect();
        Some((group, ports?))
    };
    parse().ok_or_else(|| {
        Stop::Usage(format!(
            "`{text}` is not a multicast group: write --group NUMBER=PORT,PORT:RID,..., such as --group 1=0,2 or --group 1=0:5,2:6"
        ))
    })
}
