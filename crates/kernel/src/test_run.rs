//! A device without a network: each packet is run by `BPF_PROG_TEST_RUN`.

mod observed;
mod rounds;

use crate::load::Instance;
use crate::store::Maps;
use crate::sys::{TcContext, Update};
use bpf::abi::{FRAGMENTS_SECTION, Hook, ProgramAbi};
use control::repeatable::{self, RandomLists};
use control::{Device, Packet, Store, StoreError};
use observed::{Observed, Redirection};
use rounds::{Again, Rounds};
use std::collections::VecDeque;

/// Length of the shortest packet in bytes: the kernel runs a program on at least an Ethernet header.
pub const SHORTEST: usize = 14;
/// Length of the longest packet in bytes that fits the one page of a test run, with headroom and tailroom. An XDP
/// program that takes multi-buffer packets is given longer ones in several buffers, of up to [`LONGEST_IN_FRAGMENTS`]
/// bytes.
pub const LONGEST: usize = 3414;
/// Length of an Ethernet header and the largest packet after it, in bytes.
pub const LONGEST_IN_FRAGMENTS: usize = 14 + 65_535;
/// Index of the loopback device, on which a test run's packet is.
const LOOPBACK: u32 = 1;

/// Macro for the generated C of test runs. The program then reports to user space where redirects and copies go,
/// instead of sending them there. It takes the time and random numbers from user space, since a test run has no other
/// source.
pub const OBSERVE: &str = "ONPATH_OBSERVE";

/// Return values of an XDP program, and the kernel's treatment of the packet.
pub mod verdict {
    /// Dropped, with a trace point.
    pub const ABORTED: u32 = 0;
    /// Dropped.
    pub const DROP: u32 = 1;
    /// Passed to the network stack.
    pub const PASS: u32 = 2;
    /// Sent back out of the interface it came in on.
    pub const TX: u32 = 3;
    /// Sent out of another interface.
    pub const REDIRECT: u32 = 4;
}

/// Return values of a tc program, and the kernel's treatment of the packet.
pub mod tc_verdict {
    /// Passed, after the hook's other programs.
    pub const NEXT: u32 = u32::MAX;
    /// Passed at once.
    pub const PASS: u32 = 0;
    /// Dropped.
    pub const DROP: u32 = 2;
    /// Sent to the destination that the program gave.
    pub const REDIRECT: u32 = 7;
}

/// Returns the last clock value of a program for test runs; `None` for other programs.
pub(crate) fn observed_now(maps: &Maps) -> Result<Option<u64>, StoreError> {
    match Observed::of(maps)? {
        Some(observed) => observed.now().map(Some),
        None => Ok(None),
    }
}

/// The fate of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Passed.
    Pass,
    /// Dropped.
    Drop,
    /// Dropped, as an error.
    Aborted,
    /// Sent back out of the port it came in on.
    Tx,
    /// Redirected to a port.
    Redirect {
        /// The port.
        port: u32,
        /// True if the packet goes to the port's ingress, as if it had come in there.
        ingress: bool,
    },
}

/// Result of a program for a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Program's return value; see [`verdict`] and [`tc_verdict`].
    pub verdict: u32,
    /// Port that it chose, for redirects.
    pub port: Option<u32>,
    /// Fate of the packet that the return value means.
    pub fate: Fate,
    /// The ports that copies went to, in order; of more than 64, the last 64.
    pub copies: Vec<u32>,
    /// Bytes of the packet afterwards. Copies have the same.
    pub bytes: Vec<u8>,
    /// All packets that left, the packet itself included, in order; if copies may differ, or packets are resubmitted.
    pub sent: Option<Vec<Packet>>,
    /// Metadata that the kernel keeps beside the packet, for tc.
    pub context: TcContext,
}

fn too_short(shortest: usize, length: usize) -> StoreError {
    StoreError::Unsupported {
        what: format!(
            "the kernel's test run takes no packet of this type under {shortest} bytes, and this one has {length}; \
             omit `--fast`"
        ),
    }
}

fn too_long(longest: usize, length: usize) -> StoreError {
    StoreError::Unsupported {
        what: format!(
            "the kernel's test run takes no packet of more than {longest} bytes here, and this one has {length}; omit `--fast`"
        ),
    }
}

impl Outcome {
    /// Returns the packet itself, if it was sent to a port.
    fn leaves(&self) -> Option<Packet> {
        let bytes = self.bytes.clone();
        self.port.map(|port| Packet { port, bytes })
    }
}

/// A loaded program that packets are given to one by one. Its clock begins at [`repeatable::START`].
#[derive(Debug)]
pub struct TestRun {
    /// The program and its state.
    pub instance: Instance,
    /// Input port that was set last.
    port: Option<u32>,
    now: u64,
    random: RandomLists,
    out: Vec<u8>,
    out_queue: Vec<Packet>,
}

impl TestRun {
    /// Takes a program that was compiled with [`OBSERVE`].
    pub fn new(instance: Instance) -> TestRun {
        TestRun::seeded(instance, repeatable::SEED)
    }

    /// Takes a program like [`TestRun::new`], with other random numbers.
    pub fn seeded(instance: Instance, seed: u64) -> TestRun {
        TestRun {
            instance,
            port: None,
            now: repeatable::START,
            random: RandomLists::new(seed),
            out: vec![0; LONGEST_IN_FRAGMENTS + 4096],
            out_queue: Vec::new(),
        }
    }

    /// Runs the program on one packet.
    pub fn run(&mut self, port: u32, packet: &[u8]) -> Result<Outcome, StoreError> {
        self.run_in(port, packet, TcContext::default())
    }

    /// Runs the program on one packet, with the metadata that the kernel keeps beside a packet at tc. An XDP program
    /// sees nothing of it.
    pub fn run_in(
        &mut self,
        port: u32,
        packet: &[u8],
        context: TcContext,
    ) -> Result<Outcome, StoreError> {
        let hook = self.instance.program.hook();
        let shortest_of = |bytes: &[u8]| shortest(hook, bytes);
        let least = shortest_of(packet);
        if packet.len() < least {
            return Err(too_short(least, packet.len()));
        }
        let longest = self.longest();
        if packet.len() > longest {
            return Err(too_long(longest, packet.len()));
        }
        self.set_port(port)?;
        self.now += repeatable::STEP;
        let observed = Observed::of(&self.instance.store.memory.maps)?;
        if let Some(observed) = &observed {
            observed.prepare(self.now, &self.random.next_list())?;
        }
        let (mut outcome, rounds) = self.run_once(packet, context)?;
        let Some(Rounds { mut left, again }) = rounds else {
            return Ok(outcome);
        };
        left.extend(outcome.leaves());
        let mut again = VecDeque::from(again);
        while let Some(Again { bytes, block }) = again.pop_front() {
            let context = TcContext {
                control_block: block,
                ..context
            };
            let least = shortest_of(&bytes);
            if bytes.len() < least {
                return Err(too_short(least, bytes.len()));
            }
            let (outcome, rounds) = self.run_once(&bytes, context)?;
            let rounds = rounds.unwrap_or_default();
            left.extend(rounds.left);
            left.extend(outcome.leaves());
            again.extend(rounds.again);
        }
        outcome.sent = Some(left);
        Ok(outcome)
    }

    /// Runs the program once. Also returns the copies that left with bytes of their own, and the packets that come in
    /// again.
    fn run_once(
        &mut self,
        packet: &[u8],
        context: TcContext,
    ) -> Result<(Outcome, Option<Rounds>), StoreError> {
        let program = &self.instance.program;
        let mut after = context;
        let ran = match program.hook() {
            Hook::Xdp => program.prog().run_xdp(packet, &mut self.out, 0, 1),
            Hook::TcIngress | Hook::TcEgress => {
                program.prog().run_tc(packet, &mut self.out, &mut after, 1)
            }
        }
        .map_err(|e| StoreError::System {
            what: format!("the kernel's test run failed: {e}"),
        })?;
        let observed = Observed::of(&self.instance.store.memory.maps)?;
        let seen = match &observed {
            Some(observed) => observed.read()?,
            None => observed::Seen::default(),
        };
        let rounds = Rounds::of(&self.instance.store, seen.copies_made)?;
        let redirect = match seen.redirection {
            Redirection::Back => Fate::Tx,
            redirection => Fate::Redirect {
                port: seen.port,
                ingress: redirection == Redirection::Ingress,
            },
        };
        let fate = fate(program.hook(), ran.verdict, redirect);
        let outcome = Outcome {
            verdict: ran.verdict,
            port: match fate {
                Fate::Redirect { port, .. } => Some(port),
                _ => None,
            },
            fate,
            copies: match rounds {
                Some(_) => Vec::new(),
                None => seen.copies,
            },
            bytes: self.out[..ran.length.min(self.out.len())].to_vec(),
            sent: None,
            context: after,
        };
        Ok((outcome, rounds))
    }

    /// Returns the length of the longest packet that the program can be given, in bytes.
    fn longest(&self) -> usize {
        let mut programs = self.instance.store.memory.abi.programs.iter();
        let takes = |program: &ProgramAbi| program.section == FRAGMENTS_SECTION;
        match programs.all(takes) {
            true => LONGEST_IN_FRAGMENTS,
            false => LONGEST,
        }
    }

    /// Sets the given port as input port of the loopback device, on which test runs come in.
    fn set_port(&mut self, port: u32) -> Result<(), StoreError> {
        if self.port == Some(port) {
            return Ok(());
        }
        if let Some(name) = &self.instance.store.memory.abi.ports.input {
            let map = self.instance.store.memory.existing(name)?;
            map.set(&LOOPBACK.to_ne_bytes(), &port.to_ne_bytes(), Update::Any)
                .map_err(|e| StoreError::System {
                    what: format!("could not set the input port: {e}"),
                })?;
        }
        self.port = Some(port);
        Ok(())
    }
}

/// Returns the length in bytes that a packet must have for the kernel to run it. For tc, IP packets must have the
/// whole of their fixed header.
pub fn shortest(hook: Hook, packet: &[u8]) -> usize {
    match (hook, packet.get(12..14)) {
        (Hook::TcIngress | Hook::TcEgress, Some([0x08, 0x00])) => SHORTEST + 20,
        (Hook::TcIngress | Hook::TcEgress, Some([0x86, 0xdd])) => SHORTEST + 40,
        _ => SHORTEST,
    }
}

/// Returns the fate that a return value means; `redirect` is the fate of a redirected packet.
fn fate(hook: Hook, code: u32, redirect: Fate) -> Fate {
    match hook {
        Hook::Xdp => match code {
            verdict::DROP => Fate::Drop,
            verdict::PASS => Fate::Pass,
            verdict::TX => Fate::Tx,
            verdict::REDIRECT => redirect,
            _ => Fate::Aborted,
        },
        Hook::TcIngress | Hook::TcEgress => match code {
            tc_verdict::NEXT | tc_verdict::PASS => Fate::Pass,
            tc_verdict::REDIRECT => redirect,
            _ => Fate::Drop,
        },
    }
}

impl Device for TestRun {
    fn store(&self) -> &dyn Store {
        &self.instance.store
    }

    fn store_mut(&mut self) -> &mut dyn Store {
        &mut self.instance.store
    }

    fn send(&mut self, packet: &Packet) -> Result<(), StoreError> {
        let outcome = self.run(packet.port, &packet.bytes)?;
        if let Some(sent) = outcome.sent {
            self.out_queue.extend(sent);
            return Ok(());
        }
        let own = match outcome.fate {
            Fate::Pass | Fate::Tx => Some(packet.port),
            Fate::Redirect { port, .. } => Some(port),
            Fate::Drop | Fate::Aborted => None,
        };
        for port in outcome.copies.iter().copied().chain(own) {
            self.out_queue.push(Packet {
                port,
                bytes: outcome.bytes.clone(),
            });
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<Vec<Packet>, StoreError> {
        Ok(std::mem::take(&mut self.out_queue))
    }

    fn wait(&mut self, nanoseconds: u64) -> Result<(), StoreError> {
        self.now = self.now.saturating_add(nanoseconds);
        match Observed::of(&self.instance.store.memory.maps)? {
            Some(observed) => observed.prepare(self.now, &[0; repeatable::NUMBERS]),
            None => Ok(()),
        }
    }
}
