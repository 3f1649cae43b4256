//! Bundles in the kernel: programs that are loaded with the state that they share, attached together, and pinned as one
//! instance. A single program is a bundle of one. The steps, in order:
//!
//! ```text
//! bundle::load    loads each program; one that shares state reuses the map of an earlier program
//!                 (the caller fills tables)
//! bundle::connect writes the interfaces of ports to maps
//! Pins::begin     locks out other commands, and removes the leftovers of killed ones
//! bundle::attach  programs run from now on, but only as long as this process
//! Begun::commit   pins everything, so that it outlives this process
//! ```

use crate::attach;
use crate::attachment::{Attached, Interfaces, Mode, TcMethod, TcOrder};
use crate::features::Kernel;
use crate::load::{Failure, Instance, Onto, load_with};
use crate::loss::{self, Loss, Use};
use crate::port::Port;
use crate::ports::connect_ports;
use crate::sys::{self, Map};
use crate::{Pins, errors};
use bpf::abi::{Abi, Hook};
use diag::{Diagnostic, SourceMap};
use host::caps;
use layout::{FieldAbi, HashSeeds, StateAbi};
use schema::Schema;
use std::io;
use std::sync::Arc;

/// A compiled program.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Name for users, unique in the bundle.
    pub name: &'a str,
    /// The object.
    pub object: &'a [u8],
    /// Layout of its maps.
    pub abi: &'a Arc<Abi>,
    /// Tables and other state that it offers the control plane.
    pub schema: &'a Arc<Schema>,
    /// Source texts of the object, in which refusals are located.
    pub sources: &'a SourceMap,
}

/// Map of a `flow_state`, or of metrics by group, that several programs share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedMap {
    /// Number of each program in the bundle, with the name that the map has in this program.
    pub maps: Vec<(usize, String)>,
}

/// Failure to load a bundle.
#[derive(Clone, PartialEq, Debug)]
pub struct LoadRefused {
    /// Number of the program that was not loaded.
    pub member: usize,
    /// Failure to load that program.
    pub failure: Failure,
}

/// A loaded program of a bundle.
#[derive(Debug)]
pub struct LoadedProgram {
    /// Name for users.
    pub name: String,
    /// The program and its state.
    pub instance: Instance,
    /// Ports at whose interfaces it runs.
    pub ports: Vec<Port>,
    /// Ports to whose interfaces it may send packets without running there.
    pub targets: Vec<Port>,
}

/// Attachment of a program to one of its interfaces. It lasts for as long as this value or a pin of it lives.
#[derive(Debug)]
pub struct Attachment {
    /// The program's number in the bundle.
    pub member: usize,
    /// The interface.
    pub port: Port,
    /// Holder of the attachment, and its mode.
    pub attached: Attached,
}

/// Loads programs in order. A program that shares state with an earlier one gets the earlier one's map. All programs
/// hash flows with the same random key.
pub fn load(sources: &[Source<'_>], shared: &[SharedMap]) -> Result<Vec<Instance>, LoadRefused> {
    let mut loader = Loader::new(sources, shared);
    while loader.next().is_some() {
        loader.load_next().map_err(|mut refused| {
            let source = &sources[refused.member];
            refused.failure.find_place(source.object, source.sources);
            refused
        })?;
    }
    Ok(loader.loaded)
}

/// Loader of a bundle, one program at a time, since the verifier may take seconds for each. [`load`] runs it to the
/// end.
#[derive(Debug)]
pub struct Loader<'a> {
    sources: &'a [Source<'a>],
    shared: &'a [SharedMap],
    /// Hash seeds, drawn when the first program is loaded.
    seeds: Option<HashSeeds>,
    memory: Option<u64>,
    loaded: Vec<Instance>,
}

impl<'a> Loader<'a> {
    /// Makes a loader of these programs; none is loaded yet.
    pub fn new(sources: &'a [Source<'a>], shared: &'a [SharedMap]) -> Loader<'a> {
        Loader {
            sources,
            shared,
            seeds: None,
            memory: None,
            loaded: Vec::with_capacity(sources.len()),
        }
    }

    /// Limits the memory of each program's maps to this number of bytes, however much is free. `None` limits it to the
    /// free memory.
    pub fn allow_memory(mut self, bytes: Option<u64>) -> Loader<'a> {
        self.memory = bytes;
        self
    }

    /// Returns the number of the next program to load, or `None` after the last.
    pub fn next(&self) -> Option<usize> {
        Some(self.loaded.len()).filter(|number| *number < self.sources.len())
    }

    /// Loads the next program; does nothing after the last. A refusal of the verifier has no location yet: see
    /// [`Failure::find_place`].
    pub fn load_next(&mut self) -> Result<(), LoadRefused> {
        let Some(member) = self.next() else {
            return Ok(());
        };
        let seeds = self.seeds().map_err(|error| LoadRefused {
            member,
            failure: errors::load::no_random_numbers(&error).into(),
        })?;
        let source = &self.sources[member];
        let reuse = reused(self.sources, self.shared, &self.loaded);
        let instance = reuse.map_err(Failure::from).and_then(|reuse| {
            let onto = Onto {
                reuse: &reuse,
                seeds,
                memory: self.memory,
            };
            load_with(
                source.object,
                source.abi,
                source.schema,
                source.sources,
                onto,
            )
        });
        let instance = instance.map_err(|failure| LoadRefused { member, failure })?;
        self.loaded.push(instance);
        Ok(())
    }

    /// Returns the hash seeds, which are the same for all programs.
    fn seeds(&mut self) -> io::Result<HashSeeds> {
        if let Some(seeds) = self.seeds {
            return Ok(seeds);
        }
        let [low, high, buckets] = sys::random_numbers()?;
        let key = [low, high];
        Ok(*self.seeds.insert(HashSeeds { key, buckets }))
    }

    /// Returns the loaded programs, in order.
    pub fn loaded(self) -> Vec<Instance> {
        self.loaded
    }
}

/// Returns the maps that the next program shares with earlier ones, by its own names for them.
fn reused<'a>(
    sources: &[Source<'_>],
    shared: &'a [SharedMap],
    loaded: &'a [Instance],
) -> Result<Vec<(&'a str, &'a Map)>, Box<Diagnostic>> {
    let next = loaded.len();
    let mut reuse = Vec::new();
    for SharedMap { maps } in shared {
        let own = maps.iter().find(|(member, _)| *member == next);
        let first = maps.iter().min_by_key(|(member, _)| *member);
        let (Some((_, own)), Some((first, theirs))) = (own, first.filter(|(m, _)| *m < next))
        else {
            continue;
        };
        let owner = &sources[*first];
        let in_theirs = state(owner, theirs)?;
        check_alike(
            (owner, in_theirs),
            (&sources[next], state(&sources[next], own)?),
        )?;
        let map = loaded[*first].store.memory.maps.get(theirs).ok().flatten();
        let map = map.ok_or_else(|| errors::load::map_differs(theirs, "it is not there"))?;
        reuse.push((own.as_str(), map));
    }
    Ok(reuse)
}

fn state<'a>(source: &Source<'a>, map: &str) -> Result<StateAbi<'a>, Box<Diagnostic>> {
    let mut all = source.abi.contents.states();
    all.find(|state| state.map() == map)
        .ok_or_else(|| errors::bundle::no_state(source.name, map))
}

/// Fails if two programs define a shared state differently, names aside.
fn check_alike(
    (a, in_a): (&Source<'_>, StateAbi<'_>),
    (b, in_b): (&Source<'_>, StateAbi<'_>),
) -> Result<(), Box<Diagnostic>> {
    let (told_a, told_b) = (describe(a, in_a), describe(b, in_b));
    if told_a == told_b && in_a.is_like(in_b) {
        return Ok(());
    }
    Err(errors::bundle::states_differ(
        (a.name, in_a.name(), &told_a),
        (b.name, in_b.name(), &told_b),
    ))
}

/// Describes a state for users, without names.
fn describe(source: &Source<'_>, state: StateAbi<'_>) -> String {
    let list = |fields: &[FieldAbi]| {
        let each = |f: &FieldAbi| format!("bit<{}> at {}", f.width, f.offset);
        fields.iter().map(each).collect::<Vec<_>>().join(", ")
    };
    match state {
        StateAbi::Flows(flows) => {
            let idle = match flows.idle {
                0 => String::new(),
                idle => format!(", ending after {idle} ns"),
            };
            let (key, value) = (list(state.key()), list(state.value()));
            format!("{} flows of ({key}) to ({value}){idle}", state.room())
        }
        StateAbi::Metrics(metrics) => {
            // Metrics of different kinds may have values of the same size.
            let object = source.schema.metrics();
            let mut object = object.filter(|(id, _)| id.as_u32() == metrics.index);
            let kind = object
                .next()
                .map_or("metrics", |(_, object)| object.extern_name.as_str());
            format!(
                "{kind} of {} groups of ({})",
                state.room(),
                list(state.key())
            )
        }
    }
}

/// Fails if this kernel is too old, or if this process lacks the rights to load, attach and pin programs at these
/// hooks. `attachments` is the number of attachments of the whole bundle.
pub fn check_rights(hooks: &[Hook], attachments: usize) -> Result<(), Box<Diagnostic>> {
    Kernel::This.check()?;
    for hook in hooks {
        attach::check_rights(*hook)?;
    }
    // Several attachments become one instance by a mount.
    let missing = caps::missing(&["CAP_SYS_ADMIN"]);
    if attachments > 1 && !missing.is_empty() {
        return Err(errors::bundle::needs_mount(&missing));
    }
    Ok(())
}

/// Fails if a program, given by its hook and ports, cannot run at one of its ports.
pub fn check_hooks(pins: &Pins, wanted: &[(Hook, &[Port])]) -> Result<(), Box<Diagnostic>> {
    for (hook, ports) in wanted {
        for port in *ports {
            attach::check_hook(pins, *hook, &port.name, port.index)?;
        }
    }
    Ok(())
}

/// Writes the interfaces of each program's ports to its maps.
pub fn connect(members: &[LoadedProgram]) -> Result<(), Box<Diagnostic>> {
    for member in members {
        let ports = member.ports.iter().chain(&member.targets);
        let pairs: Vec<_> = ports.map(|p| (p.number, p.index)).collect();
        let store = &member.instance.store;
        connect_ports(&store.memory.abi.ports, &store.memory.maps, &pairs)?;
    }
    Ok(())
}

/// Lists the packets that programs would lose at their interfaces, in the order of the programs, each loss with its
/// program's number. `mode` returns the mode in which a program runs at a port.
pub fn losses(
    members: &[LoadedProgram],
    mode: impl Fn(usize, &Port) -> Option<Mode>,
) -> Vec<(usize, Loss)> {
    let mut all = Vec::new();
    for (number, member) in members.iter().enumerate() {
        let hook = member.instance.program.hook();
        let packets = member.instance.store.memory.abi.packets;
        let mut is_native = false;
        let runs = member.ports.iter().filter_map(|port| {
            let mode = mode(number, port)?;
            is_native |= hook == Hook::Xdp && mode == Mode::Native;
            Some((port, Use::Runs(hook, mode)))
        });
        let mut used: Vec<(&Port, Use)> = runs.collect();
        if is_native {
            used.extend(member.targets.iter().map(|port| (port, Use::Sends)));
        }
        for (port, used) in used {
            let losses = loss::at(port, used, packets);
            all.extend(losses.into_iter().map(|loss| (number, loss)));
        }
    }
    all
}

/// Attaches every program to its interfaces, in order. Nothing is attached if it fails.
pub fn attach(
    members: &[LoadedProgram],
    method: TcMethod,
) -> Result<Vec<Attachment>, Box<Diagnostic>> {
    attach_in_order(members, method, None)
}

/// Attaches programs like [`attach`]. At traffic control, `order` gives their position among the programs pinned there.
pub fn attach_in_order(
    members: &[LoadedProgram],
    method: TcMethod,
    order: Option<(&Pins, &TcOrder)>,
) -> Result<Vec<Attachment>, Box<Diagnostic>> {
    let mut all = Vec::new();
    for (number, member) in members.iter().enumerate() {
        let interfaces = Interfaces {
            redirects: member.instance.store.memory.abi.ports.devmap.is_some(),
            ports: &member.ports,
            targets: &member.targets,
            order,
        };
        let attached = attach::attach(&member.instance.program, interfaces, method)?;
        let ports = member.ports.iter().cloned();
        all.extend(ports.zip(attached).map(|(port, attached)| Attachment {
            member: number,
            port,
            attached,
        }));
    }
    Ok(all)
}
