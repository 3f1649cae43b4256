//! Programs ready to run: ours compiled from P4, the others from C, with their entries. Both must do the same to the
//! packet.

use crate::error::Error;
use crate::workload::{Workload, bytes};
use bpf::abi::Hook;
use clang::Source;
use control::entries;
use driver::Input;
use driver::bpf_target::Request;
use kernel::budget::{self, Budget};
use kernel::ports::connect_ports;
use kernel::sys::{Loaded, Prog, Update, load_object};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders in which Debian and others keep the headers that `linux/bpf.h` includes.
const SYSTEM_INCLUDES: [&str; 2] = [
    "/usr/include/x86_64-linux-gnu",
    "/usr/include/aarch64-linux-gnu",
];

/// Ports that redirects look up. All lead to the loopback interface: a test run sends nothing.
const PORTS: [u32; 3] = [0, 1, 510];
const LOOPBACK: u32 = 1;

/// Loaded program and its cost. The program keeps its maps alive.
#[derive(Debug)]
pub(crate) struct Ready {
    /// The program.
    pub prog: Prog,
    /// Size and cost of the object.
    pub budget: Budget,
    /// Instructions that the verifier processed.
    pub verified: u32,
}

/// Both programs of a workload.
#[derive(Debug)]
pub(crate) struct Built {
    /// Workload of the programs.
    pub workload: Workload,
    /// Compiled from P4.
    pub ours: Ready,
    /// Hand-written.
    pub hand_written: Ready,
}

/// Compiles and loads both programs of a workload, inserts their entries, and compares their results.
pub(crate) fn build(root: &Path, workload: &Workload) -> Result<Built, Error> {
    let built = Built {
        ours: from_p4(root, &workload.p4, &workload.entries)?,
        hand_written: from_c(root, workload)?,
        workload: workload.clone(),
    };
    let packet = workload.packet()?;
    let outcome = |ready| outcome(ready, &packet);
    let (ours, hand_written) = (outcome(&built.ours)?, outcome(&built.hand_written)?);
    if ours != hand_written || ours.0 != workload.verdict {
        return Err(Error::new(format!(
            "{}: the programs do not do the same work: compiled {ours:x?}, hand-written {hand_written:x?}, \
             expected verdict {}",
            workload.name, workload.verdict
        )));
    }
    Ok(built)
}

/// Returns the verdict on a packet, and the resulting packet.
pub(crate) fn outcome(ready: &Ready, packet: &[u8]) -> Result<(u32, Vec<u8>), Error> {
    let mut out = vec![0; 4096];
    let ran = ready.prog.run_xdp(packet, &mut out, 0, 1);
    let ran = ran.map_err(Error::system("a test run"))?;
    out.truncate(ran.length);
    Ok((ran.verdict, out))
}

/// Compiles and loads a program, connects its ports, and applies the lines of an entries file.
pub(crate) fn from_p4(root: &Path, p4: &str, lines: &[String]) -> Result<Ready, Error> {
    let ports = PORTS.map(|port| (port, LOOPBACK));
    from_p4_at(root, p4, lines, Hook::Xdp, &ports)
}

/// Does the same for a hook, with these ports and their interfaces.
pub(crate) fn from_p4_at(
    root: &Path,
    p4: &str,
    lines: &[String],
    hook: Hook,
    ports: &[(u32, u32)],
) -> Result<Ready, Error> {
    let elaborated = driver::elaborate(&Input::file(root.join(p4)))
        .map_err(|refused| Error::diagnostics(&refused.diagnostics, &refused.map))?;
    let program = elaborated.program;
    let mut sources = elaborated.map;
    let compiled = driver::bpf_target::compile(&program, &sources, Request::hook(hook))
        .map_err(|d| Error::diagnostics(&d, &sources))?;
    let mut instance = kernel::load(&compiled.object, &compiled.abi, &compiled.schema, &sources)?;
    let store = &instance.store;
    connect_ports(&store.memory.abi.ports, &store.memory.maps, ports)?;
    let file = sources
        .add("entries", lines.join("\n"))
        .ok_or_else(|| Error::new("too many entries"))?;
    let changes = entries::parse(&compiled.schema, &sources, file)
        .map_err(|d| Error::diagnostics(&d, &sources))?;
    entries::apply(&mut instance.store, &changes)
        .map_err(|_| Error::new(format!("{p4}: an entry was refused")))?;
    let info = instance
        .program
        .prog()
        .info()
        .map_err(Error::system("a program's size"))?;
    Ok(Ready {
        prog: instance.program.into_prog(),
        budget: compiled.budget,
        verified: info.verified_instructions,
    })
}

fn from_c(root: &Path, workload: &Workload) -> Result<Ready, Error> {
    let (ready, maps) = load_c(root, &workload.c)?;
    for (name, contents) in &workload.maps {
        let map = maps
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, map)| map)
            .ok_or_else(|| Error::new(format!("{} has no map `{name}`", workload.c)))?;
        for raw in contents {
            map.set(&bytes(&raw.key)?, &bytes(&raw.value)?, Update::Any)
                .map_err(Error::system("filling a map"))?;
        }
    }
    Ok(ready)
}

pub(crate) type Maps = Vec<(String, kernel::sys::Map)>;

/// Compiles and loads a program written in C. Also returns its maps by name.
pub(crate) fn load_c(root: &Path, file: &str) -> Result<(Ready, Maps), Error> {
    load_c_with(root, file, "")
}

/// Does the same with a text before the file's.
pub(crate) fn load_c_with(root: &Path, file: &str, front: &str) -> Result<(Ready, Maps), Error> {
    let path = root.join(file);
    let text = fs::read_to_string(&path).map_err(|e| Error::file("read", &path, &e))?;
    let text = format!("{front}{text}");
    let object = compile_c(&text, path.parent())?;
    let Loaded { maps, programs } = load_object(&object, &[])
        .map_err(|f| Error::new(format!("{file}: {}\n{}{}", f.error, f.messages, f.log)))?;
    let (_, prog) = programs
        .into_iter()
        .next()
        .ok_or_else(|| Error::new(format!("{file} holds no program")))?;
    let info = prog.info().map_err(Error::system("a program's size"))?;
    let ready = Ready {
        prog,
        budget: budget::read(&object).unwrap_or_default(),
        verified: info.verified_instructions,
    };
    Ok((ready, maps))
}

/// Compiles C to an object, by the same compiler and flags as generated C.
pub(crate) fn compile_c(text: &str, folder: Option<&Path>) -> Result<Vec<u8>, Error> {
    let clang = clang::find()?;
    let include_dirs: Vec<PathBuf> = folder
        .into_iter()
        .chain(SYSTEM_INCLUDES.map(Path::new))
        .map(Path::to_owned)
        .collect();
    let made = clang::compile(
        &clang,
        Source {
            text,
            headers: &[],
            include_dirs: &include_dirs,
            defines: &[],
            effort: clang::Effort::Full,
            jumps: clang::Jumps::Short,
        },
    );
    made.map_err(|none| none.diagnostic.into())
}

/// Baselines: programs of two instructions.
#[derive(Debug)]
pub(crate) struct Baselines {
    /// Program that drops packets.
    pub drop: Ready,
    /// Program that sends packets back.
    pub tx: Ready,
}

impl Baselines {
    /// Compiles and loads them.
    pub(crate) fn build(root: &Path) -> Result<Baselines, Error> {
        Ok(Baselines {
            drop: load_c(root, "bench/xdp/drop.c")?.0,
            tx: load_c(root, "bench/xdp/tx.c")?.0,
        })
    }

    /// Returns a workload's baseline.
    pub(crate) fn of(&self, workload: &Workload) -> &Ready {
        if workload.baseline == "tx" {
            &self.tx
        } else {
            &self.drop
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::throughput;
    use crate::workload;

    #[test]
    fn the_hand_written_programs_load_and_take_packets_through_devices() {
        let root = crate::root();
        let workloads = workload::read(&root.join("bench/xdp/workload.json")).expect("reads");
        assert_eq!(workloads.len(), 9);
        Baselines::build(&root).expect("this test needs root and clang");
        for workload in workloads {
            let hand_written = || from_c(&root, &workload).expect("loads");
            let built = Built {
                ours: hand_written(),
                hand_written: hand_written(),
                workload: workload.clone(),
            };
            let mut out = vec![0; 4096];
            let packet = workload.packet().expect("hexadecimal");
            let ran = built
                .hand_written
                .prog
                .run_xdp(&packet, &mut out, 0, 1)
                .expect("runs");
            assert_eq!(ran.verdict, workload.verdict, "{}", workload.name);
            let effort = throughput::Effort {
                packets: 10_000,
                rounds: 1,
            };
            let rates = throughput::measure(&[built], effort).expect("runs");
            assert!(
                rates[0].hand_written > 1000.0,
                "{}: {:?}",
                workload.name,
                rates[0]
            );
        }
    }
}
