//! Single throughput measurement: a generator sends packets to a UDP socket as fast as the receiving processor takes
//! them. Messages are parsed at one location ([`ParserLocation`]).

use super::generator::{Generator, Receivers};
use super::look::{By, Look, Wanted};
use super::message::Message;
use super::network::{Network, PATIENCE};
use super::parser::Parser;
use crate::error::Error;
use kernel::sys::Prog;
use lab::precedence;
use net::packet_ring::PacketRing;
use std::io;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Location at which messages are parsed.
#[derive(Clone, Copy)]
pub(super) enum ParserLocation<'p> {
    /// Nowhere: there is no parser.
    Nowhere,
    /// Nowhere, but an XDP program on the path passes every packet on.
    Passed(&'p Prog),
    /// On the packets' path, in an XDP program before the network stack.
    Path(&'p Parser),
    /// In the application that receives the packets.
    Application(By),
    /// Off the path: in a reader that receives copies of the packets.
    OffPath(By),
}

/// Setup that all measurements share.
pub(super) struct Bench<'a> {
    pub(super) network: &'a Network,
    pub(super) generator: &'a Generator,
    /// Processor of the network stack, of the application, and of the reader of copies.
    pub(super) receiving: usize,
    /// Processor of the generator.
    pub(super) sending: usize,
}

/// Durations of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Times {
    /// Duration of the warm-up.
    pub(super) warm: Duration,
    /// Duration that is measured.
    pub(super) measured: Duration,
}

/// Number of packets after which receivers publish their counts to the generator. Publishing each count would be slow:
/// the memory is shared by two processors.
const PUBLISHED_EVERY: u64 = 16;
/// Greatest share of packets that may be lost in a valid measurement.
const LOST: f64 = 0.001;
/// Time limit for the arrival of packets that are in flight when the generator stops.
const REST: Duration = Duration::from_secs(2);

impl Bench<'_> {
    /// Measures the packets per second that the socket receives. Fails if too many packets were lost, or if the parser
    /// did not find the query attribute in nearly all of them.
    pub(super) fn rate(
        &self,
        message: &Message,
        place: ParserLocation,
        times: Times,
    ) -> Result<f64, Error> {
        let failed = Error::system("a measurement");
        let before = match place {
            ParserLocation::Path(parser) => parser.tally()?.0,
            _ => 0,
        };
        let wanted = Wanted::of(message)?;
        let ran = self.run(message, &wanted, place, times);
        let (rate, counts) = ran.map_err(failed)?;
        let found = match place {
            ParserLocation::Path(parser) => Some(parser.tally()?.0 - before),
            ParserLocation::Application(_) | ParserLocation::OffPath(_) => Some(counts.found),
            ParserLocation::Nowhere | ParserLocation::Passed(_) => None,
        };
        let sent = counts.sent as f64;
        let missing = |of: u64| (sent - of as f64) / sent;
        if counts.sent == 0 || missing(counts.received) > LOST {
            return Err(Error::new(format!(
                "of {} packets {} were received",
                counts.sent, counts.received
            )));
        }
        if let Some(found) = found.filter(|found| missing(*found) > LOST) {
            return Err(Error::new(format!(
                "of {} packets the query attribute was found in {found}",
                counts.sent
            )));
        }
        Ok(rate)
    }

    fn run(
        &self,
        message: &Message,
        wanted: &Wanted,
        place: ParserLocation,
        times: Times,
    ) -> io::Result<(f64, Counts)> {
        let _attached = match place {
            ParserLocation::Passed(program) => Some(self.network.attach(program)?),
            ParserLocation::Path(parser) => Some(self.network.attach(parser.prog())?),
            _ => None,
        };
        let ring = match place {
            ParserLocation::OffPath(by) => Some((self.network.ring()?, by)),
            _ => None,
        };
        let receivers = match place {
            ParserLocation::OffPath(_) => Receivers::SocketAndRing,
            _ => Receivers::Socket,
        };
        let in_application = match place {
            ParserLocation::Application(by) => Some(by),
            _ => None,
        };
        let socket = self.network.socket()?;
        let packet = message.packet();
        self.generator
            .reset(self.network.sender_index()?, receivers)?;
        let done = &AtomicBool::new(false);
        let (rate, found) = thread::scope(|scope| {
            let sink = scope.spawn(|| {
                let mut look = in_application.map_or(Look::Nothing, |by| Look::new(by, wanted));
                self.receive(&socket, &mut look, done)?;
                Ok(look.found())
            });
            let reader = ring.map(|(ring, by)| {
                scope.spawn(move || self.copies(ring, Look::new(by, wanted), done))
            });
            let sender = scope.spawn(|| {
                self.network.sender.run(|| {
                    precedence::pin_this(self.sending)?;
                    self.generator.send(&packet)
                })
            });
            let rate = self.watch(times);
            self.generator.stop()?;
            joined(sender.join())?;
            self.rest(receivers)?;
            done.store(true, Ordering::Relaxed);
            let found = joined(sink.join())?;
            let copied = reader.map_or(Ok(0), |reader| joined(reader.join()))?;
            Ok::<_, io::Error>((rate?, found + copied))
        })?;
        let counts = Counts {
            sent: self.generator.sent()?,
            received: self.generator.received()?,
            found,
        };
        Ok((rate, counts))
    }

    /// Measures the packets per second after the warm-up.
    fn watch(&self, times: Times) -> io::Result<f64> {
        thread::sleep(times.warm);
        let (first, begun) = (self.generator.received()?, Instant::now());
        thread::sleep(times.measured);
        let (last, took) = (self.generator.received()?, begun.elapsed());
        Ok((last - first) as f64 / took.as_secs_f64())
    }

    /// Waits until the packets in flight have arrived, for [`REST`] at most.
    fn rest(&self, receivers: Receivers) -> io::Result<()> {
        let begun = Instant::now();
        let sent = self.generator.sent()?;
        while begun.elapsed() < REST {
            let ring = receivers == Receivers::Socket || self.generator.copied()? >= sent;
            if ring && self.generator.received()? >= sent {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Runs the application. It receives packets from the socket, one per system call, and passes each to its parser.
    fn receive(&self, socket: &UdpSocket, look: &mut Look, done: &AtomicBool) -> io::Result<()> {
        precedence::pin_this(self.receiving)?;
        let mut buffer = vec![0; 2048];
        let mut packets = 0;
        loop {
            match socket.recv(&mut buffer) {
                Ok(length) => {
                    packets += 1;
                    look.received(&buffer[..length]);
                    if packets % PUBLISHED_EVERY == 0 {
                        self.generator.set_received(packets)?;
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    self.generator.set_received(packets)?;
                    if done.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                }
                Err(e) => return Err(e),
            }
        }
    }

    /// Runs the reader of copies. It waits for copies as `onpath query --off-path` does, and parses each.
    fn copies(&self, mut ring: PacketRing, mut look: Look, done: &AtomicBool) -> io::Result<u64> {
        precedence::pin_this(self.receiving)?;
        let (mut packets, mut failed) = (0, Ok(()));
        while !done.load(Ordering::Relaxed) {
            // One batch may contain all packets in flight, and a slow reader may need longer for it than a measurement
            // lasts. So the count is published during a batch, and the generator sees it.
            let taken = ring.take(|packet| {
                look.copied(&packet);
                packets += 1;
                if packets % PUBLISHED_EVERY == 0 {
                    failed = self.generator.set_copied(packets);
                }
            });
            std::mem::replace(&mut failed, Ok(()))?;
            self.generator.set_copied(packets)?;
            if taken == 0 {
                wait(&ring)?;
            }
        }
        Ok(look.found())
    }
}

/// Waits until there are copies, for [`PATIENCE`] at most.
pub(super) fn wait(ring: &PacketRing) -> io::Result<()> {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    let mut ready = [PollFd::new(ring.ready(), PollFlags::POLLIN)];
    let patience = PollTimeout::try_from(PATIENCE).unwrap_or(PollTimeout::ZERO);
    poll(&mut ready, patience)?;
    Ok(())
}

struct Counts {
    sent: u64,
    received: u64,
    found: u64,
}

fn joined<T>(ended: thread::Result<io::Result<T>>) -> io::Result<T> {
    ended.unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))
}
