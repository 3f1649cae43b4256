//! Handshakes of QUIC, cut and mixed at random, with packets between them that may hide a name from a firewall.

use super::net::{LINKS, hosts};
use super::protocol::{BLOCKED, OTHER, hello};
use super::quic_packets::{Quic, variable};
use super::quic_server::shows;
use super::service::Service;
use super::wrapping::{Network, UDP, Wrapping, datagram};
use super::{HOSTS, block, strict};
use crate::flow_state::machine::Both;
use bpf::abi::Hook;
use interp::{Interpreter, Options};
use net::raw_socket::RawSocket;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use std::time::Duration;

/// Datagrams of a client.
struct Sent {
    datagrams: Vec<Vec<u8>>,
    is_blocked: bool,
    /// The server may get something else than the name.
    conflicts: bool,
}

impl Sent {
    /// Returns true if a server has to read the name.
    fn is_due(&self) -> bool {
        !self.is_blocked && !self.conflicts
    }
}

/// Returns a CRYPTO frame.
fn crypto(at: usize, bytes: &[u8]) -> Vec<u8> {
    [&[6][..], &variable(at), &variable(bytes.len()), bytes].concat()
}

/// Returns frames that say nothing about the handshake: PADDING, PING or ACK.
fn filler(random: &mut ChaCha8Rng) -> Vec<u8> {
    match random.random_range(0..4) {
        0 => vec![0; random.random_range(1..60)],
        1 => vec![1],
        2 => vec![2, 0, 0, 0, 0],
        _ => Vec::new(),
    }
}

/// Returns the CRYPTO frames of a handshake, cut at random places. They may overlap.
fn frames(hello: &[u8], random: &mut ChaCha8Rng) -> Vec<Vec<u8>> {
    let mut cuts: Vec<usize> = (0..random.random_range(0..8))
        .map(|_| random.random_range(0..hello.len()))
        .collect();
    cuts.extend([0, hello.len()]);
    cuts.sort_unstable();
    let overlap = random.random_range(0..5);
    let frame = |cut: &[usize]| {
        let from = cut[0].saturating_sub(overlap);
        crypto(from, &hello[from..cut[1]])
    };
    let mut all: Vec<_> = cuts.windows(2).map(frame).collect();
    all.shuffle(random);
    all
}

/// Makes the datagrams of a client.
fn sent(random: &mut ChaCha8Rng) -> Sent {
    let is_blocked = random.random_range(0..3) > 0;
    let shape: u64 = random.random();
    let of = |name: &str| hello(name, &mut ChaCha8Rng::seed_from_u64(shape));
    let (name, other) = if is_blocked {
        (BLOCKED, OTHER)
    } else {
        (OTHER, BLOCKED)
    };
    let (hello, decoy) = (of(name), of(other));
    let mut client = Quic::random(random);
    let mut packets: Vec<Vec<Vec<u8>>> = vec![Vec::new(); random.random_range(1..5)];
    for frame in frames(&hello, random) {
        let at = random.random_range(0..packets.len());
        packets[at].push(frame);
    }
    let mut all: Vec<Vec<u8>> = Vec::new();
    for frames in packets {
        let mut payload = filler(random);
        for frame in frames {
            payload.extend(frame);
            payload.extend(filler(random));
        }
        payload.extend([0; 4]);
        all.push(client.initial(&payload, random.random_range(1..5)));
    }
    let mut conflicts = false;
    for _ in 0..random.random_range(0..3) {
        let from = random.random_range(0..decoy.len());
        let part = crypto(from, &decoy[from..random.random_range(from..=decoy.len())]);
        let payload = [part, vec![0; 4]].concat();
        let place = random.random_range(0..=all.len());
        let kind = random.random_range(0..4);
        conflicts |= kind < 3;
        let packet = match kind {
            // With a wrong tag.
            0 => {
                let mut packet = client.initial(&payload, 2);
                *packet.last_mut().expect("a packet") ^= 1;
                packet
            }
            1 => client.initial(&payload, 2),
            // Of another connection.
            2 => {
                let mut another = Quic::random(random);
                another.initial(&[crypto(0, &decoy), vec![0; 4]].concat(), 1)
            }
            // One of those before.
            _ => all[random.random_range(0..all.len())].clone(),
        };
        all.insert(place, packet);
    }
    if random.random() {
        all.shuffle(random);
    }
    // Up to three packets come in one datagram.
    let mut datagrams = Vec::new();
    while !all.is_empty() {
        let count = random.random_range(1..4).min(all.len());
        let mut datagram = all.drain(..count).collect::<Vec<_>>().concat();
        if random.random_range(0..4) == 0 {
            // What follows is no packet.
            datagram.extend([0x40; 30]);
        }
        datagrams.push(datagram);
    }
    Sent {
        datagrams,
        is_blocked,
        conflicts,
    }
}

/// Sends a client's datagrams through a firewall, and says what they were if it fails. `through` gives those that pass. Returns true if they have the blocked name.
fn check(seed: u64, through: impl FnOnce(&[Vec<u8>], &mut ChaCha8Rng) -> Vec<Vec<u8>>) -> bool {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let sent = sent(&mut random);
    let name = if sent.is_blocked { BLOCKED } else { OTHER };
    assert!(
        sent.conflicts || shows(&sent.datagrams, name),
        "without a firewall, seed {seed}"
    );
    let read = through(&sent.datagrams, &mut random);
    assert!(
        !shows(&read, BLOCKED),
        "the server reads the blocked name, seed {seed}"
    );
    assert!(
        !sent.is_due() || shows(&read, OTHER),
        "it does not arrive, seed {seed}"
    );
    shows(&sent.datagrams, BLOCKED)
}

/// Returns the datagrams that pass.
fn passing(
    seed: u64,
    datagrams: &[Vec<u8>],
    random: &mut ChaCha8Rng,
    mut passes: impl FnMut(&[u8]) -> bool,
) -> Vec<Vec<u8>> {
    let wrapping = Wrapping::random(random);
    let ports = [1024 + (seed % 60_000) as u16, 443];
    let frame = |data: &Vec<u8>| wrapping.frame(&HOSTS, UDP, datagram(ports, data));
    let arrives = |data: &&Vec<u8>| passes(&frame(data));
    datagrams.iter().filter(arrives).cloned().collect()
}

/// Sends a client's datagrams to a server of UDP. Returns true if it reads the blocked name.
pub(super) fn arrives(seed: u64, raw: &RawSocket, service: &Service) -> bool {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let sent = sent(&mut random);
    let link = random.random_range(0..LINKS.len());
    let wrapping = Wrapping::taken_by_linux(LINKS[link], &mut random);
    let hosts = hosts(link);
    let ports = [1024 + (seed % 60_000) as u16, 443];
    for data in &sent.datagrams {
        let frame = wrapping.frame(&hosts, UDP, datagram(ports, data));
        raw.send(&frame).expect("a datagram is sent");
    }
    let client = match wrapping.network {
        Network::V4 { .. } => hosts.v4[0].into(),
        Network::V6 { .. } => hosts.v6[0].into(),
    };
    let patience = Duration::from_millis(if sent.is_due() { 2000 } else { 40 });
    let read = service.datagrams((client, ports[0]), sent.datagrams.len(), patience);
    assert!(
        !sent.is_due() || shows(&read, OTHER),
        "it does not arrive, seed {seed}"
    );
    shows(&read, BLOCKED)
}

/// Checks clients on the interpreter.
fn interpreted(seeds: std::ops::Range<u64>) {
    let compiled = strict(&[("READ_QUIC", 1)], Hook::Xdp);
    let it = Interpreter::new(Arc::clone(&compiled.program), Options::default());
    let mut it = it.expect("the interpreter runs it");
    block(&compiled, &mut it);
    let count = seeds.end - seeds.start;
    let mut one = |seed: &u64| {
        check(*seed, |datagrams, random| {
            passing(*seed, datagrams, random, |bytes| {
                !it.run(0, bytes).packets.is_empty()
            })
        })
    };
    let hidden = seeds.filter(&mut one).count() as u64;
    assert!(
        hidden > count / 3,
        "{hidden} of {count} clients show the blocked name"
    );
}

#[test]
fn no_client_of_quic_hides_a_name() {
    interpreted(0..300);
}

#[test]
#[ignore = "minutes; part of make test-all"]
fn none_of_10000_clients_of_quic_hides_a_name() {
    interpreted(1_000..11_000);
}

#[test]
fn the_kernel_decides_about_quic_as_the_interpreter() {
    let compiled = strict(&[("READ_QUIC", 1)], Hook::Xdp);
    let mut both = Both::new(&compiled);
    both.each(|store| block(&compiled, store));
    for seed in 20_000..20_080 {
        let when = format!("seed {seed}");
        check(seed, |datagrams, random| {
            passing(seed, datagrams, random, |bytes| both.sent(bytes, &when) > 0)
        });
    }
}
