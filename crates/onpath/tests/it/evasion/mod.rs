//! The firewall by names against clients that hide a name from it: with `--unknown drop`, no server reads a blocked one, and all that a client sends of another
//! one arrives. What the firewall does is the same on the interpreter and in the kernel.

pub(crate) mod schedule;
mod server;

use crate::flow_state::machine::{Both, Compiled};
use bpf::abi::Hook;
use control::{Change, Store};
use interp::{Interpreter, Options};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use schedule::{ACK, BLOCKED, OTHER, Protocol, SYN, Schedule, schedule};
use schema::{NameRule, RuleValue, ScopedName};
use server::{Answer, Server};
use std::sync::Arc;

/// Number that the server's stream begins with.
const OF_SERVER: u32 = 0x7000;

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

/// Ends of a connection, and numbers of its streams.
struct Connection {
    client: u16,
    server: u16,
    first: u32,
}

impl Connection {
    /// Returns a packet of the client.
    fn up(&self, sequence: u32, flags: u8, data: &[u8]) -> Vec<u8> {
        let ends = ([10, 0, 0, 1], [10, 0, 0, 2], self.client, self.server);
        packet(ends, [sequence, OF_SERVER + 1], flags, data)
    }

    /// Returns a packet of the server.
    fn down(&self, answer: &Answer) -> Vec<u8> {
        let ends = ([10, 0, 0, 2], [10, 0, 0, 1], self.server, self.client);
        let flags = if answer.opens { SYN | ACK } else { ACK };
        let sequence = OF_SERVER + u32::from(!answer.opens);
        packet(ends, [sequence, answer.acknowledged], flags, &[])
    }
}

/// Returns a packet of TCP, without checksums.
pub(crate) fn packet(
    (src, dst, src_port, dst_port): ([u8; 4], [u8; 4], u16, u16),
    [sequence, acknowledged]: [u32; 2],
    flags: u8,
    data: &[u8],
) -> Vec<u8> {
    let mut packet = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0];
    packet.extend((40 + data.len() as u16).to_be_bytes());
    packet.extend([0, 1, 0, 0, 64, 6, 0, 0]);
    packet.extend(src);
    packet.extend(dst);
    packet.extend(src_port.to_be_bytes());
    packet.extend(dst_port.to_be_bytes());
    packet.extend(sequence.to_be_bytes());
    packet.extend(acknowledged.to_be_bytes());
    packet.extend([0x50, flags, 4, 0, 0, 0, 0, 0]);
    packet.extend(data);
    packet
}

/// Plays a schedule, and then sends what is not acknowledged again, as TCP does. `passes` is the firewall; without one, it returns true. Returns what the
/// server's application read.
fn play(
    schedule: &Schedule,
    stream: &[u8],
    connection: &Connection,
    mut server: Server,
    passes: &mut impl FnMut(&[u8]) -> bool,
) -> Vec<u8> {
    let first = connection.first;
    let answered =
        |server: &mut Server, answer: Option<Answer>, passes: &mut dyn FnMut(&[u8]) -> bool| {
            let reached = answer.is_some_and(|answer| passes(&connection.down(&answer)));
            reached.then_some(server.read.len())
        };
    for sent in &schedule.packets {
        let own = if sent.other {
            first.wrapping_add(0x0800_0000)
        } else {
            first
        };
        let opens = sent.flags == SYN;
        let sequence = own.wrapping_add(sent.at).wrapping_sub(u32::from(opens));
        if !passes(&connection.up(sequence, sent.flags, &sent.data)) || !sent.arrives {
            continue;
        }
        let answer = match opens {
            true => Some(server.open(sequence, &sent.data)),
            false => server.segment(sequence, &sent.data),
        };
        answered(&mut server, answer, passes);
    }
    // TCP gives up at some time.
    for round in 0..40 {
        if server.first.is_none() {
            let sequence = first.wrapping_sub(1);
            if passes(&connection.up(sequence, SYN, &[])) {
                let answer = server.open(sequence, &[]);
                answered(&mut server, Some(answer), passes);
            }
            continue;
        }
        let read = server.read.len();
        if server.first != Some(first) || read >= stream.len() {
            break;
        }
        // Segments of a retransmission differ from the first ones.
        let end = stream.len().min(read + 40 + 70 * (round % 3));
        let sequence = first.wrapping_add(read as u32);
        if passes(&connection.up(sequence, ACK, &stream[read..end])) {
            let answer = server.segment(sequence, &stream[read..end]);
            answered(&mut server, answer, passes);
        }
    }
    server.read
}

/// Plays a random schedule through a firewall, and says what it was if the firewall fails.
fn check(seed: u64, passes: &mut impl FnMut(&[u8]) -> bool) -> bool {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let protocol = Protocol::ALL[random.random_range(0..3)];
    let shape: u64 = random.random();
    let of = |name: &str| protocol.stream(name, &mut ChaCha8Rng::seed_from_u64(shape));
    let is_blocked = random.random_range(0..3) > 0;
    let (name, other) = if is_blocked {
        (BLOCKED, OTHER)
    } else {
        (OTHER, BLOCKED)
    };
    let (stream, decoy) = (of(name), of(other));
    let schedule = schedule(&stream, &decoy, &mut random);
    let connection = Connection {
        client: 1024 + (seed % 60_000) as u16,
        server: protocol.port(),
        first: random.random(),
    };
    let played: u64 = random.random();
    let server = || Server::new(&mut ChaCha8Rng::seed_from_u64(played));
    let without = play(&schedule, &stream, &connection, server(), &mut |_| true);
    let read = play(&schedule, &stream, &connection, server(), passes);
    // The last message is the one with the name. A server acts on whole ones.
    let shows = |read: &[u8]| read.len() == stream.len() && protocol.shows_blocked(read);
    let told = || format!("seed {seed}: {protocol:?}, {:?}", schedule.packets);
    assert!(
        !shows(&read),
        "the server reads the blocked name, {}",
        told()
    );
    if !is_blocked && !schedule.conflicts {
        assert_eq!(
            without,
            stream,
            "it does not arrive without a firewall, {}",
            told()
        );
        assert_eq!(read, stream, "it does not arrive, {}", told());
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
