//! Random schedules of a client that may want to hide a name: in which segments its bytes come, and what else comes between.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// A packet of the client.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    /// Distance of its first byte from the stream's first one.
    pub at: u32,
    pub data: Vec<u8>,
    pub flags: u8,
    /// Sequence number of a connection that is not the client's own.
    pub other: bool,
    /// False if the server does not get it, or discards it: its TTL is small, or its checksum is wrong.
    pub arrives: bool,
}

pub(super) const FIN: u8 = 1;
pub(crate) const SYN: u8 = 2;
pub(super) const RST: u8 = 4;
pub(crate) const ACK: u8 = 16;
pub(super) const URG: u8 = 32;

/// Packets of a client, and whether the server may get something else than the stream.
pub(super) struct Schedule {
    /// All bytes that are sent, in order.
    pub stream: Vec<u8>,
    pub packets: Vec<Sent>,
    pub conflicts: bool,
    /// Place of a byte that the server's application does not read, since it is urgent.
    pub urgent: Option<u32>,
}

impl Schedule {
    /// Returns the offset of the urgent byte among some bytes at a place.
    pub(super) fn urgent_of(&self, at: u32, data: &[u8]) -> Option<u32> {
        let offset = self.urgent?.checked_sub(at)?;
        (offset < data.len() as u32).then_some(offset)
    }

    /// Returns one that sends a stream as it is, and ends.
    pub(super) fn plain(stream: &[u8], end: u8) -> Schedule {
        let packet = |at: usize, flags, data: &[u8]| Sent {
            at: at as u32,
            data: data.to_vec(),
            flags,
            other: false,
            arrives: true,
        };
        Schedule {
            stream: stream.to_vec(),
            packets: vec![
                packet(0, SYN, &[]),
                packet(0, ACK, stream),
                packet(stream.len(), end, &[]),
            ],
            conflicts: false,
            urgent: None,
        }
    }
}

/// Makes a schedule for a stream. `decoy` has the same length.
pub(super) fn schedule(stream: &[u8], decoy: &[u8], random: &mut ChaCha8Rng) -> Schedule {
    let urgent = (random.random_range(0..12) == 0).then(|| random.random_range(1..stream.len()));
    let (mut stream, mut decoy) = (stream.to_vec(), decoy.to_vec());
    if let Some(at) = urgent {
        let byte = random.random();
        stream.insert(at, byte);
        decoy.insert(at, byte);
    }
    let (packets, conflicts) = packets(&stream, &decoy, random);
    Schedule {
        stream,
        packets,
        conflicts: conflicts || urgent.is_some(),
        urgent: urgent.map(|at| at as u32),
    }
}

/// Makes the packets of a stream. Returns true too if the server may get something else.
fn packets(stream: &[u8], decoy: &[u8], random: &mut ChaCha8Rng) -> (Vec<Sent>, bool) {
    let segment = |at: usize, data: &[u8]| Sent {
        at: at as u32,
        data: data.to_vec(),
        flags: ACK,
        other: false,
        arrives: true,
    };
    let syn = |data: &[u8], other, arrives| Sent {
        flags: SYN,
        other,
        arrives,
        ..segment(0, data)
    };
    let mut conflicts = false;
    let mut packets = Vec::new();
    for _ in 0..random.random_range(0..2) {
        conflicts = true;
        let early = if random.random() { decoy } else { &[][..] };
        packets.push(syn(early, random.random(), random.random()));
    }
    let early = random.random_range(0..8) == 0;
    let early = if early {
        random.random_range(1..stream.len())
    } else {
        0
    };
    packets.push(syn(&stream[..early], false, true));

    let pieces = match random.random_range(0..4) {
        0 => stream.len(),
        _ => random.random_range(1..6),
    };
    let mut cuts: Vec<usize> = match pieces == stream.len() {
        true => (0..=pieces).collect(),
        false => (1..pieces)
            .map(|_| random.random_range(0..=stream.len()))
            .collect(),
    };
    cuts.extend([0, stream.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    let mut all: Vec<Sent> = cuts
        .windows(2)
        .map(|cut| segment(cut[0], &stream[cut[0]..cut[1]]))
        .collect();
    let range = |random: &mut ChaCha8Rng| {
        let from = random.random_range(0..stream.len());
        from..random.random_range(from..=stream.len())
    };
    for _ in 0..random.random_range(0..4) {
        let place = random.random_range(0..=all.len());
        let part = range(random);
        let more = match random.random_range(0..7) {
            0 | 1 => segment(part.start, &stream[part]),
            2 => Sent {
                arrives: random.random(),
                ..segment(part.start, &decoy[part])
            },
            3 => syn(&[], true, random.random()),
            4 => Sent {
                flags: RST,
                arrives: false,
                ..segment(part.start, &[])
            },
            5 => Sent {
                flags: ACK | FIN,
                arrives: random.random_range(0..4) == 0,
                ..segment(part.start, &stream[part])
            },
            _ => Sent {
                arrives: false,
                ..segment(part.start, &stream[part])
            },
        };
        conflicts |= more
            .data
            .iter()
            .zip(&stream[more.at as usize..])
            .any(|(a, b)| a != b);
        conflicts |= more.other || more.flags & FIN != 0 && more.arrives;
        all.insert(place, more);
    }
    if random.random() {
        for _ in 0..random.random_range(1..4) {
            let (a, b) = (
                random.random_range(0..all.len()),
                random.random_range(0..all.len()),
            );
            all.swap(a, b);
        }
    }
    packets.extend(all);
    (packets, conflicts)
}
