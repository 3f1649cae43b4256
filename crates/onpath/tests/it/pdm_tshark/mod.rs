//! Checks by tshark of ten thousand packets that went through the measurement's shipped programs. None is malformed,
//! every checksum is right, and the options agree with a second implementation of RFC 8250.

mod account;
mod host;
mod packet;
mod tshark;

use self::host::Host;
use account::{Account, Fields};
use kernel::test_run::Fate;
use packet::Packet;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const PACKETS: usize = 10_000;

/// A packet, with its bytes after a program.
struct Made {
    packet: Packet,
    bytes: Vec<u8>,
    /// Expected option of the packet, if it must have one.
    expected: Option<Fields>,
}

#[test]
fn tshark_reads_what_the_programs_make() {
    let mut host = Host::new();
    let mut random = ChaCha8Rng::seed_from_u64(8250);
    let mut account = Account::default();
    let mut made: Vec<Made> = Vec::new();
    while made.len() < PACKETS {
        let stays = made.len() >= PACKETS / 2;
        if made.len() == PACKETS / 2 {
            host.leave();
        }
        if random.random_range(0..40) == 0 {
            host.wait(random.random_range(1_000_000..200_000_000));
        }
        let packet = Packet::random(&mut random);
        made.push(match packet.incoming {
            true => received(&mut host, &mut account, packet, &mut random, stays),
            false => sent(&mut host, &mut account, packet),
        });
    }
    let count = |incoming| {
        let with = made.iter().filter(|made| made.expected.is_some());
        with.filter(|made| made.packet.incoming == incoming).count()
    };
    let (marked, left) = (count(false), count(true));
    assert!(marked > PACKETS / 3, "{marked} packets got the option");
    assert!(left > PACKETS / 10, "{left} packets kept the option");
    let lines = tshark::read(made.iter().map(|made| made.bytes.as_slice()));
    assert_eq!(lines.len(), PACKETS);
    for (line, made) in lines.iter().zip(&made) {
        let Made {
            packet,
            bytes,
            expected,
        } = made;
        if let Err(why) = tshark::compare(line, expected.as_ref(), packet.is_whole()) {
            panic!("{why}: tshark says {line:?} of {bytes:02x?}, which is of {packet:?}");
        }
    }
}

fn sent(host: &mut Host, account: &mut Account, packet: Packet) -> Made {
    let now = host.next();
    let outcome = host.packet(false, &packet.bytes(None));
    assert_eq!(outcome.fate, Fate::Pass, "{packet:?}");
    Made {
        expected: packet
            .option_at()
            .map(|at| account.sent(&packet, &outcome.bytes, at, now)),
        bytes: outcome.bytes,
        packet,
    }
}

/// Receives a packet with an option of the other host, which stays or is removed.
fn received(
    host: &mut Host,
    account: &mut Account,
    packet: Packet,
    random: &mut impl Rng,
    stays: bool,
) -> Made {
    let fields = account.foreign(&packet, random, host.next());
    let came = packet.bytes(Some(account::option(fields)));
    let outcome = host.packet(true, &came);
    assert_eq!(outcome.fate, Fate::Pass, "{packet:?}");
    let kept = stays || packet.has_options();
    let wanted = if kept { came } else { packet.bytes(None) };
    assert_eq!(outcome.bytes.len(), wanted.len(), "{packet:?}");
    // Among other options it is replaced by padding, and a SYN's segment size is lowered.
    if !packet.is_syn() && (stays || !packet.has_options()) {
        assert_eq!(outcome.bytes, wanted, "{packet:?}");
    }
    Made {
        expected: (stays && packet.option_at().is_some()).then_some(fields),
        bytes: outcome.bytes,
        packet,
    }
}
