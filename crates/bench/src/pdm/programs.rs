//! Programs of both ends: compiled from P4, hand-written, or empty.

use crate::error::Error;
use crate::programs::compile_c;
use bpf::abi::{Abi, Hook};
use control::{Store, entries};
use diag::SourceMap;
use driver::Input;
use driver::bpf_target::{self, Compiled, Request};
use kernel::bundle::{self, SharedMap, Source};
use kernel::sys::{
    Adjust, Link, Loaded, Map, Prog, Side, Update, load_object_with, random_numbers,
};
use kernel::{Instance, KernelStore};
use net::interface;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Both hand-written programs as one text.
const BOTH: &str = "#include \"egress.c\"\n#include \"ingress.c\"\n";

/// Verdict that continues with the next program, or the stack.
const NEXT: i32 = -1;

/// Version of the programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Version {
    /// No program.
    None,
    /// Programs of two instructions.
    Empty,
    /// Compiled from `programs/pdm`.
    Onpath,
    /// Hand-written, in `bench/pdm`.
    HandWritten,
    /// The same with a hash that is faster, but no longer safe once somebody observes which flows are evicted.
    WeakerHash,
    /// Programs that only insert and remove the option's bytes: `bench/pdm/headroom.c`.
    Headroom,
}

/// Treatment of a packet that segmentation offload will split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Offloaded {
    /// It leaves without the option.
    Left,
    /// It gets one option, which all its segments will have.
    MarkedOnce,
}

impl Version {
    /// Returns its name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Version::None => "without",
            Version::Empty => "empty programs",
            Version::Onpath => "Onpath",
            Version::HandWritten => "hand-written",
            Version::WeakerHash => "hand-written with the weaker hash",
            Version::Headroom => "headroom baseline",
        }
    }
}

/// Programs of an interface. They keep their maps alive.
#[derive(Debug)]
pub(crate) struct End {
    /// Program for outgoing packets.
    pub egress: Prog,
    /// Program for incoming packets.
    pub ingress: Prog,
    /// Instructions that the verifier processed: egress, ingress.
    pub verified: [u32; 2],
    /// State of flows that they keep.
    pub flows: Flows,
}

/// Store of an end's flows.
#[derive(Debug)]
pub(crate) enum Flows {
    /// No flows are kept.
    None,
    /// State `flows` of a program compiled from P4.
    Compiled(Box<KernelStore>),
    /// Map of `struct set` of `bench/pdm/flows.h`.
    HandWritten(Map),
}

/// Compiled programs of a version.
pub(crate) enum Code {
    /// No programs.
    None,
    /// Empty programs, which need no compilation.
    Empty,
    /// Programs from P4: egress, ingress.
    Onpath(Box<[Prepared; 2]>),
    /// One object with both programs, so that they share their maps.
    HandWritten(Vec<u8>),
    /// One object with both programs.
    Headroom(Vec<u8>),
}

/// Compiled programs of all versions.
pub(crate) struct Codes([(Version, Code); 6]);

impl Codes {
    /// Compiles all versions.
    pub(crate) fn build(root: &Path) -> Result<Codes, Error> {
        let build = |version| Ok::<_, Error>((version, Code::build(root, version)?));
        Ok(Codes([
            build(Version::None)?,
            build(Version::Empty)?,
            build(Version::Onpath)?,
            build(Version::HandWritten)?,
            build(Version::WeakerHash)?,
            build(Version::Headroom)?,
        ]))
    }

    /// Returns the programs of some versions, in this order.
    pub(crate) fn of(&self, versions: &[Version]) -> Vec<&Code> {
        let one = |version: &Version| self.0.iter().find(|(v, _)| v == version);
        versions
            .iter()
            .filter_map(one)
            .map(|(_, code)| code)
            .collect()
    }
}

/// Program compiled from P4.
pub(crate) struct Prepared {
    name: &'static str,
    sources: SourceMap,
    compiled: Compiled,
}

impl Code {
    /// Compiles a version's programs.
    pub(crate) fn build(root: &Path, version: Version) -> Result<Code, Error> {
        let compile = |text| compile_c(text, Some(&root.join("bench/pdm")));
        Ok(match version {
            Version::None => Code::None,
            Version::Empty => Code::Empty,
            Version::HandWritten => Code::HandWritten(compile(BOTH)?),
            Version::WeakerHash => {
                Code::HandWritten(compile(&format!("#define WEAKER_HASH\n{BOTH}"))?)
            }
            Version::Headroom => Code::Headroom(compile("#include \"headroom.c\"\n")?),
            Version::Onpath => Code::Onpath(Box::new([
                prepare(root, "egress", Hook::TcEgress)?,
                prepare(root, "ingress", Hook::TcIngress)?,
            ])),
        })
    }

    /// Loads the programs with state of their own. Returns `None` if there are none.
    pub(crate) fn load(&self, offloaded: Offloaded) -> Result<Option<End>, Error> {
        let end = match self {
            Code::None => return Ok(None),
            Code::Empty => {
                let empty = || Prog::constant_tc(NEXT).map_err(Error::system("an empty program"));
                End::new(empty()?, empty()?, Flows::None)?
            }
            Code::HandWritten(object) => hand_written(object, offloaded)?,
            Code::Headroom(object) => {
                let Loaded { programs, .. } = load_hand_written(object, Adjust::default())?;
                let [egress, ingress] = both(programs, ["headroom_egress", "headroom_ingress"])?;
                End::new(egress, ingress, Flows::None)?
            }
            Code::Onpath(prepared) => from_p4(prepared, offloaded)?,
        };
        Ok(Some(end))
    }
}

impl End {
    fn new(egress: Prog, ingress: Prog, flows: Flows) -> Result<End, Error> {
        let verified = |prog: &Prog| {
            prog.info()
                .map(|i| i.verified_instructions)
                .map_err(Error::system("a program's size"))
        };
        Ok(End {
            verified: [verified(&egress)?, verified(&ingress)?],
            egress,
            ingress,
            flows,
        })
    }
}

/// Attaches an egress and an ingress program to a device of this thread's namespace, for as long as the links live.
pub(crate) fn attach(egress: &Prog, ingress: &Prog, device: &str) -> io::Result<[Link; 2]> {
    let index = interface::index(device).map_err(|d| io::Error::other(d.message))?;
    Ok([
        Link::attach_tcx(egress, index, Side::Egress)?,
        Link::attach_tcx(ingress, index, Side::Ingress)?,
    ])
}

fn hand_written(object: &[u8], offloaded: Offloaded) -> Result<End, Error> {
    /// Offset in `struct config` of the choice.
    const ONCE: usize = 34;
    // The seed is random, as in compiled programs: outsiders cannot predict which flows share a set.
    let seed: [u64; 5] = random_numbers().map_err(Error::system("random numbers"))?;
    let seed: Vec<u8> = seed.into_iter().flat_map(u64::to_ne_bytes).collect();
    let adjust = Adjust {
        data: &[(".rodata.seed", &seed)],
        ..Adjust::default()
    };
    let Loaded { maps, programs } = load_hand_written(object, adjust)?;
    let (_, config) = maps
        .iter()
        .find(|(name, _)| name == ".data.config")
        .ok_or_else(|| Error::new("bench/pdm has no configuration"))?;
    let mut choices = vec![0; config.info().value_size];
    choices[ONCE] = (offloaded == Offloaded::MarkedOnce).into();
    config
        .set(&0u32.to_ne_bytes(), &choices, Update::Any)
        .map_err(Error::system("a configuration"))?;
    let flows = maps.into_iter().find(|(name, _)| name == "flows");
    let flows = flows
        .ok_or_else(|| Error::new("bench/pdm keeps no flows"))?
        .1;
    let [egress, ingress] = both(programs, ["pdm_egress", "pdm_ingress"])?;
    End::new(egress, ingress, Flows::HandWritten(flows))
}

fn load_hand_written(object: &[u8], adjust: Adjust<'_>) -> Result<Loaded, Error> {
    load_object_with(object, adjust)
        .map_err(|f| Error::new(format!("bench/pdm: {}\n{}{}", f.error, f.messages, f.log)))
}

/// Takes the programs of these names.
fn both(programs: Vec<(String, Prog)>, names: [&str; 2]) -> Result<[Prog; 2], Error> {
    let mut programs: BTreeMap<String, Prog> = programs.into_iter().collect();
    let mut take = |name: &str| {
        programs
            .remove(name)
            .ok_or_else(|| Error::new(format!("bench/pdm has no program `{name}`")))
    };
    Ok([take(names[0])?, take(names[1])?])
}

fn prepare(root: &Path, name: &'static str, hook: Hook) -> Result<Prepared, Error> {
    let file = root.join(format!("programs/pdm/{name}.p4"));
    let elaborated = driver::elaborate(&Input::file(file))
        .map_err(|r| Error::diagnostics(&r.diagnostics, &r.map))?;
    let (program, sources) = (elaborated.program, elaborated.map);
    let compiled = bpf_target::compile(&program, &sources, Request::hook(hook))
        .map_err(|d| Error::diagnostics(&d, &sources))?;
    Ok(Prepared {
        name,
        sources,
        compiled,
    })
}

fn from_p4(prepared: &[Prepared; 2], offloaded: Offloaded) -> Result<End, Error> {
    let sources = prepared.each_ref().map(|p| Source {
        name: p.name,
        object: &p.compiled.object,
        abi: &p.compiled.abi,
        schema: &p.compiled.schema,
        sources: &p.sources,
    });
    let [egress, ingress] = prepared;
    let shared = shared(&egress.compiled.abi, &ingress.compiled.abi);
    let mut instances =
        bundle::load(&sources, &shared).map_err(|refused| Error::from(refused.failure))?;
    if offloaded == Offloaded::MarkedOnce {
        let line = "setdefault egress.offload mark_once()";
        set(&mut instances[0], line)?;
    }
    let mut instances = instances.into_iter();
    let (Some(egress), Some(ingress)) = (instances.next(), instances.next()) else {
        return Err(Error::new("two programs were not loaded"));
    };
    End::new(
        egress.program.into_prog(),
        ingress.program.into_prog(),
        Flows::Compiled(Box::new(ingress.store)),
    )
}

/// Returns every state of flows that both programs have by the same name.
fn shared(egress: &Abi, ingress: &Abi) -> Vec<SharedMap> {
    let alike = egress.contents.flow_states.iter().filter_map(|a| {
        let b = ingress
            .contents
            .flow_states
            .iter()
            .find(|b| b.name == a.name)?;
        Some(SharedMap {
            maps: vec![(0, a.map.clone()), (1, b.map.clone())],
        })
    });
    alike.collect()
}

/// Applies a line of an entries file.
fn set(instance: &mut Instance, line: &str) -> Result<(), Error> {
    let mut map = SourceMap::new();
    let file = map
        .add("entries", line)
        .ok_or_else(|| Error::new("too many entries"))?;
    let changes = entries::parse(instance.store.schema(), &map, file)
        .map_err(|d| Error::diagnostics(&d, &map))?;
    entries::apply(&mut instance.store, &changes)
        .map_err(|d| Error::new(format!("`{line}` was refused: {}", d.message)))
}
