//! Throughput on one processor and on two. On each, one thread sends packets, lets them pass through the stack, and
//! receives them from the socket.

use super::generator::Generator;
use super::message::{HEADERS, Message, Technique};
use super::network::{Network, Polling};
use super::parser::Parser;
use super::rates::{APPLICATION, OFF_PATH, PATH, gbits};
use super::{Effort, Spread};
use crate::error::Error;
use lab::precedence;
use memchr::memmem::Finder;
use net::packet_ring::PacketRing;
use serde::Serialize;
use std::io;
use std::net::UdpSocket;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// Number of bytes that are parsed.
pub(super) const PARSED: usize = 200;
/// Number of packets that are sent at once.
pub(super) const BURST: u32 = 512;
/// Time limit for packets to arrive.
const PATIENCE: Duration = Duration::from_secs(2);

/// Gigabits per second with the parser at one location, on one processor and on both.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Cores {
    /// Location of the parser.
    pub(super) of: &'static str,
    /// Rate on one processor.
    pub(super) one: Spread,
    /// Rate on both processors.
    pub(super) both: Spread,
}

/// Processor with a network of its own.
struct Lane {
    processor: usize,
    network: Network,
    generator: Generator,
}

/// Measures each location of the parser on one and on two processors, in alternation.
pub(super) fn measure(effort: &Effort) -> Result<Vec<Cores>, Error> {
    let lanes = [lane(0)?, lane(1)?];
    let message = Message::of_bytes(PARSED);
    let parser = Parser::new(&message, Technique::ByteByByte, false)?;
    let places = ["nowhere", PATH, APPLICATION, OFF_PATH];
    let mut samples = vec![[const { Vec::new() }; 2]; places.len()];
    for _ in 0..effort.rounds {
        for (of, samples) in places.iter().zip(&mut samples) {
            for (number, samples) in samples.iter_mut().enumerate() {
                let rate = together(&lanes[..=number], &message, &parser, of, effort)
                    .map_err(Error::system("packets on one processor and on both"))?;
                samples.push(gbits(rate));
            }
        }
    }
    let cores = places.iter().zip(samples).map(|(of, [one, both])| Cores {
        of,
        one: Spread::of(one),
        both: Spread::of(both),
    });
    Ok(cores.collect())
}

fn lane(processor: usize) -> Result<Lane, Error> {
    let failed = Error::system("a network");
    Ok(Lane {
        processor,
        network: Network::new(1 + processor, Polling::Sender).map_err(failed)?,
        generator: Generator::new()?,
    })
}

/// Returns the packets per second of all lanes.
fn together(
    lanes: &[Lane],
    message: &Message,
    parser: &Parser,
    of: &str,
    effort: &Effort,
) -> io::Result<f64> {
    let packet = message.packet();
    let query = message.query();
    let barrier = Barrier::new(lanes.len());
    thread::scope(|scope| {
        let started: Vec<_> = lanes
            .iter()
            .map(|lane| {
                let (packet, query, barrier) = (&packet, &query, &barrier);
                scope.spawn(move || {
                    let attached = match of {
                        PATH => Some(lane.network.attach(parser.prog())?),
                        _ => None,
                    };
                    let ring = match of {
                        OFF_PATH => Some(lane.network.ring()?),
                        _ => None,
                    };
                    let socket = lane.network.socket()?;
                    socket.set_nonblocking(true)?;
                    let index = lane.network.sender_index()?;
                    let mut work = Work {
                        lane,
                        socket,
                        ring,
                        search: (of == APPLICATION || of == OFF_PATH).then(|| Finder::new(query)),
                        in_application: of == APPLICATION,
                        found: 0,
                    };
                    barrier.wait();
                    let rate = lane.network.sender.run(|| {
                        precedence::pin_this(lane.processor)?;
                        work.run(packet, index, effort.times.measured)
                    });
                    drop(attached);
                    rate
                })
            })
            .collect();
        started
            .into_iter()
            .map(|thread| {
                let ended = thread.join();
                ended.unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))
            })
            .sum()
    })
}

/// Work of a thread.
struct Work<'a> {
    lane: &'a Lane,
    socket: UdpSocket,
    ring: Option<PacketRing>,
    search: Option<Finder<'a>>,
    in_application: bool,
    found: u64,
}

impl Work<'_> {
    fn run(&mut self, packet: &[u8], index: u32, time: Duration) -> io::Result<f64> {
        let mut buffer = vec![0; 2048];
        let (begun, mut packets) = (Instant::now(), 0u64);
        while begun.elapsed() < time {
            self.lane.generator.burst(packet, BURST, index)?;
            self.receive(&mut buffer)?;
            self.copies();
            packets += u64::from(BURST);
        }
        let took = begun.elapsed();
        // A ring passes on a partly filled block after some time.
        while self.ring.is_some() && self.found < packets && begun.elapsed() < took + PATIENCE {
            self.copies();
        }
        if self.search.is_some() && self.found < packets {
            return Err(io::Error::other(format!(
                "of {packets} packets the query attribute was found in {}",
                self.found
            )));
        }
        Ok(packets as f64 / took.as_secs_f64())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        let (begun, mut left) = (Instant::now(), BURST);
        while left > 0 {
            match self.socket.recv(buffer) {
                Ok(length) => {
                    left -= 1;
                    let search = self.search.as_ref().filter(|_| self.in_application);
                    let is_found = |search: &Finder| search.find(&buffer[..length]).is_some();
                    self.found += u64::from(search.is_some_and(is_found));
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    if begun.elapsed() > PATIENCE {
                        return Err(io::Error::other(format!("{left} packets were lost")));
                    }
                    thread::yield_now();
                }
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    fn copies(&mut self) {
        let (Some(ring), Some(search)) = (&mut self.ring, &self.search) else {
            return;
        };
        let found = &mut self.found;
        ring.take(|packet| {
            let payload = packet.bytes.get(HEADERS..).unwrap_or_default();
            *found += u64::from(search.find(payload).is_some());
        });
    }
}
