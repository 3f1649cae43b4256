//! Datagrams from the client to the server at a constant rate, each byte of them checked.

use super::pattern;
use crate::net::{Route, SERVER};
use crate::worker::Worker;
use std::io;
use std::net::{Ipv6Addr, UdpSocket};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

/// Interval at which the receiver checks for the request to stop; then the time that the last datagrams have to arrive.
const LOOK_UP: Duration = Duration::from_millis(20);
const LAST: Duration = Duration::from_millis(200);
/// Interval between bursts: each sends the datagrams that are due.
const TICK: Duration = Duration::from_millis(1);

/// Size, rate and duration of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamParameters {
    /// Bytes of each datagram, at least 8.
    pub size: usize,
    /// Datagrams per millisecond.
    pub rate: u32,
    /// Duration of the stream.
    pub time: Duration,
}

/// Counts of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// Datagrams that were sent.
    pub sent: u64,
    /// Datagrams that arrived intact. Those that overflow a busy receiver's queue are not among them.
    pub intact: u64,
    /// Datagrams that arrived with other bytes.
    pub corrupted: u64,
    /// Longest time in which nothing arrived.
    pub longest_gap: Duration,
}

/// Sends a stream from the client to the server.
pub fn stream(net: &impl Route, port: u16, plan: StreamParameters) -> io::Result<Seen> {
    let plan = StreamParameters {
        size: plan.size.max(8),
        ..plan
    };
    let socket = net.server().run(|| UdpSocket::bind((SERVER, port)))?;
    socket.set_read_timeout(Some(LOOK_UP))?;
    let receiving = Worker::start(move |stop| {
        let mut seen = Seen::default();
        let mut last = Instant::now();
        let mut buffer = vec![0; 1 << 16];
        while !stop.load(Ordering::Relaxed) {
            let Some(length) = receive(&socket, &mut buffer)? else {
                continue;
            };
            seen.longest_gap = seen.longest_gap.max(last.elapsed());
            last = Instant::now();
            match is_intact(&buffer[..length], plan.size) {
                true => seen.intact += 1,
                false => seen.corrupted += 1,
            }
        }
        Ok(seen)
    });
    let socket = net
        .client()
        .run(|| UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)))?;
    socket.connect((SERVER, port))?;
    let sent = send(&socket, plan)?;
    thread::sleep(LAST);
    let seen = receiving.finish()?;
    Ok(Seen { sent, ..seen })
}

fn send(socket: &UdpSocket, plan: StreamParameters) -> io::Result<u64> {
    let started = Instant::now();
    let mut sent = 0;
    let mut due = started;
    while due < started + plan.time {
        for _ in 0..plan.rate {
            socket.send(&datagram(sent, plan.size))?;
            sent += 1;
        }
        due += TICK;
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    Ok(sent)
}

/// Returns a datagram: its number, then bytes of the stream that both ends know.
fn datagram(number: u64, size: usize) -> Vec<u8> {
    let mut bytes = number.to_be_bytes().to_vec();
    bytes.extend(pattern::at(number.wrapping_mul(size as u64), size - 8));
    bytes
}

fn is_intact(bytes: &[u8], size: usize) -> bool {
    let number = bytes.first_chunk().copied().map(u64::from_be_bytes);
    number.is_some_and(|number| bytes == datagram(number, size))
}

fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    match socket.recv(buffer) {
        Ok(length) => Ok(Some(length)),
        Err(error) if matches!(error.kind(), WouldBlock | TimedOut | Interrupted) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ends, Pair};

    #[test]
    fn datagrams_arrive_whole() {
        let net = Pair::new(Ends::default()).expect("this test needs root");
        let plan = StreamParameters {
            size: 1200,
            rate: 2,
            time: Duration::from_millis(200),
        };
        let seen = stream(&net, 7001, plan).expect("works");
        assert_eq!((seen.sent, seen.corrupted), (400, 0));
        assert!(seen.intact > 0 && seen.intact <= 400, "{seen:?}");
    }

    #[test]
    fn a_wrong_byte_or_length_is_seen() {
        let intact = datagram(1000, 1200);
        assert!(is_intact(&intact, 1200));
        let mut wrong = intact.clone();
        wrong[700] ^= 1;
        assert!(!is_intact(&wrong, 1200));
        assert!(!is_intact(&intact[..1199], 1200));
        assert!(!is_intact(&[1, 2], 1200));
    }
}
