//! Loading of a compiled program into the kernel: maps, initial data, the program's own entries.

use crate::build::{self, Obstacle};
use crate::features::Kernel;
use crate::program::HookProg;
use crate::store::SEED_SECTION;
use crate::store::{KernelMemory, KernelStore, Maps};
use crate::sys::{
    Adjust, Contents, LoadFailure, Loaded, Map, Samples, load_object_with, path_log, samples,
};
use crate::verifier_log::{self, Refusal};
use crate::{contents, errors, memory};
use bpf::abi::{Abi, MapAbi};
use diag::{Diagnostic, SourceMap, system_message};
use host::caps;
use layout::HashSeeds;
use schema::Schema;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A program in the kernel, attached to nothing.
#[derive(Debug)]
pub struct Instance {
    /// The program's tables, counters and other state.
    pub store: KernelStore,
    /// The program, for the hook it was compiled for.
    pub program: HookProg,
    /// Object that it was loaded from.
    pub(crate) object: Vec<u8>,
}

/// Failure to load a program into the kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct Failure {
    /// Report for the user.
    pub diagnostic: Box<Diagnostic>,
    /// The verifier's log or libbpf's words; may be empty.
    pub log: String,
    /// Control-plane name of the part of the program that is at fault, if that part has one.
    pub about: Option<String>,
    /// Obstacle that another compilation may overcome, with the verifier's reason.
    pub obstacle: Option<(Obstacle, String)>,
    /// Refusal of the verifier whose location has not been looked for yet.
    unplaced: Option<Box<Unplaced>>,
}

/// A refusal of the verifier, and the system's error with it.
#[derive(Clone, PartialEq, Debug)]
struct Unplaced {
    refusal: Refusal,
    error: Option<i32>,
}

impl Failure {
    /// Makes the diagnostic show the location in the program that the verifier refused. For a program that is too large,
    /// this is where the verifier spent most instructions. Does nothing if the location was found already.
    ///
    /// The verifier processes the object once more, which takes up to a few seconds. A caller that compiles the
    /// program again can do without.
    pub fn find_place(&mut self, object: &[u8], sources: &SourceMap) {
        let Some(unplaced) = self.unplaced.take() else {
            return;
        };
        let Unplaced { mut refusal, error } = *unplaced;
        let mut seen = Samples::default();
        if errors::verifier::is_too_much(&refusal) {
            seen = samples(object);
            if seen.parts.is_empty() {
                seen = path_log(object, &self.log).map_or(seen, Samples::from);
            }
        } else if let Some(log) = path_log(object, &self.log) {
            let error =
                error.map_or_else(|| io::ErrorKind::Other.into(), io::Error::from_raw_os_error);
            refusal = build::refusal(&log, &error).unwrap_or(refusal);
            self.log = log;
        }
        if refusal.location.is_none() {
            verifier_log::locate(&mut refusal, object);
        }
        self.diagnostic = verifier_log::explain(&refusal, &seen, sources);
    }
}

impl From<Box<Diagnostic>> for Failure {
    fn from(diagnostic: Box<Diagnostic>) -> Failure {
        Failure {
            diagnostic,
            log: String::new(),
            about: None,
            obstacle: None,
            unplaced: None,
        }
    }
}

/// Loads an object with its ABI and the schema of its program. Refusals are reported in `sources`, the texts that the
/// object was compiled from. Flows are hashed with a known key, so that results agree with the interpreter's. For
/// packets from strangers see [`crate::bundle::load`].
pub fn load(
    object: &[u8],
    abi: &Arc<Abi>,
    schema: &Arc<Schema>,
    sources: &SourceMap,
) -> Result<Instance, Failure> {
    load_with(object, abi, schema, sources, Onto::default()).map_err(|mut failure| {
        failure.find_place(object, sources);
        failure
    })
}

/// Result of having the verifier check an object that is not to run.
#[derive(Debug)]
pub struct Verified {
    /// Number of instructions processed, or the refusal. A refusal has no location yet: see [`Failure::find_place`].
    pub instructions: Result<u32, Failure>,
    /// Time that the verifier took.
    pub took: Duration,
}

/// Makes the verifier check an object. The maps are small, so that the result does not depend on free memory.
pub fn verify(object: &[u8], abi: &Abi, sources: &SourceMap) -> Verified {
    let begun = Instant::now();
    match load_object_with(object, Adjust::trial()) {
        Ok(loaded) => Verified {
            took: begun.elapsed(),
            instructions: processed(&loaded, abi),
        },
        Err(failure) => Verified {
            took: failure.took,
            instructions: Err(explain(failure, sources)),
        },
    }
}

/// Returns the number of instructions that the verifier processed for an object's program. For programs chained by
/// tail calls, it is the number of the largest.
fn processed(loaded: &Loaded, abi: &Abi) -> Result<u32, Failure> {
    let wanted = abi.programs.first().map_or("", |program| &program.function);
    if !loaded.programs.iter().any(|(name, _)| name == wanted) {
        return Err(errors::load::no_program(wanted).into());
    }
    let all = loaded.programs.iter();
    let infos = all.filter_map(|(_, program)| program.info().ok());
    let most = infos.map(|info| info.verified_instructions).max();
    Ok(most.ok_or_else(|| errors::load::no_program(wanted))?)
}

/// Context that a program is loaded with: existing maps, hash seeds, and a memory limit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Onto<'a> {
    /// Maps that exist already, by the object's names for them.
    pub(crate) reuse: &'a [(&'a str, &'a Map)],
    /// Seeds of the hashes.
    pub(crate) seeds: HashSeeds,
    /// Limit of its maps' memory, in bytes. `None` is the free memory.
    pub(crate) memory: Option<u64>,
}

/// Loads an object like [`load`], in this context. A refusal of the verifier has no location yet: see
/// [`Failure::find_place`].
pub(crate) fn load_with(
    object: &[u8],
    abi: &Arc<Abi>,
    schema: &Arc<Schema>,
    sources: &SourceMap,
    onto: Onto<'_>,
) -> Result<Instance, Failure> {
    Kernel::This.check()?;
    check_memory(&contents::read(object)?, abi, onto)?;
    let resize: Vec<(&str, u32)> = abi.contents.resized(memory::processors() as u32).collect();
    let adjust = Adjust {
        resize: &resize,
        reuse: onto.reuse,
        data: &[(SEED_SECTION, &onto.seeds.to_bytes())],
        ..Adjust::default()
    };
    let loaded = load_object_with(object, adjust).map_err(|f| explain(f, sources))?;
    let mut instance = assemble(loaded, object, abi, schema)?;
    instance.store.memory.allowance = onto.memory;
    instance.store.preload().map_err(|(table, error)| {
        let name = &schema.tables[table].name;
        errors::load::own_entries(name, &error.to_string())
    })?;
    Ok(instance)
}

/// Loads a second copy of a program, with maps of its own except those to reuse. The new maps are empty, without even
/// the program's own entries. `memory` is the limit that the program was first loaded with, in bytes.
pub(crate) fn load_again(
    object: &[u8],
    abi: &Arc<Abi>,
    schema: &Arc<Schema>,
    reuse: &[(&str, &Map)],
    memory: Option<u64>,
) -> Result<Instance, Failure> {
    let onto = Onto {
        reuse,
        memory,
        ..Onto::default()
    };
    check_memory(&contents::read(object)?, abi, onto)?;
    let resize: Vec<(&str, u32)> = abi.contents.resized(memory::processors() as u32).collect();
    let adjust = Adjust {
        resize: &resize,
        reuse,
        ..Adjust::default()
    };
    let none = SourceMap::new();
    let loaded = load_object_with(object, adjust).map_err(|f| explain(f, &none))?;
    Ok(assemble(loaded, object, abi, schema)?)
}

/// Fails if the object's maps take more memory than they may, whatever its description says of them.
fn check_memory(contents: &Contents, abi: &Abi, onto: Onto<'_>) -> Result<(), Failure> {
    let Some(limit) = onto.memory.or_else(memory::available) else {
        return Ok(());
    };
    let mut maps = memory::of_object(contents, abi);
    maps.retain(|map| !onto.reuse.iter().any(|(name, _)| *name == map.map));
    let needed = maps
        .iter()
        .fold(0u64, |sum, map| sum.saturating_add(map.need.full));
    match maps.first() {
        Some(largest) if needed > limit => {
            let allowed = onto.memory.is_some();
            let refused = errors::load::too_much_memory(largest, needed, limit, allowed);
            Err(Failure {
                about: Some(largest.name.clone()),
                ..Failure::from(refused)
            })
        }
        _ => Ok(()),
    }
}

fn explain(failure: LoadFailure, sources: &SourceMap) -> Failure {
    let log = if failure.log.is_empty() {
        failure.messages.clone()
    } else {
        failure.log.clone()
    };
    let obstacle = build::obstacle(&failure.log, &failure.error);
    let mut unplaced = None;
    let missing = caps::missing(&caps::RUN);
    let refused_rights = failure.error.raw_os_error() == Some(libc::EPERM);
    let diagnostic = if refused_rights && failure.log.is_empty() {
        errors::load::not_permitted("load a BPF program", &missing, caps::in_user_namespace())
    } else {
        match build::refusal(&failure.log, &failure.error) {
            Some(refusal) => {
                let diagnostic = verifier_log::explain(&refusal, &Samples::default(), sources);
                let error = failure.error.raw_os_error();
                unplaced = Some(Box::new(Unplaced { refusal, error }));
                diagnostic
            }
            None => errors::load::not_loaded(&failure.error, &failure.messages),
        }
    };
    Failure {
        diagnostic,
        log,
        about: None,
        obstacle,
        unplaced,
    }
}

fn assemble(
    loaded: Loaded,
    object: &[u8],
    abi: &Arc<Abi>,
    schema: &Arc<Schema>,
) -> Result<Instance, Box<Diagnostic>> {
    let maps = Maps::loaded(loaded.maps);
    for map in &abi.maps {
        check_map(map, find(&maps, &map.name)?)?;
    }
    check_globals(abi, &maps)?;
    let wanted = abi.programs.first();
    let wanted = wanted.ok_or_else(|| errors::load::no_program(""))?;
    let prog = loaded
        .programs
        .into_iter()
        .find(|(name, _)| *name == wanted.function)
        .and_then(|(_, prog)| HookProg::new(prog, wanted.hook).ok())
        .ok_or_else(|| errors::load::no_program(&wanted.function))?;
    let memory = KernelMemory {
        abi: Arc::clone(abi),
        schema: Arc::clone(schema),
        maps,
        allowance: None,
        guard: None,
    };
    Ok(Instance {
        object: object.to_vec(),
        store: KernelStore::new(memory, false),
        program: prog,
    })
}

/// Maps the program's data section, if it has one, and fails if it has less than is wanted.
fn check_globals(abi: &Abi, maps: &Maps) -> Result<(), Box<Diagnostic>> {
    let Some(wanted) = &abi.contents.globals else {
        return Ok(());
    };
    let name = &wanted.section;
    let map = find(maps, name)?;
    let map = map.ok_or_else(|| errors::load::map_differs(name, "it is not there"))?;
    let size = map.info().value_size;
    if size < wanted.size as usize {
        let how = format!("{size} bytes instead of {}", wanted.size);
        return Err(errors::load::map_differs(name, &how));
    }
    let mapped = maps.shared(name).map(drop);
    mapped.map_err(|e| errors::load::map_differs(name, &system_message(&e)))
}

fn find<'a>(maps: &'a Maps, name: &str) -> Result<Option<&'a Map>, Box<Diagnostic>> {
    maps.get(name)
        .map_err(|e| errors::load::map_differs(name, &system_message(&e)))
}

fn check_map(wanted: &MapAbi, found: Option<&Map>) -> Result<(), Box<Diagnostic>> {
    let name = &wanted.name;
    let Some(found) = found.map(Map::info) else {
        return Err(errors::load::map_differs(name, "it is not there"));
    };
    let sizes = |k: usize, v: usize| format!("keys and values of {k} and {v} bytes");
    let (key, value) = (wanted.key_size as usize, wanted.value_size as usize);
    if (found.key_size, found.value_size) != (key, value) {
        let how = format!(
            "{} instead of {}",
            sizes(found.key_size, found.value_size),
            sizes(key, value)
        );
        return Err(errors::load::map_differs(name, &how));
    }
    if found.kind != contents::kernel_kind(wanted.kind) {
        return Err(errors::load::map_differs(name, "it is of another type"));
    }
    Ok(())
}
