//! TCP streams of all versions at once, of which one at a time may send, for a tenth of a second. What the machine is like
//! changes from second to second, but seldom within a round of these turns.

use super::Rounds;
use super::figures::quantile;
use super::network::{Scenario, UNDISTURBED, VERSIONS, networks, order};
use super::programs::Codes;
use crate::error::Error;
use lab::{Pair, Route, SERVER};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// From the beginning of a turn to the measurement: the stream is as fast as it gets then.
const SETTLE: Duration = Duration::from_millis(20);
/// Of a measurement.
const TURN: Duration = Duration::from_millis(100);
/// After which somebody who waits looks whether it is over.
const PATIENCE: Duration = Duration::from_millis(20);
/// Of a version in a round, in turn with the others; of them the undisturbed rate counts.
const TURNS: usize = 8;
/// For what is under way at the end of a turn to arrive.
const LONGEST_WAY: Duration = Duration::from_secs(10);
/// What is handed to a socket at once, as `iperf3` does.
const PIECE: usize = 128 << 10;

/// What both ends and who gives turns know.
#[derive(Default)]
struct Shared {
    may_send: AtomicBool,
    /// The sender has seen that it may not.
    waits: AtomicBool,
    stop: AtomicBool,
    /// Bytes that were handed to the socket.
    sent: AtomicU64,
    /// Bytes that arrived.
    received: AtomicU64,
}

/// A stream that sends when it may. Ends with the value.
struct Stream {
    shared: Arc<Shared>,
    sender: Option<JoinHandle<io::Result<()>>>,
    receiver: Option<JoinHandle<io::Result<()>>>,
}

impl Stream {
    fn start(net: &Pair) -> io::Result<Stream> {
        // A stream that had to wait goes on as it was.
        net.client().set("ipv4/tcp_slow_start_after_idle", "0")?;
        let listener = net.server().run(|| TcpListener::bind((SERVER, 0)))?;
        let to = listener.local_addr()?;
        let client = net.client().run(|| TcpStream::connect(to))?;
        let server = listener.accept()?.0;
        client.set_write_timeout(Some(PATIENCE))?;
        server.set_read_timeout(Some(PATIENCE))?;
        let shared = Arc::new(Shared::default());
        let [at_client, at_server] = [&shared, &shared].map(Arc::clone);
        Ok(Stream {
            shared,
            sender: Some(thread::spawn(move || send(client, &at_client))),
            receiver: Some(thread::spawn(move || receive(server, &at_server))),
        })
    }

    /// Bits a second that arrive in a turn. Nothing is under way before and after it.
    fn turn(&self) -> io::Result<f64> {
        let shared = &self.shared;
        shared.may_send.store(true, Ordering::SeqCst);
        if let Some(sender) = &self.sender {
            sender.thread().unpark();
        }
        thread::sleep(SETTLE);
        let started = Instant::now();
        let before = shared.received.load(Ordering::SeqCst);
        thread::sleep(TURN);
        let bytes = shared.received.load(Ordering::SeqCst) - before;
        let time = started.elapsed();
        shared.may_send.store(false, Ordering::SeqCst);
        let arrived = || {
            shared.waits.load(Ordering::SeqCst)
                && shared.received.load(Ordering::SeqCst) == shared.sent.load(Ordering::SeqCst)
        };
        while !arrived() {
            if started.elapsed() > LONGEST_WAY {
                return Err(io::Error::other("what was sent did not arrive"));
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(8.0 * bytes as f64 / time.as_secs_f64())
    }

    /// Ends it, and tells what went wrong on the way.
    fn finish(mut self) -> io::Result<()> {
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        self.shared.stop.store(true, Ordering::SeqCst);
        let ends = [self.sender.take(), self.receiver.take()];
        for end in ends.into_iter().flatten() {
            end.thread().unpark();
            end.join()
                .unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))?;
        }
        Ok(())
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // What went wrong was for `finish` to tell.
        let _ = self.end();
    }
}

/// Nothing happened for a while.
fn is_patience(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

fn send(mut socket: TcpStream, shared: &Shared) -> io::Result<()> {
    let piece = vec![0x5a; PIECE];
    while !shared.stop.load(Ordering::SeqCst) {
        if !shared.may_send.load(Ordering::SeqCst) {
            shared.waits.store(true, Ordering::SeqCst);
            thread::park_timeout(PATIENCE);
            continue;
        }
        shared.waits.store(false, Ordering::SeqCst);
        match socket.write(&piece) {
            Ok(bytes) => {
                shared.sent.fetch_add(bytes as u64, Ordering::SeqCst);
            }
            Err(error) if is_patience(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Until the sender is gone.
fn receive(mut socket: TcpStream, shared: &Shared) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        match socket.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(bytes) => {
                shared.received.fetch_add(bytes as u64, Ordering::SeqCst);
            }
            Err(error) if is_patience(&error) => {
                if shared.stop.load(Ordering::SeqCst) {
                    return Ok(());
                }
            }
            Err(error) => return Err(error),
        }
    }
}

/// Bits a second of each version in each round of so many.
pub fn measure(codes: &Codes, scenario: &Scenario, rounds: usize) -> Result<Rounds, Error> {
    let nets = networks(codes, scenario)?;
    let pairs: Vec<&Pair> = nets.iter().map(|(net, _)| net).collect();
    in_turn(&pairs, rounds).map_err(Error::system("TCP in turns"))
}

fn in_turn(nets: &[&Pair], rounds: usize) -> io::Result<Rounds> {
    let start = |net: &&Pair| Stream::start(net);
    let streams = nets.iter().map(start).collect::<io::Result<Vec<_>>>()?;
    let mut rates = vec![Vec::new(); VERSIONS.len()];
    // The first round, of one turn, finds out how fast it may go and is not kept.
    for round in 0..=rounds {
        let turns = if round == 0 { 1 } else { TURNS };
        let mut measured = vec![Vec::new(); VERSIONS.len()];
        for turn in 0..turns {
            for version in order(round + turn) {
                measured[version].push(streams[version].turn()?);
            }
        }
        if round > 0 {
            for (rates, measured) in rates.iter_mut().zip(&measured) {
                rates.push(quantile(measured, UNDISTURBED));
            }
        }
    }
    for stream in streams {
        stream.finish()?;
    }
    if rates.iter().flatten().all(|rate| *rate > 0.0) {
        Ok(rates)
    } else {
        Err(io::Error::other("in a turn nothing arrived"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdm::network::pair;
    use lab::Offloads;

    #[test]
    fn only_the_stream_whose_turn_it_is_sends() {
        let net = || pair(Offloads::All, false).expect("this test needs root");
        let nets = [net(), net(), net()];
        let rates = in_turn(&nets.each_ref(), 2).expect("works");
        assert!(rates.iter().all(|turns| turns.len() == 2), "{rates:?}");
        let stream = Stream::start(&nets[0]).expect("connects");
        assert!(stream.turn().expect("works") > 1e6);
        let arrived = || stream.shared.received.load(Ordering::SeqCst);
        let before = arrived();
        thread::sleep(SETTLE);
        assert_eq!(arrived(), before);
        stream.finish().expect("ends");
    }
}
