//! Clients with raw sockets against servers of Linux behind a firewall: random schedules, fragments, and handshakes of QUIC.

use super::client::Client;
use super::fragments::{Fragments, Order};
use super::net::{Firewall, LINKS, Net, hosts};
use super::protocol::{OTHER, Streams};
use super::quic;
use super::schedule::{ACK, FIN, RST, Schedule, schedule};
use super::service::Service;
use super::wrapping::Wrapping;
use net::raw_socket::RawSocket;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::Range;
use std::sync::Mutex;
use std::time::Duration;

/// Time in which a server reads what it has acknowledged.
const READ: Duration = Duration::from_secs(2);

/// Results of a seed.
struct Seen {
    told: String,
    /// The server read the blocked name.
    blocked: bool,
    /// The server read all of an allowed stream, or need not.
    allowed: bool,
}

/// Plays a random schedule.
fn seen(seed: u64, raw: &RawSocket, service: &Service) -> Seen {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let streams = Streams::random(&mut random);
    let (protocol, stream) = (streams.protocol, &streams.stream);
    let schedule = schedule(stream, &streams.decoy, &mut random);
    let link = random.random_range(0..LINKS.len());
    let wrapping = Wrapping::taken_by_linux(LINKS[link], &mut random);
    let ports = [1024 + (seed % 60_000) as u16, protocol.port()];
    let mut client = Client::new(raw, hosts(link), wrapping, ports);
    client.first = random.random();
    let told = format!(
        "seed {seed}: {protocol:?}, {:?}, {:?}",
        client.wrapping, schedule.packets
    );
    if random.random_range(0..4) == 0 {
        // The ports are those of a connection that has ended.
        let end = [ACK | FIN, ACK | RST][random.random_range(0..2)];
        let allowed = streams.of(OTHER);
        let read = client.plays(&Schedule::plain(&allowed, end), 40);
        assert!(
            read >= allowed.len(),
            "one before it does not arrive, {told}"
        );
        service.stream(client.own(), allowed.len(), READ);
        client.reset();
        client.first = random.random();
        client.peer = None;
    }
    let is_due = !streams.is_blocked && !schedule.conflicts;
    let acknowledged = client.plays(&schedule, if is_due { 60 } else { 3 });
    // Of a connection that is blocked, what the server acknowledges does not come back.
    let is_whole = acknowledged >= stream.len();
    let patience = if is_whole {
        READ
    } else {
        Duration::from_millis(10)
    };
    let read = service.stream(client.own(), stream.len(), patience);
    client.reset();
    Seen {
        told,
        blocked: read.len() == stream.len() && protocol.shows_blocked(&read),
        allowed: !is_due || read == *stream,
    }
}

/// A network with servers.
struct Trial {
    net: Net,
    service: Service,
}

impl Trial {
    fn new() -> Trial {
        let net = Net::new().expect("this test needs root");
        let service = Service::start(&net.server, &[53, 80, 443], &[53, 443]);
        let service = service.expect("servers");
        Trial { net, service }
    }

    /// Plays schedules at the same time, and returns those that show the blocked name.
    fn played(&self, seeds: Range<u64>) -> Vec<String> {
        let left = Mutex::new(seeds);
        let next = || left.lock().expect("no panic").next();
        let one = || {
            let raw = self.net.client().expect("a client");
            let mut shown = Vec::new();
            while let Some(seed) = next() {
                let seen = seen(seed, &raw, &self.service);
                assert!(seen.allowed, "it does not arrive, {}", seen.told);
                shown.extend(seen.blocked.then_some(seen.told));
            }
            shown
        };
        std::thread::scope(|scope| {
            let all = [(); 4].map(|()| scope.spawn(one));
            let all = all.map(|thread| thread.join().expect("all that is allowed arrives"));
            all.concat()
        })
    }

    /// Plays schedules one by one. Each blocked name that the server reads is counted as unknown. Returns how many it reads.
    fn counted(&self, firewall: &Firewall, seeds: Range<u64>) -> usize {
        let raw = self.net.client().expect("a client");
        let unknown = || firewall.unknown(&self.net).expect("counts");
        let (mut count, mut before) = (0, unknown());
        for seed in seeds {
            let seen = seen(seed, &raw, &self.service);
            assert!(seen.allowed, "it does not arrive, {}", seen.told);
            if seen.blocked {
                let now = unknown();
                assert!(now > before, "no reason is counted, {}", seen.told);
                before = now;
                count += 1;
            }
        }
        count
    }

    /// With `--unknown drop`, the servers read no blocked name. Without a firewall they do.
    fn drops(&self, hook: &str, seeds: Range<u64>, sizes: &[usize]) {
        let raw = self.net.client().expect("a client");
        let mut fragments = Fragments::new(&raw, &self.service);
        // Connections may linger at the server.
        let others = seeds.end..seeds.end + 12;
        let shown = self.played(others.clone()).len();
        assert!(
            shown > 3,
            "without a firewall {shown} of 12 schedules show the blocked name"
        );
        let (count, read) = fragments.sent(&[8, 24], &Order::WHOLE);
        assert_eq!(read, count, "without a firewall");
        let shown = self.quic(&raw, others);
        assert!(
            shown > 3,
            "without a firewall {shown} of 12 clients show the blocked name"
        );

        self.service.forget();
        let options = format!("--hook {hook} --unknown drop --quic read");
        let _firewall = self
            .net
            .block("blocked.example", &options)
            .expect("it runs");
        let shown = self.played(seeds.clone());
        assert!(
            shown.is_empty(),
            "the server reads the blocked name, {shown:?}"
        );
        let (count, read) = fragments.sent(sizes, &Order::ALL);
        assert_eq!(read, 0, "of {count}");
        assert_eq!(self.quic(&raw, seeds), 0);
    }

    /// With `--unknown pass`, each blocked name that the servers read is counted.
    fn counts(&self, hook: &str, seeds: Range<u64>, sizes: &[usize]) {
        let raw = self.net.client().expect("a client");
        let mut fragments = Fragments::new(&raw, &self.service);
        let firewall = self.net.block("blocked.example", &format!("--hook {hook}"));
        let firewall = firewall.expect("it runs");
        let all = seeds.end - seeds.start;
        let shown = self.counted(&firewall, seeds);
        assert!(
            shown < all as usize / 3,
            "{shown} of {all} schedules show the blocked name"
        );
        let before = firewall.unknown(&self.net).expect("counts");
        let (count, read) = fragments.sent(sizes, &Order::WHOLE);
        assert_eq!(read, count);
        let unknown = firewall.unknown(&self.net).expect("counts") - before;
        assert!(unknown >= count, "{unknown} fragments of {count} requests");
    }

    /// Sends handshakes of QUIC, and returns how many show the blocked name.
    fn quic(&self, raw: &RawSocket, seeds: Range<u64>) -> usize {
        let shows = |seed: &u64| quic::arrives(*seed, raw, &self.service);
        seeds.filter(shows).count()
    }
}

#[test]
fn servers_read_no_blocked_name_behind_a_firewall_at_xdp() {
    Trial::new().drops("xdp", 30_000..30_040, &[8, 24, 48]);
}

#[test]
fn servers_read_no_blocked_name_behind_a_firewall_at_traffic_control() {
    Trial::new().drops("tc-ingress", 31_000..31_025, &[8, 32]);
}

#[test]
fn what_servers_read_all_the_same_is_counted() {
    let sizes: Vec<usize> = (8..400).step_by(8).collect();
    Trial::new().counts("xdp", 32_000..32_030, &sizes);
}

#[test]
#[ignore = "minutes; part of make test-all"]
fn servers_read_no_blocked_name_in_thousands_of_schedules() {
    let sizes: Vec<usize> = (8..600).step_by(8).collect();
    Trial::new().drops("xdp", 40_000..42_000, &sizes);
    Trial::new().drops("tc-ingress", 42_000..43_000, &sizes);
    Trial::new().counts("xdp", 43_000..43_500, &sizes);
    Trial::new().counts("tc-ingress", 44_000..44_500, &sizes);
}
