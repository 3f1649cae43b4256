//! Time until a count is visible.

use super::flow::wait;
use super::message::{HEADERS, Message, Technique};
use super::network::Network;
use super::parser::Parser;
use super::{Effort, Spread};
use crate::error::Error;
use host::linux::monotonic_now;
use lab::precedence;
use memchr::memmem::Finder;
use serde::Serialize;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Microseconds until a count is visible, at a number of parsed bytes.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Visible {
    /// Number of parsed bytes.
    pub(super) bytes: usize,
    /// On the path: time since the program read the clock.
    pub(super) path: Spread,
    /// On the path: time since just before the sender's system call.
    pub(super) from_sender: Spread,
    /// Off the path: time since the kernel's time stamp.
    pub(super) off_path: Spread,
}

/// Pause between packets. It differs from the timeout after which a ring passes on a block.
const PAUSE: Duration = Duration::from_micros(1300);
/// Time limit for a packet to be counted.
const PATIENCE: Duration = Duration::from_secs(2);

/// Measures at each number of bytes.
pub(super) fn measure(network: &Network, effort: &Effort) -> Result<Vec<Visible>, Error> {
    let each = effort.bytes.iter().map(|&bytes| {
        let message = Message::of_bytes(bytes);
        let (path, from_sender) = on_path(network, &message, effort.packets)?;
        let off_path = off_path(network, &message, effort.packets)
            .map_err(Error::system("copies of packets"))?;
        Ok(Visible {
            bytes,
            path: Spread::of(path),
            from_sender: Spread::of(from_sender),
            off_path: Spread::of(off_path),
        })
    });
    each.collect()
}

/// Sends packets one by one, and reads the tally until each is counted. Both happen on the processor that does not
/// receive.
fn on_path(
    network: &Network,
    message: &Message,
    packets: usize,
) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let failed = Error::system("single packets");
    let parser = Parser::new(message, Technique::ByteByByte, true)?;
    let _attached = network.attach(parser.prog()).map_err(&failed)?;
    let (client, _sink) = (
        network.client().map_err(&failed)?,
        network.socket().map_err(&failed)?,
    );
    let payload = message.payload();
    let look = || {
        precedence::pin_this(1).map_err(&failed)?;
        let (mut path, mut from_sender) = (Vec::new(), Vec::new());
        for number in 0..packets as u64 {
            thread::sleep(PAUSE);
            let sent = monotonic_now();
            client.send(&payload).map_err(&failed)?;
            let (counted, seen) = loop {
                let (count, time) = parser.tally()?;
                if count > number {
                    break (time, monotonic_now());
                }
                if monotonic_now() - sent > PATIENCE.as_nanos() as u64 {
                    return Err(Error::new("a packet was not counted"));
                }
            };
            let microseconds = |since: u64| (seen - since) as f64 / 1e3;
            path.push(microseconds(counted));
            from_sender.push(microseconds(sent));
        }
        Ok((path, from_sender))
    };
    thread::scope(|scope| {
        let ended = scope.spawn(look).join();
        ended.unwrap_or_else(|_| Err(Error::new("a thread panicked")))
    })
}

/// Sends packets one by one, which a reader of copies counts.
fn off_path(network: &Network, message: &Message, packets: usize) -> io::Result<Vec<f64>> {
    let (client, _sink) = (network.client()?, network.socket()?);
    let mut ring = network.ring()?;
    let (query, payload) = (message.query(), message.payload());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            precedence::pin_this(0)?;
            let search = Finder::new(&query);
            let mut times = Vec::new();
            while times.len() < packets && !done.load(Ordering::Relaxed) {
                let taken = ring.take(|packet| {
                    let payload = packet.bytes.get(HEADERS..).unwrap_or_default();
                    if search.find(payload).is_some() {
                        let now = SystemTime::now().duration_since(UNIX_EPOCH);
                        let since = now.unwrap_or_default().saturating_sub(packet.time);
                        times.push(since.as_secs_f64() * 1e6);
                    }
                });
                if taken == 0 {
                    wait(&ring)?;
                }
            }
            Ok(times)
        });
        let sent = (0..packets).try_for_each(|_| {
            thread::sleep(PAUSE);
            client.send(&payload).map(|_| ())
        });
        // The last block comes after the ring's timeout.
        thread::sleep(Duration::from_millis(50));
        done.store(true, Ordering::Relaxed);
        let times = reader.join();
        sent?;
        times.unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))
    })
}
