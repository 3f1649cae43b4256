//! What `onpath run` is to run: a bundle from a file, or a program or an object, which is a bundle of one.

use crate::args::Run;
use crate::output::{Stop, failed, print_diagnostics, refused};
use control::Replica;
use diag::{Diagnostics, SourceMap, Span};
use driver::built::{self, is_object};
use driver::bundle::{self, At, Bundle, Entries, Member, PortSpec, Ports, is_bundle};
use driver::instance_name;
use kernel::files::read_text;
use std::path::{Path, PathBuf};

/// What is loaded and removed as one.
pub(crate) struct Unit {
    /// What the other commands know it by.
    pub name: String,
    /// Its programs, one at least.
    pub bundle: Bundle,
    /// Whether it is a program without a bundle file.
    pub alone: bool,
    /// The bundle's file, and files of entries.
    pub map: SourceMap,
}

impl Unit {
    /// How the user knows a program of it: `NAME`, or `BUNDLE/NAME`.
    pub(crate) fn label(&self, member: &Member) -> String {
        if self.alone {
            self.name.clone()
        } else {
            format!("{}/{}", self.name, member.name.value)
        }
    }
}

/// Reads what the flags and, if there is one, the bundle's file give.
pub(crate) fn read(args: &Run) -> Result<Unit, Stop> {
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
        ("--hook", args.hook.is_some()),
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
    let text = read_text(path).map_err(Stop::Failed)?;
    let mut map = SourceMap::new();
    let Some(file) = map.add(path.display().to_string(), text) else {
        return failed(format!("`{}` is too large", path.display()));
    };
    let refuse = |diagnostics: Diagnostics| {
        print_diagnostics(&diagnostics, &map);
        Stop::AlreadyReported(1)
    };
    let mut bundle = bundle::read(&map, file).map_err(refuse)?;
    bundle::override_devices(&mut bundle, &args.dev).map_err(Stop::Usage)?;
    bundle::check_interfaces(&bundle).map_err(refuse)?;
    let name = match (&args.name, &bundle.name) {
        (Some(name), _) => name.clone(),
        (None, Some(name)) => name.value.clone(),
        (None, None) => instance_name::from_file(path),
    };
    Ok(Unit {
        name,
        bundle,
        alone: false,
        map,
    })
}

fn alone(args: &Run, path: &Path) -> Result<Unit, Stop> {
    let for_texts = [
        ("-I", !args.include.is_empty()),
        ("-D", !args.define.is_empty()),
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
    let name = match &args.name {
        Some(name) => name.clone(),
        None => instance_name::from_file(path),
    };
    let entries = args.entries.clone();
    let member = Member {
        name: synthetic(name.clone()),
        source: synthetic(path.to_owned()),
        text: None,
        include: args.include.clone(),
        define: args.define.iter().map(|d| driver::macro_of(d)).collect(),
        externs: args.externs.clone(),
        hook: args.hook.map(|hook| synthetic(hook.hook())),
        ports: ports(args)?,
        entries: entries.map(|file: PathBuf| Entries::File(synthetic(file))),
    };
    Ok(Unit {
        name,
        bundle: Bundle {
            name: None,
            programs: vec![member],
            shares: Vec::new(),
        },
        alone: true,
        map: SourceMap::new(),
    })
}

/// What the command line gives is in no file.
pub(crate) fn synthetic<T>(value: T) -> At<T> {
    At {
        value,
        span: Span::NONE,
    }
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

/// `N=IF`
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

/// `N=PORT,PORT:RID`
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
