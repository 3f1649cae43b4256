//! A device without a network: each packet is run by `BPF_PROG_TEST_RUN`.

use crate::load::Instance;
use crate::sys::Update;
use control::{Device, Packet, StoreError};

/// The kernel runs a program on at least an Ethernet header.
pub const SHORTEST: usize = 14;
/// The longest packet that fits the one page the kernel gives a test run, with its head and tail room.
pub const LONGEST: usize = 3400;
/// The test run's packet arrives on the loopback device.
const LOOPBACK: u32 = 1;

/// What the kernel does with a packet by the program's return value.
pub mod verdict {
    /// Dropped, with a trace point.
    pub const ABORTED: u32 = 0;
    /// Dropped.
    pub const DROP: u32 = 1;
    /// On to the network stack.
    pub const PASS: u32 = 2;
    /// Back out of the interface it came in on.
    pub const TX: u32 = 3;
    /// Out of another interface.
    pub const REDIRECT: u32 = 4;
}

/// What a program made of a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Its return value; see [`verdict`].
    pub verdict: u32,
    /// For [`verdict::REDIRECT`], the port that it chose.
    pub port: Option<u32>,
    /// The packet afterwards.
    pub bytes: Vec<u8>,
}

/// A loaded program that packets are given to one by one.
#[derive(Debug)]
pub struct TestRun {
    /// The program and its state.
    pub instance: Instance,
    /// The input port that the program was told last.
    port: Option<u32>,
    out: Vec<u8>,
    out_queue: Vec<Packet>,
}

crate::delegate::store_by_field!(TestRun, instance.store);

impl TestRun {
    /// Takes a program that was compiled to tell its output port (see [`OBSERVE`]).
    pub fn new(instance: Instance) -> TestRun {
        TestRun {
            instance,
            port: None,
            out: vec![0; 4096],
            out_queue: Vec::new(),
        }
    }

    /// Runs the program on one packet.
    pub fn run(&mut self, port: u32, packet: &[u8]) -> Result<Outcome, StoreError> {
        if packet.len() < SHORTEST {
            return Err(StoreError::Unsupported {
                what: format!(
                    "the kernel's test run takes no packet under {SHORTEST} bytes, and this one has {}; \
                     leave `--fast` away",
                    packet.len()
                ),
            });
        }
        self.tell_port(port)?;
        let ran = self
            .instance
            .program
            .prog()
            .run_xdp(packet, &mut self.out, 0, 1)
            .map_err(|e| StoreError::System {
                what: match e.raw_os_error() {
                    Some(libc::EINVAL) if packet.len() > LONGEST => format!(
                        "the kernel's test run takes no packet of {} bytes; leave `--fast` away",
                        packet.len()
                    ),
                    _ => format!("the kernel's test run failed: {e}"),
                },
            })?;
        Ok(Outcome {
            verdict: ran.verdict,
            port: if ran.verdict == verdict::REDIRECT {
                self.observed()?
            } else {
                None
            },
            bytes: self.out[..ran.length.min(self.out.len())].to_vec(),
        })
    }

    /// Makes the loopback device that test runs come in on the given port.
    fn tell_port(&mut self, port: u32) -> Result<(), StoreError> {
        if self.port == Some(port) {
            return Ok(());
        }
        if let Some(name) = &self.instance.store.abi.ports.input
            && let Some(map) = self.instance.store.maps.get(name)
        {
            map.set(&LOOPBACK.to_ne_bytes(), &port.to_ne_bytes(), Update::Any)
                .map_err(|e| StoreError::System {
                    what: format!("could not set the input port: {e}"),
                })?;
        }
        self.port = Some(port);
        Ok(())
    }
}

/// The macro that makes the generated C keep the output port of a redirect instead of sending the
/// packet there: in a test run there is no other way to learn it.
pub const OBSERVE: &str = "ONPATH_OBSERVE";
/// The section of the variable it is kept in.
const OBSERVED: &str = ".data.observed";

impl TestRun {
    fn observed(&self) -> Result<Option<u32>, StoreError> {
        let Some(map) = self.instance.store.maps.get(OBSERVED) else {
            return Ok(None);
        };
        let value = map
            .get(&0u32.to_ne_bytes())
            .map_err(|e| StoreError::System {
                what: format!("could not read the output port: {e}"),
            })?;
        Ok(value
            .and_then(|v| v.get(..4)?.try_into().ok())
            .map(u32::from_ne_bytes))
    }
}

impl Device for TestRun {
    fn send(&mut self, packet: &Packet) -> Result<(), StoreError> {
        let outcome = self.run(packet.port, &packet.bytes)?;
        let port = match outcome.verdict {
            verdict::PASS | verdict::TX => Some(packet.port),
            verdict::REDIRECT => outcome.port,
            _ => None,
        };
        if let Some(port) = port {
            self.out_queue.push(Packet {
                port,
                bytes: outcome.bytes,
            });
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<Vec<Packet>, StoreError> {
        Ok(std::mem::take(&mut self.out_queue))
    }
}
