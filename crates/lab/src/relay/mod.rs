//! Relay between two devices: it forwards packets, disturbs them and counts what it did.

mod conditions;
mod direction;
mod packet;

pub use conditions::{Conditions, Counts, Pick};
pub use packet::TRANSPORT_TRAFFIC;

use crate::space::Space;
use direction::{Departure, Receiver, Sender};
use net::raw_socket::RawSocket;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Receive buffer of a socket, in bytes.
const ROOM: usize = 64 << 20;

/// Forwards packets between two devices, in both directions, until it is dropped.
#[derive(Debug)]
pub struct Relay {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<io::Result<()>>>,
    counts: [Arc<Mutex<Counts>>; 2],
}

impl Relay {
    /// Starts between two devices of a namespace whose own stack is silent, the first one on the client's side. It works
    /// until it is dropped.
    pub fn between(
        space: &Space,
        devices: [&str; 2],
        to_server: Conditions,
        to_client: Conditions,
    ) -> io::Result<Relay> {
        let open = || Ok((RawSocket::open(devices[0])?, RawSocket::open(devices[1])?));
        let (client, server) = space.run(open)?;
        Relay::start(client, server, to_server, to_client)
    }

    /// Starts between a socket on the client's side and one on the server's.
    fn start(
        client: RawSocket,
        server: RawSocket,
        to_server: Conditions,
        to_client: Conditions,
    ) -> io::Result<Relay> {
        let stop = Arc::new(AtomicBool::new(false));
        let sockets = [Arc::new(client), Arc::new(server)];
        for socket in &sockets {
            socket.set_room(ROOM)?;
        }
        let counts: [Arc<Mutex<Counts>>; 2] = Default::default();
        let mut threads = Vec::new();
        for (n, conditions) in [to_server, to_client].into_iter().enumerate() {
            let (here, there) = (Arc::clone(&sockets[n]), Arc::clone(&sockets[1 - n]));
            let keep = conditions.keep;
            let (queue, waiting) = channel::<Departure>();
            let receiver = Receiver::new(here, conditions, queue, Arc::clone(&counts[n]));
            let sender = Sender::new(there, waiting, keep, Arc::clone(&counts[n]));
            let stopped = Arc::clone(&stop);
            threads.push(thread::spawn(move || receiver.work(&stopped)));
            threads.push(thread::spawn(move || sender.work()));
        }
        Ok(Relay {
            stop,
            threads,
            counts,
        })
    }

    /// Returns the counts so far: towards the server, towards the client.
    pub fn counts(&self) -> [Counts; 2] {
        [0, 1].map(|n: usize| {
            let counts = self.counts[n].lock();
            counts.unwrap_or_else(PoisonError::into_inner).clone()
        })
    }

    /// Waits until this number of counted packets has come towards the server, for ten seconds at most. On a busy
    /// machine the kernel delivers them some time after they were sent.
    pub fn wait_for(&self, packets: u64) -> io::Result<()> {
        let started = Instant::now();
        loop {
            let [towards_server, _] = self.counts();
            if towards_server.seen >= packets {
                return Ok(());
            }
            if started.elapsed() > Duration::from_secs(10) {
                let seen = towards_server.seen;
                let text = format!("{seen} of {packets} packets came to the relay in 10 s");
                return Err(io::Error::other(text));
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits until no packet has come for 300 ms, for ten seconds at most. The last acknowledgements of a stream may
    /// still be under way when both applications are done.
    pub fn wait_until_quiet(&self) -> io::Result<()> {
        const QUIET: Duration = Duration::from_millis(300);
        let came = || self.counts().map(|counts| counts.seen + counts.overflowed);
        let started = Instant::now();
        let (mut before, mut since) = (came(), started);
        while since.elapsed() < QUIET {
            if started.elapsed() > Duration::from_secs(10) {
                return Err(io::Error::other(
                    "packets still come to the relay after 10 s",
                ));
            }
            thread::sleep(Duration::from_millis(10));
            let now = came();
            if now != before {
                (before, since) = (now, Instant::now());
            }
        }
        Ok(())
    }

    /// Stops once all waiting packets are sent, and returns the counts.
    pub fn finish(mut self) -> io::Result<[Counts; 2]> {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread
                .join()
                .map_err(|_| io::Error::other("a thread of the relay panicked"))??;
        }
        Ok(self.counts())
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // Only `finish` reports errors.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::udp;
    use crate::{Ends, Offloads, Relayed, Route, SERVER};

    fn ends() -> Ends {
        Ends {
            offloads: Offloads::Software,
            ..Ends::default()
        }
    }

    /// Sends datagrams, one each millisecond, and returns the numbers that arrive and the relay's counts.
    fn arrivals(conditions: Conditions, count: u64) -> (Vec<u64>, Counts) {
        let net = Relayed::new(ends()).expect("this test needs root");
        let relay = net
            .relay(conditions, Conditions::default())
            .expect("starts");
        let sink = udp::Sink::start(net.server(), (SERVER, 7000).into()).expect("starts");
        udp::send(
            net.client(),
            (SERVER, 7000).into(),
            count,
            Duration::from_millis(1),
        )
        .expect("sends");
        relay.wait_for(count).expect("comes");
        let [counts, _] = relay.finish().expect("works");
        (sink.finish().expect("works"), counts)
    }

    #[test]
    fn a_list_of_packets_is_lost_and_nothing_else() {
        let conditions = Conditions {
            loss: Pick::list([1, 5, 20]),
            ..Conditions::default()
        };
        let (got, counts) = arrivals(conditions, 20);
        let expected: Vec<u64> = (1..=20).filter(|n| ![1, 5, 20].contains(n)).collect();
        assert_eq!(got, expected);
        assert_eq!((counts.seen, counts.lost, counts.passed), (20, 3, 17));
    }

    #[test]
    fn packets_are_held_back_and_sent_twice() {
        let conditions = Conditions {
            hold: Pick::Every(10),
            hold_by: 2,
            duplicate: Pick::list([4]),
            ..Conditions::default()
        };
        let (got, counts) = arrivals(conditions, 15);
        assert_eq!(got, [1, 2, 3, 4, 4, 5, 6, 7, 8, 9, 11, 12, 10, 13, 14, 15]);
        assert_eq!((counts.overtaken, counts.duplicated), (1, 1));
    }

    #[test]
    fn a_held_packet_that_nobody_follows_goes_on_and_was_not_overtaken() {
        let conditions = Conditions {
            hold: Pick::list([3]),
            hold_by: 1,
            ..Conditions::default()
        };
        let (got, counts) = arrivals(conditions, 3);
        assert_eq!((got, counts.overtaken), (vec![1, 2, 3], 0));
    }

    #[test]
    fn it_is_quiet_when_nobody_sends_any_more() {
        let net = Relayed::new(ends()).expect("this test needs root");
        let relay = net
            .relay(Conditions::default(), Conditions::default())
            .expect("starts");
        let sink = udp::Sink::start(net.server(), (SERVER, 7000).into()).expect("starts");
        let every = Duration::from_millis(5);
        let sent = thread::scope(|scope| {
            let sending =
                scope.spawn(|| udp::send(net.client(), (SERVER, 7000).into(), 100, every));
            relay.wait_for(1).expect("comes");
            relay.wait_until_quiet().expect("ends");
            let [counts, _] = relay.counts();
            sending.join().expect("sends").expect("sends");
            counts.seen
        });
        let arrived = sink.finish().expect("works").len();
        assert_eq!((sent, arrived), (100, 100));
    }

    #[test]
    fn the_delay_is_what_it_says_it_was() {
        let net = Relayed::new(ends()).expect("this test needs root");
        let delay = |ms| Conditions {
            delay: Duration::from_millis(ms),
            ..Conditions::default()
        };
        let relay = net.relay(delay(5), delay(3)).expect("starts");
        let wait = Duration::from_millis(2);
        let server = udp::Server::start(net.server(), (SERVER, 7000).into(), wait).expect("starts");
        let exchange = udp::Exchange {
            count: 20,
            ..udp::Exchange::default()
        };
        let seen = udp::exchange(net.client(), (SERVER, 7000).into(), exchange).expect("works");
        let waits = server.finish().expect("works");
        let [there, back] = relay.finish().expect("works");
        assert_eq!((seen.round_trips.len(), waits.len()), (20, 20));
        assert!(there.least_delay().expect("some") >= Duration::from_millis(5));
        assert!(back.least_delay().expect("some") >= Duration::from_millis(3));
        let parts = there.delays.iter().zip(&waits).zip(&back.delays);
        for (seen, ((there, wait), back)) in seen.round_trips.iter().zip(parts) {
            let parts = *there + *wait + *back;
            assert!(
                *seen + Duration::from_micros(50) >= parts,
                "{parts:?} of {seen:?}"
            );
        }
    }

    #[test]
    fn the_path_is_narrower_than_the_link() {
        let net = Relayed::new(ends()).expect("this test needs root");
        let narrow = Conditions {
            mtu: Some(1400),
            ..Conditions::default()
        };
        let relay = net.relay(narrow, Conditions::default()).expect("starts");
        let server = SERVER.to_string();
        let ping = |size| {
            net.client()
                .output(&["ping", "-6", "-c1", "-W2", "-M", "do", "-s", size, &server])
        };
        ping("1352").expect("1400 bytes pass");
        let error = ping("1353").expect_err("1401 bytes do not");
        assert!(error.to_string().contains("mtu"), "{error}");
        let [counts, _] = relay.finish().expect("works");
        assert_eq!((counts.too_big, counts.lost), (1, 0));
    }
}
