//! Replacement of tables in one switch. A successor of the program is loaded with new maps for the tables of a change,
//! and filled. It takes the program's place at each interface by one update of the link. Packets pay nothing for it:
//! one that is in the program meets the old tables to its end, the next one the new ones.
//!
//! The successor's own pins wait in the folder `next` of the program's folder. The pin of its program comes last: from
//! then on the change is made. If the writer is killed after that, the next one finishes the change, or takes it back
//! if the kernel does not allow it. Without that pin, the folder is garbage. Once the successor runs at all
//! interfaces, the folder is renamed to `taken`. From then on its pins replace the program's, and nothing leads back.

use super::guard::Guard;
use super::{KernelMemory, system, unopened};
use crate::load::{Instance, load_again};
use crate::pins::empty::empty_successor;
use crate::pins::files::{NEXT, OBJECT, PROGRAM, SPECIALIZED, TAKEN, attachments_of, map_file};
use crate::sys::{Map, Prog, Update, read_bytes};
use bpf::abi::{PROGRAMS_MAP, SEED_SECTION};
use control::StoreError;
use host::linux::wait_for_softirqs;
use host::safe_dir::Dir;
use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use writers::Memory;
use writers::memory::NotSwitched;

/// A program that is to take the place of another one.
#[derive(Debug)]
pub(super) struct Successor {
    instance: Instance,
    /// The folder of the program whose place it takes.
    guard: Guard,
    /// The maps that need no pins of their own: it shares them with the program.
    shared: BTreeSet<String>,
}

impl Successor {
    /// Loads a successor with new, empty maps of these names. It shares all other maps with the program, and gets a
    /// copy of the program's global data.
    pub(crate) fn load(
        program: &KernelMemory,
        fresh: &BTreeSet<&str>,
    ) -> Result<Successor, StoreError> {
        let Some(guard) = program.guard.clone() else {
            return Err(not_pinned());
        };
        let object = read_bytes(guard.folder(), OBJECT);
        let object = object.map_err(system("read what the program was loaded from"))?;
        let seed = program.abi.contents.is_seeded().then_some(SEED_SECTION);
        let all = program.abi.maps.iter().map(|map| map.name.as_str());
        let mut reuse: Vec<(&str, &Map)> = Vec::new();
        let is_own = |name: &&str| fresh.contains(name) || *name == PROGRAMS_MAP;
        for name in all.chain(seed).filter(|name| !is_own(name)) {
            reuse.push((name, program.existing(name)?));
        }
        let loaded = load_again(
            &object,
            &program.abi,
            &program.schema,
            &reuse,
            program.allowance,
        );
        let instance = loaded.map_err(|failure| StoreError::System {
            what: format!(
                "could not load the program for its new tables: {}",
                failure.diagnostic.message
            ),
        })?;
        if let Some(data) = &program.abi.contents.globals {
            let failed = system("copy the program's data");
            let [from, to] = [program, &instance.store.memory]
                .map(|memory| memory.maps.shared(&data.section).map_err(unopened));
            let (Some(from), Some(to)) = (from?, to?) else {
                return Err(StoreError::System {
                    what: "the program's data section is gone".into(),
                });
            };
            let bytes = from.bytes(0u32, data.size).map_err(&failed)?;
            to.set_bytes(0u32, &bytes).map_err(&failed)?;
        }
        let shared = reuse.iter().map(|(name, _)| (*name).to_owned()).collect();
        Ok(Successor {
            instance,
            guard,
            shared,
        })
    }

    /// Makes a successor whose maps need no pins: they are the program's, or hold nothing longer than for a packet.
    /// Only the map of chained programs is its own.
    pub(crate) fn over_same_maps(instance: Instance, guard: Guard) -> Successor {
        let all = instance.store.memory.maps.open();
        let all = all.filter(|(name, _)| *name != PROGRAMS_MAP);
        let shared = all.map(|(name, _)| name.to_owned()).collect();
        Successor {
            instance,
            guard,
            shared,
        }
    }
}

impl writers::memory::Successor for Successor {
    fn memory(&self) -> &dyn Memory {
        &self.instance.store.memory
    }

    fn take_over(&self) -> Result<(), NotSwitched> {
        let guard = &self.guard;
        let pin = || -> io::Result<()> {
            let next = guard.folder().make_dir(NEXT)?;
            for (name, map) in self.instance.store.memory.maps.open() {
                if !self.shared.contains(name) {
                    map.pin(&next, &map_file(name))?;
                }
            }
            self.instance.program.prog().pin(&next, PROGRAM)
        };
        pin().map_err(|error| {
            // What is left is removed by the next writer.
            let _ = discard(guard);
            NotSwitched::Kept(unopened(error))
        })?;
        finish(guard)
    }
}

/// Reports that only a pinned program has a successor.
pub(super) fn not_pinned() -> StoreError {
    StoreError::Unsupported {
        what: "the program is pinned nowhere".into(),
    }
}

/// Tests whether something is left of a successor that has not taken over.
pub(super) fn is_waiting(guard: &Guard) -> bool {
    [NEXT, TAKEN].iter().any(|name| guard.folder().has(name))
}

/// Finishes the switch that a killed writer has begun, or removes what is left of it. The caller holds the lock for
/// writing.
pub(super) fn recover(guard: &Guard) -> Result<(), StoreError> {
    let done = if guard.folder().has(TAKEN) {
        settle(guard)
    } else if has_program(guard) {
        return finish(guard).map_err(NotSwitched::error);
    } else {
        discard(guard)
    };
    done.map_err(system("remove what a killed command has left"))
}

/// Puts the waiting successor in the program's place.
fn finish(guard: &Guard) -> Result<(), NotSwitched> {
    let failed = system("put the program with the new tables in the old one's place");
    let folder = guard.folder();
    let next = folder.open_dir(NEXT);
    let program = next.and_then(|next| Prog::open(&next, PROGRAM));
    let attached = program.and_then(|program| attach(guard, &program));
    if let Err(error) = attached {
        let old = Prog::open(folder, PROGRAM);
        let back = old.and_then(|old| attach(guard, &old));
        let _ = back.and_then(|()| discard(guard));
        return Err(match has_program(guard) {
            true => NotSwitched::Begun(failed(error)),
            false => NotSwitched::Kept(failed(error)),
        });
    }
    let taken = folder.rename(NEXT, TAKEN).and_then(|()| settle(guard));
    taken.map_err(|error| NotSwitched::Made(failed(error)))
}

/// Replaces the program's pins by those of a successor that runs.
fn settle(guard: &Guard) -> io::Result<()> {
    // The old program may have been specialized. Whoever specialized the new one records that later.
    let folder = guard.folder();
    folder.remove_file_if_there(SPECIALIZED)?;
    let taken = folder.open_dir(TAKEN)?;
    // A packet in the old program may still continue in programs chained to it, as long as they are pinned.
    let others = map_file(PROGRAMS_MAP);
    if folder.has(&others) {
        wait_for_softirqs();
        if !taken.has(&others) {
            folder.remove_file(&others)?;
        }
    }
    for file in taken.entries()? {
        taken.move_to(&file.name, folder)?;
    }
    folder.remove_dir(TAKEN)
}

/// Removes a successor that runs nowhere.
fn discard(guard: &Guard) -> io::Result<()> {
    let next = guard.folder().open_dir(NEXT)?;
    // This pin goes first: it marks that there is something to finish.
    next.remove_file_if_there(PROGRAM)?;
    empty_successor(&next)?;
    guard.folder().remove_dir(NEXT)
}

/// Tests whether a complete successor waits: the pin of its program is there.
fn has_program(guard: &Guard) -> bool {
    let next = guard.folder().open_dir(NEXT);
    next.is_ok_and(|next: Dir| next.has(PROGRAM))
}

/// Makes all attachments of a program run another one, one after the other. Each update is atomic.
fn attach(guard: &Guard, program: &Prog) -> io::Result<()> {
    let (links, gates) = attachments_of(guard.instance(), guard.member())?;
    for link in links {
        match link.update(program) {
            // The interface is gone, and its packets with it.
            Err(error) if error.raw_os_error() == Some(libc::ENOLINK) => {}
            done => done?,
        }
    }
    for gate in gates {
        let fd = program.as_fd().as_raw_fd() as u32;
        gate.set(&0u32.to_ne_bytes(), &fd.to_ne_bytes(), Update::Any)?;
    }
    Ok(())
}
