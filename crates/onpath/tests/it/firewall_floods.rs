//! The firewall by names under floods of connections that begin and ask for no name: decided connections stay as they are, and
//! what makes room is counted. Needs root.

use crate::evasion::protocol::{BLOCKED, OTHER, Protocol};
use crate::evasion::schedule::{ACK, SYN};
use crate::evasion::{block, packet, strict};
use bpf::abi::Hook;
use control::{Device, Packet, Store};
use kernel::test_run::TestRun;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Number that servers' streams begin with.
const OF_SERVER: u32 = 0x7000;
/// Number that clients' streams begin with.
const FIRST: u32 = 1000;

/// Connection of a client, by its address.
#[derive(Clone, Copy)]
struct Client([u8; 4]);

impl Client {
    fn up(self, at: u32, flags: u8, data: &[u8]) -> Vec<u8> {
        let ends = (self.0, [192, 0, 2, 1], 40_000, 443);
        packet(ends, [FIRST + at, OF_SERVER + 1], flags, data)
    }

    fn down(self, opens: bool, acknowledged: u32) -> Vec<u8> {
        let ends = ([192, 0, 2, 1], self.0, 443, 40_000);
        let flags = if opens { SYN | ACK } else { ACK };
        let numbers = [OF_SERVER + u32::from(!opens), FIRST + acknowledged];
        packet(ends, numbers, flags, &[])
    }
}

fn passes(test: &mut TestRun, bytes: Vec<u8>) -> bool {
    let packet = Packet { port: 0, bytes };
    test.send(&packet).expect("it takes the packet");
    !test.receive().expect("it gives what came out").is_empty()
}

/// Opens a connection.
fn open(test: &mut TestRun, client: Client) {
    assert!(passes(test, client.up(0, SYN, &[])));
    assert!(passes(test, client.down(true, 1)));
}

/// Floods a firewall with room for some connections.
fn flooded(room: u32, flood: u32) {
    let compiled = strict(&[("MOST_CONNECTIONS", room)], Hook::Xdp);
    let mut test = compiled.load();
    block(&compiled, test.store_mut());
    let [decided, followed] =
        ["decided", "followed"].map(|name| compiled.state(&format!("firewall.verdict.{name}")));
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let known: Vec<(Client, bool, Vec<u8>)> = (0..32u8)
        .map(|number| {
            let blocks = number % 2 == 0;
            let name = if blocks { BLOCKED } else { OTHER };
            let hello = Protocol::Tls.stream(name, &mut random);
            (Client([10, 0, 0, number]), blocks, hello)
        })
        .collect();
    for (client, blocks, hello) in &known {
        open(&mut test, *client);
        assert_eq!(passes(&mut test, client.up(1, ACK, hello)), !blocks);
        let end = 1 + hello.len() as u32;
        assert_eq!(passes(&mut test, client.down(false, end)), !blocks);
    }
    for number in 0..flood {
        let [_, high, middle, low] = number.to_be_bytes();
        let client = Client([11 + high, middle, low, 1]);
        open(&mut test, client);
        if number % 2 == 0 {
            let (_, _, hello) = &known[number as usize / 2 % known.len()];
            assert!(passes(
                &mut test,
                client.up(1, ACK, &hello[..hello.len() / 2])
            ));
        }
    }
    for (client, blocks, hello) in &known {
        let end = 1 + hello.len() as u32;
        assert_eq!(passes(&mut test, client.up(end, ACK, b"more")), !blocks);
        assert_eq!(passes(&mut test, client.up(1, ACK, hello)), !blocks);
        assert_eq!(passes(&mut test, client.down(false, end)), !blocks);
    }
    let store: &dyn Store = test.store();
    let evicted = |state| {
        let found = store.flow_room(state).expect("it tells");
        (found.capacity, found.evicted)
    };
    assert_eq!(evicted(decided), (u64::from(room), Some(0)));
    let (capacity, gone) = evicted(followed);
    let gone = gone.expect("they are counted");
    assert_eq!(capacity, u64::from(room));
    // Sets of eight fill unevenly.
    let least = u64::from(flood) - capacity;
    assert!(
        (least..=u64::from(flood)).contains(&gone),
        "{gone} of {flood} evicted"
    );
}

/// A lost segment comes again after a second or more. Meanwhile other connections begin and are decided.
#[test]
fn a_connection_that_waits_outlasts_others_that_are_decided() {
    let compiled = strict(&[("MOST_CONNECTIONS", 65_536)], Hook::Xdp);
    let mut test = compiled.load();
    block(&compiled, test.store_mut());
    let hello = Protocol::Tls.stream(OTHER, &mut ChaCha8Rng::seed_from_u64(11));
    let end = 1 + hello.len() as u32;
    let waits = Client([10, 0, 0, 1]);
    open(&mut test, waits);
    // The server does not get it.
    assert!(passes(&mut test, waits.up(1, ACK, &hello)));
    for number in 0..5_000u32 {
        let [_, high, middle, low] = number.to_be_bytes();
        let other = Client([11 + high, middle, low, 1]);
        open(&mut test, other);
        assert!(passes(&mut test, other.up(1, ACK, &hello)));
        assert!(passes(&mut test, other.down(false, end)));
    }
    assert!(passes(&mut test, waits.up(1, ACK, &hello)));
    assert!(passes(&mut test, waits.down(false, end)));
}

#[test]
fn decided_connections_outlast_a_flood() {
    flooded(1024, 5_000);
}

#[test]
#[ignore = "long: make test-all"]
fn decided_connections_outlast_a_million_that_begin() {
    flooded(65_536, 1_000_000);
}
