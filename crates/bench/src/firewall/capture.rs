//! The delay in the device, from captures at both sides of the router with the kernel's time stamps.

use super::messages::number;
use super::network::{CLIENT, CLIENT_DEVICE, Network, OUTSIDE_DEVICE, SERVER};
use lab::worker::Worker;
use lab::{Route, Space};
use net::packet_ring::PacketRing;
use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

/// Blocks of a ring: 16 MB.
const BLOCKS: usize = 32;
/// Pause between two looks at a ring.
const LOOK_AGAIN: Duration = Duration::from_millis(2);
/// Time for the last packets to arrive, which is longer than a block waits for more of them.
const LAST: Duration = Duration::from_millis(25);
/// Offsets in a frame.
const IPV4: usize = 14;
const SOURCE: usize = IPV4 + 12;
const DESTINATION: usize = IPV4 + 16;

/// Packets with requests at one side: number of the request and time.
type Seen = Vec<(u64, Duration)>;

/// Captures of both sides, until they are finished.
pub(super) struct Capture {
    sides: [Worker<Seen>; 2],
}

/// Times of a request at the router.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Passage {
    /// First packet that came to the router.
    first_in: Option<Duration>,
    /// Last packet that left it.
    last_out: Option<Duration>,
    /// Packets that came.
    came: usize,
    /// Packets that left.
    left: usize,
}

impl Passage {
    /// Returns the delay in microseconds, if the request passed.
    pub(super) fn delay(&self) -> Option<f64> {
        let delay = self.last_out?.checked_sub(self.first_in?)?;
        Some(delay.as_secs_f64() * 1e6)
    }

    /// Returns the number of packets that came and did not leave.
    pub(super) fn dropped(&self) -> usize {
        self.came.saturating_sub(self.left)
    }
}

impl Capture {
    /// Starts both. The packets that come in are captured where the client's stack hands them to the link: at the
    /// router's own end, an XDP program has run before a capture sees them.
    pub(super) fn start(network: &Network) -> io::Result<Capture> {
        let side = |space: &Space, device: &'static str, at: usize, address: Ipv4Addr| {
            let mut ring = space.run(|| {
                PacketRing::open(device, BLOCKS).map_err(|d| io::Error::other(d.message))
            })?;
            Ok(Worker::start(move |stop| {
                let mut seen = Seen::new();
                let mut take = |seen: &mut Seen| {
                    ring.take(|packet| {
                        if packet.bytes.get(at..at + 4) == Some(&address.octets())
                            && let Some(payload) = payload(packet.bytes)
                            && let Some(number) = number(payload)
                        {
                            seen.push((number, packet.time));
                        }
                    })
                };
                while !stop.load(Ordering::Relaxed) {
                    take(&mut seen);
                    thread::sleep(LOOK_AGAIN);
                }
                thread::sleep(LAST);
                take(&mut seen);
                match ring.dropped()? {
                    0 => Ok(seen),
                    lost => Err(io::Error::other(format!("a capture lost {lost} packets"))),
                }
            }))
        };
        let inside = side(network.client(), CLIENT_DEVICE, SOURCE, CLIENT)?;
        let outside = side(&network.router, OUTSIDE_DEVICE, DESTINATION, SERVER);
        outside.map(|outside| Capture {
            sides: [inside, outside],
        })
    }

    /// Ends both, and returns the requests by number.
    pub(super) fn finish(self) -> io::Result<HashMap<u64, Passage>> {
        let [came, left] = self.sides.map(Worker::finish);
        let mut passages: HashMap<u64, Passage> = HashMap::new();
        for (number, time) in came? {
            let passage = passages.entry(number).or_default();
            passage.came += 1;
            passage.first_in = Some(passage.first_in.map_or(time, |first| first.min(time)));
        }
        for (number, time) in left? {
            let passage = passages.entry(number).or_default();
            passage.left += 1;
            passage.last_out = passage.last_out.max(Some(time));
        }
        Ok(passages)
    }
}

/// Returns the payload of TCP or UDP over IPv4.
fn payload(frame: &[u8]) -> Option<&[u8]> {
    const TCP: u8 = 6;
    const UDP_BYTES: usize = 8;
    let transport = IPV4 + usize::from(frame.get(IPV4)? & 15) * 4;
    let header = match *frame.get(IPV4 + 9)? {
        TCP => usize::from(frame.get(transport + 12)? >> 4) * 4,
        _ => UDP_BYTES,
    };
    frame.get(transport + header..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_from_the_first_packet_to_the_last() {
        let at = |micros| Some(Duration::from_micros(micros));
        let mut passage = Passage {
            first_in: at(10),
            last_out: at(35),
            came: 3,
            left: 2,
        };
        assert_eq!(passage.delay().map(f64::round), Some(25.0));
        assert_eq!(passage.dropped(), 1);
        passage.last_out = None;
        assert_eq!(passage.delay(), None);
    }
}
