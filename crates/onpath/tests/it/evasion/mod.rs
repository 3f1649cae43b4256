//! The firewall by names against clients that hide a name from it: with `--unknown drop`, no server reads a blocked one, and all that a client sends of another
//! one arrives. What the firewall does is the same on the interpreter and in the kernel.

mod client;
mod fragments;
mod net;
pub(crate) mod protocol;
mod quic;
mod quic_packets;
mod quic_server;
mod real;
pub(crate) mod schedule;
mod server;
mod service;
mod wrapping;

use crate::flow_state::machine::{Both, Compiled};
use bpf::abi::Hook;
use control::{Change, Store};
use interp::{Interpreter, Options};
use protocol::{BLOCKED, OTHER, Streams};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use schedule::{ACK, FIN, RST, SYN, Schedule, URG, schedule};
use schema::{NameRule, RuleValue, ScopedName};
use server::{Answer, Server};
use std::sync::Arc;
use wrapping::{Hosts, TCP, Wrapping, segment};

/// The client and the server.
const HOSTS: Hosts = Hosts {
    link: [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]],
    v4: [[10, 0, 0, 1], [10, 0, 0, 2]],
    v6: [of_v6(1), of_v6(2)],
};

const fn of_v6(host: u8) -> [u8; 16] {
    [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]
}

/// Compiles the firewall as `--unknown drop` does, with some numbers defined.
pub(crate) fn strict(numbers: &[(&str, u32)], hook: Hook) -> Compiled {
    let program = testkit::files::root().join("programs/url_firewall/url_firewall.p4");
    let mut text = String::from("#define DROP_UNKNOWN\n");
    for (name, number) in numbers {
        text += &format!("#define {name} {number}\n");
    }
    text += &format!("#include \"{}\"\n", program.display());
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("strict.p4");
    std::fs::write(&file, text).expect("a file");
    Compiled::of_file(&file, hook, true)
}

/// Blocks [`BLOCKED`].
pub(crate) fn block(compiled: &Compiled, store: &mut dyn Store) {
    let rule = NameRule {
        name: ScopedName::parse(BLOCKED).expect("a name"),
        value: RuleValue {
            number: 1,
            lists: 1,
        },
    };
    let set = compiled.state("firewall.verdict.names");
    store
        .change(Change::InsertName(set, rule))
        .expect("there is room");
}

/// Ends of a connection, numbers that its streams begin with, and the headers of its packets.
struct Connection {
    ports: [u16; 2],
    first: u32,
    of_server: u32,
    wrapping: Wrapping,
}

impl Connection {
    /// Returns a packet of the client.
    fn up(&self, sequence: u32, flags: u8, urgent: Option<u32>, data: &[u8]) -> Vec<u8> {
        let flags = urgent.map_or(flags, |_| flags | URG);
        let pointer = urgent.map_or(0, |urgent| urgent as u16 + 1);
        let numbers = [sequence, self.of_server.wrapping_add(1)];
        let segment = segment(self.ports, numbers, (flags, pointer), data);
        self.wrapping.frame(&HOSTS, TCP, segment)
    }

    /// Returns a packet of the server.
    fn down(&self, answer: &Answer) -> Vec<u8> {
        let [client, server] = self.ports;
        let flags = if answer.opens { SYN | ACK } else { ACK };
        let sequence = self.of_server.wrapping_add(u32::from(!answer.opens));
        let numbers = [sequence, answer.acknowledged];
        let segment = segment([server, client], numbers, (flags, 0), &[]);
        self.wrapping.frame(&HOSTS.back(), TCP, segment)
    }
}

/// Returns a packet of TCP over IPv4.
pub(crate) fn packet(
    (src, dst, src_port, dst_port): ([u8; 4], [u8; 4], u16, u16),
    numbers: [u32; 2],
    flags: u8,
    data: &[u8],
) -> Vec<u8> {
    let hosts = Hosts {
        v4: [src, dst],
        ..HOSTS
    };
    let segment = segment([src_port, dst_port], numbers, (flags, 0), data);
    Wrapping::plain().frame(&hosts, TCP, segment)
}

/// Plays a schedule, and then sends what is not acknowledged again, as TCP does. `passes` is the firewall; without one, it returns true. Returns what the
/// server's application read.
fn play(
    schedule: &Schedule,
    connection: &Connection,
    mut server: Server,
    passes: &mut impl FnMut(&[u8]) -> bool,
) -> Vec<u8> {
    let (first, stream) = (connection.first, &schedule.stream[..]);
    let answered = |answer: Option<Answer>, passes: &mut dyn FnMut(&[u8]) -> bool| {
        answer.is_some_and(|answer| passes(&connection.down(&answer)))
    };
    for sent in &schedule.packets {
        let own = if sent.other {
            first.wrapping_add(0x0800_0000)
        } else {
            first
        };
        let opens = sent.flags == SYN;
        let sequence = own.wrapping_add(sent.at).wrapping_sub(u32::from(opens));
        let urgent = schedule.urgent_of(sent.at, &sent.data);
        let packet = connection.up(sequence, sent.flags, urgent, &sent.data);
        if !passes(&packet) || !sent.arrives {
            continue;
        }
        let answer = match opens {
            true => Some(server.open(sequence, &sent.data)),
            false => server.segment(sequence, &sent.data, urgent, sent.flags & FIN != 0),
        };
        answered(answer, passes);
    }
    // TCP gives up at some time.
    for round in 0..40 {
        if server.first.is_none() {
            let sequence = first.wrapping_sub(1);
            if passes(&connection.up(sequence, SYN, None, &[])) {
                let answer = server.open(sequence, &[]);
                answered(Some(answer), passes);
            }
            continue;
        }
        let read = server.taken as usize;
        if server.first != Some(first) || read >= stream.len() {
            break;
        }
        // Segments of a retransmission differ from the first ones.
        let end = stream.len().min(read + 40 + 70 * (round % 3));
        let (part, sequence) = (&stream[read..end], first.wrapping_add(read as u32));
        let urgent = schedule.urgent_of(read as u32, part);
        if passes(&connection.up(sequence, ACK, urgent, part)) {
            let answer = server.segment(sequence, part, urgent, false);
            answered(answer, passes);
        }
    }
    server.read
}

/// Plays a random schedule through a firewall, and says what it was if the firewall fails.
fn check(seed: u64, passes: &mut impl FnMut(&[u8]) -> bool) -> bool {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let streams = Streams::random(&mut random);
    let (protocol, stream) = (streams.protocol, &streams.stream);
    let schedule = schedule(stream, &streams.decoy, &mut random);
    let connection = Connection {
        ports: [1024 + (seed % 60_000) as u16, protocol.port()],
        first: random.random(),
        of_server: random.random(),
        wrapping: Wrapping::random(&mut random),
    };
    let played: u64 = random.random();
    let server = || Server::new(&mut ChaCha8Rng::seed_from_u64(played));
    if random.random_range(0..4) == 0 {
        // The ports are those of a connection that has ended, or that the client has forgotten.
        let end = [ACK, ACK | FIN, ACK | RST][random.random_range(0..3)];
        // SYN cookies have the same numbers again.
        let [first, of_server] = match random.random() {
            true => [connection.first, connection.of_server],
            false => [random.random(), random.random()],
        };
        let earlier = Connection {
            first,
            of_server,
            wrapping: connection.wrapping.clone(),
            ..connection
        };
        let allowed = streams.of(OTHER);
        let read = play(&Schedule::plain(&allowed, end), &earlier, server(), passes);
        assert_eq!(read, allowed, "one before it does not arrive, seed {seed}");
    }
    let without = play(&schedule, &connection, server(), &mut |_| true);
    let read = play(&schedule, &connection, server(), passes);
    // The last message is the one with the name. A server acts on whole ones.
    let shows = |read: &[u8]| read.len() == stream.len() && protocol.shows_blocked(read);
    let told = || {
        let wrapping = &connection.wrapping;
        format!(
            "seed {seed}: {protocol:?}, {wrapping:?}, {:?}",
            schedule.packets
        )
    };
    assert!(
        !shows(&read),
        "the server reads the blocked name, {}",
        told()
    );
    if !streams.is_blocked && !schedule.conflicts {
        assert_eq!(
            without,
            *stream,
            "it does not arrive without a firewall, {}",
            told()
        );
        assert_eq!(read, *stream, "it does not arrive, {}", told());
    }
    shows(&without)
}

/// Checks schedules on the interpreter.
fn interpreted(seeds: std::ops::Range<u64>) {
    let compiled = strict(&[], Hook::Xdp);
    let it = Interpreter::new(Arc::clone(&compiled.program), Options::default());
    let mut it = it.expect("the interpreter runs it");
    block(&compiled, &mut it);
    let mut passes = |bytes: &[u8]| !it.run(0, bytes).packets.is_empty();
    let count = seeds.end - seeds.start;
    let hidden = seeds.filter(|seed| check(*seed, &mut passes)).count() as u64;
    assert!(hidden > count / 3, "{hidden} schedules show a blocked name");
}

#[test]
fn no_schedule_hides_a_name() {
    interpreted(0..700);
}

#[test]
#[ignore = "minutes; part of make test-all"]
fn none_of_10000_schedules_hides_a_name() {
    interpreted(1_000..11_000);
}

#[test]
fn the_kernel_decides_as_the_interpreter() {
    let compiled = strict(&[], Hook::Xdp);
    let mut both = Both::new(&compiled);
    both.each(|store| block(&compiled, store));
    for seed in 20_000..20_150 {
        let when = format!("seed {seed}");
        check(seed, &mut |bytes| both.sent(bytes, &when) > 0);
    }
}
