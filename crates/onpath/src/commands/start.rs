//! `onpath run`

use super::source::elaborate;
use crate::args::Run;
use crate::loader::read_text;
use crate::output::{
    Done, Stop, failed, print_diagnostics, refused, refused_in, say_line, tell_line,
};
use crate::xdp::{self, Compiled, Request};
use control::entries;
use diag::SourceMap;
use ir::Program;
use kernel::interrupt::Interrupts;
use kernel::pins::Interface;
use kernel::{Failure, Instance, Pins, interface};
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// Compiles, loads, fills and attaches a program; then stays until interrupted, or leaves it running.
/// Until the last step everything that went before is undone by going out of scope.
pub fn run(args: Run) -> Done {
    // Before anything is set up: an interrupt in between waits until it can be undone in order.
    let interrupts = match Interrupts::hold() {
        Ok(interrupts) => interrupts,
        Err(error) => return failed(format!("interrupts could not be held back: {error}")),
    };
    let ports = ports(&args)?;
    kernel::xdp::check_rights().map_err(refused)?;
    let name = instance_name(&args);
    let pins = Pins::default();
    pins.check_free(&name).map_err(refused)?;
    for port in &ports {
        kernel::xdp::check_free(&pins, &port.name, port.index).map_err(refused)?;
    }

    let begun = Instant::now();
    let elaborated = elaborate(&args.source)?;
    let front = elaborated.took;
    let sources = Rc::new(elaborated.map);
    let program = Arc::new(elaborated.program);
    let entries = match &args.entries {
        Some(file) => Some(Entries::read(&program, file)?),
        None => None,
    };
    let compiled = xdp::compile(
        &program,
        &sources,
        Request {
            externs: &args.externs,
            observe: false,
        },
    )
    .map_err(|diagnostics| {
        print_diagnostics(&diagnostics, &sources);
        Stop::Told(2)
    })?;
    let mut instance = load(&compiled, &program, &sources, args.verbose)?;
    let took = begun.elapsed();
    if let Some(entries) = &entries {
        entries::apply(&program, &mut instance.store, &entries.changes)
            .map_err(|refusal| refused_in(refusal, &entries.map))?;
    }
    let numbers: Vec<(u32, u32)> = ports.iter().map(|p| (p.port, p.index)).collect();
    kernel::xdp::connect_ports(&instance.store.abi.ports, &instance.store.maps, &numbers)
        .map_err(refused)?;
    let mut attached = Vec::new();
    for port in &ports {
        attached.push(kernel::xdp::attach(&instance.xdp, &port.name, port.index).map_err(refused)?);
    }
    let links: Vec<_> = ports
        .iter()
        .zip(&attached)
        .map(|(p, a)| (Interface::new(&p.name, p.index, p.port, a.mode), &a.link))
        .collect();
    pins.save(&name, &instance, &links).map_err(refused)?;
    let saved = Saved(&pins, &name);

    say_line!(
        "{name}: compiled and loaded in {} ms ({} ms of it our own), {} instructions",
        took.as_millis(),
        (front + compiled.own_time).as_millis(),
        compiled.budget.instructions()
    );
    for (at, a) in links.iter().map(|(at, _)| at).zip(&attached) {
        say_line!("{name}: port {} is {}, {} XDP", at.port, at.name, at.mode);
        if let Some(reason) = &a.native_refused {
            say_line!(
                "{name}: the driver of {} refuses native XDP ({reason})",
                at.name
            );
        }
    }
    if args.detach {
        say_line!("{name}: running; `onpath unload {name}` ends it");
        std::mem::forget(saved);
        return Ok(ExitCode::SUCCESS);
    }
    say_line!("{name}: running; interrupt to end");
    if let Err(error) = interrupts.wait() {
        tell_line!("waiting for an interrupt failed: {error}");
    }
    std::mem::forget(saved);
    pins.remove(&name).map_err(refused)?;
    say_line!("\n{name}: detached");
    Ok(ExitCode::SUCCESS)
}

/// A program that is not left behind where the command ends before it could say that it runs.
struct Saved<'a>(&'a Pins, &'a str);

impl Drop for Saved<'_> {
    fn drop(&mut self) {
        let _ = self.0.remove(self.1);
    }
}

/// A port and its interface.
struct Port {
    port: u32,
    name: String,
    index: u32,
}

fn ports(args: &Run) -> Result<Vec<Port>, Stop> {
    let mut wanted: Vec<(u32, String)> = Vec::new();
    for (port, name) in args.dev.iter().enumerate() {
        if name.is_empty() {
            return Err(Stop::Usage(
                "`--dev` has no name: write an interface's, such as --dev eth0".to_string(),
            ));
        }
        wanted.push((port as u32, name.clone()));
    }
    for text in &args.ports {
        match text
            .split_once('=')
            .map(|(n, name)| (n.parse::<u32>(), name))
        {
            Some((Ok(port), name)) if !name.is_empty() => wanted.push((port, name.to_string())),
            _ => {
                return Err(Stop::Usage(format!(
                    "`{text}` is not a port: write --port NUMBER=INTERFACE, such as --port 1=eth0"
                )));
            }
        }
    }
    for (i, (port, name)) in wanted.iter().enumerate() {
        for (other_port, other_name) in &wanted[..i] {
            if port == other_port {
                return Err(Stop::Usage(format!("port {port} is given twice")));
            }
            if name == other_name {
                return Err(Stop::Usage(format!("interface {name} is given twice")));
            }
        }
    }
    wanted
        .into_iter()
        .map(|(port, name)| {
            let index = interface::index(&name).map_err(refused)?;
            Ok(Port { port, name, index })
        })
        .collect()
}

/// The file's name as far as an instance's name may have its characters.
fn instance_name(args: &Run) -> String {
    if let Some(name) = &args.name {
        return name.clone();
    }
    let stem = args
        .source
        .file
        .file_stem()
        .map_or_else(String::new, |s| s.to_string_lossy().into());
    stem.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        })
        .collect()
}

fn load(
    compiled: &Compiled,
    program: &Arc<Program>,
    sources: &SourceMap,
    verbose: bool,
) -> Result<Instance, Stop> {
    kernel::load(&compiled.object, &compiled.abi, program, sources).map_err(|failure| {
        let Failure { diagnostic, log } = failure;
        let stop = refused_in(diagnostic, sources);
        if verbose {
            tell_line!("\nthe kernel's log:\n{log}");
        } else if !log.is_empty() {
            tell_line!("note: `--verbose` shows the kernel's whole log");
        }
        stop
    })
}

/// What a file of entries asks for.
struct Entries {
    map: SourceMap,
    changes: entries::Changes,
}

impl Entries {
    /// Reads all of it before anything is set up; every mistake is told at once.
    fn read(program: &Program, file: &Path) -> Result<Entries, Stop> {
        let text = read_text(file).map_err(Stop::Failed)?;
        let mut map = SourceMap::new();
        let Some(id) = map.add(file.display().to_string(), text) else {
            return failed(format!("`{}` is too large", file.display()));
        };
        match entries::parse(program, &map, id) {
            Ok(changes) => Ok(Entries { map, changes }),
            Err(diagnostics) => {
                print_diagnostics(&diagnostics, &map);
                Err(Stop::Told(1))
            }
        }
    }
}
