//! Headers before TCP and UDP, as a client may choose them, and the frames that they make.

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;

/// Kinds of extension headers of IPv6.
const HOPS: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const OPTIONS: u8 = 60;

/// Addresses of a packet's source and destination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hosts {
    pub link: [[u8; 6]; 2],
    pub v4: [[u8; 4]; 2],
    pub v6: [[u8; 16]; 2],
}

impl Hosts {
    /// Returns those of a packet in the other direction.
    pub(crate) fn back(mut self) -> Hosts {
        self.link.reverse();
        self.v4.reverse();
        self.v6.reverse();
        self
    }
}

/// Network layer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Network {
    /// IPv4, with words of options.
    V4 { options: u8 },
    /// IPv6, with extension headers of these kinds.
    V6 { extensions: Vec<u8> },
}

/// Headers from the link layer to the network layer.
#[derive(Clone, Debug)]
pub(crate) struct Wrapping {
    /// EtherType and id of each VLAN tag, the outer one first.
    pub tags: Vec<(u16, u16)>,
    /// True in a session of PPPoE.
    pub session: bool,
    pub network: Network,
    /// Routers that the packet may pass.
    pub hops: u8,
}

impl Wrapping {
    /// Returns IPv4 alone.
    pub(crate) fn plain() -> Wrapping {
        Wrapping {
            tags: Vec::new(),
            session: false,
            network: Network::V4 { options: 0 },
            hops: 64,
        }
    }

    /// Returns any one that the firewall reads.
    pub(super) fn random(random: &mut ChaCha8Rng) -> Wrapping {
        let tags = [0, 0, 1, 2, 3][random.random_range(0..5)];
        let tag = |random: &mut ChaCha8Rng| {
            let kinds = [0x8100, 0x88a8, 0x9100];
            (
                kinds[random.random_range(0..3)],
                random.random_range(1..4095),
            )
        };
        let tags = (0..tags).map(|_| tag(random)).collect();
        let kinds = [OPTIONS, ROUTING, FRAGMENT, AUTHENTICATION];
        Wrapping {
            tags,
            session: random.random_range(0..3) == 0,
            network: Network::random(&kinds, random),
            hops: 64,
        }
    }

    /// Returns any one that Linux takes behind a link's headers.
    pub(super) fn taken_by_linux(
        (tags, session): (&[(u16, u16)], bool),
        random: &mut ChaCha8Rng,
    ) -> Wrapping {
        Wrapping {
            tags: tags.to_vec(),
            session,
            network: Network::random(&[OPTIONS, FRAGMENT], random),
            hops: 64,
        }
    }

    /// Returns the frame of a segment or datagram, whose checksum is still zero.
    pub(crate) fn frame(&self, hosts: &Hosts, protocol: u8, mut transport: Vec<u8>) -> Vec<u8> {
        self.sum(hosts, protocol, &mut transport);
        let packet = match &self.network {
            Network::V4 { options } => ipv4(
                hosts,
                (protocol, self.hops),
                *options,
                [1, 0x4000],
                &transport,
            ),
            Network::V6 { extensions } => {
                let (next, headers) = extended(extensions, protocol);
                ipv6(hosts, (next, self.hops), &[headers, transport].concat())
            }
        };
        self.framed(hosts, &packet)
    }

    /// Writes the checksum of a segment or datagram.
    pub(super) fn sum(&self, hosts: &Hosts, protocol: u8, transport: &mut [u8]) {
        let at = if protocol == TCP { 16 } else { 6 };
        let length = (transport.len() as u32).to_be_bytes();
        let mut all = match self.network {
            Network::V4 { .. } => hosts.v4.concat(),
            Network::V6 { .. } => hosts.v6.concat(),
        };
        all.extend(length);
        all.extend([0, 0, 0, protocol]);
        all.extend(&*transport);
        transport[at..at + 2].copy_from_slice(&checksum(&all));
    }

    /// Returns a packet of IP in a frame.
    pub(super) fn framed(&self, hosts: &Hosts, packet: &[u8]) -> Vec<u8> {
        let [src, dst] = hosts.link;
        let mut frame = [dst, src].concat();
        for (kind, id) in &self.tags {
            frame.extend(kind.to_be_bytes());
            frame.extend(id.to_be_bytes());
        }
        let is_v4 = matches!(self.network, Network::V4 { .. });
        if self.session {
            frame.extend([0x88, 0x64, 0x11, 0, 0, 7]);
            frame.extend((packet.len() as u16 + 2).to_be_bytes());
            frame.extend(if is_v4 { [0, 0x21] } else { [0, 0x57] });
        } else {
            frame.extend(if is_v4 { [8, 0] } else { [0x86, 0xdd] });
        }
        frame.extend(packet);
        frame
    }
}

impl Network {
    fn random(extensions: &[u8], random: &mut ChaCha8Rng) -> Network {
        let is_bare = random.random();
        if random.random() {
            let options = if is_bare {
                0
            } else {
                random.random_range(1..=10)
            };
            return Network::V4 { options };
        }
        let mut kinds = Vec::new();
        if !is_bare {
            if random.random() {
                kinds.push(HOPS);
            }
            let more = random.random_range(1..4);
            kinds.extend(extensions.choose_multiple(random, more));
        }
        Network::V6 { extensions: kinds }
    }
}

/// Returns a segment of TCP without a checksum.
pub(crate) fn segment(
    ports: [u16; 2],
    numbers: [u32; 2],
    (flags, urgent): (u8, u16),
    data: &[u8],
) -> Vec<u8> {
    let mut segment = ports.map(u16::to_be_bytes).concat();
    segment.extend(numbers.map(u32::to_be_bytes).concat());
    segment.extend([0x50, flags, 0xf0, 0, 0, 0]);
    segment.extend(urgent.to_be_bytes());
    segment.extend(data);
    segment
}

/// Returns a datagram of UDP without a checksum.
pub(crate) fn datagram(ports: [u16; 2], data: &[u8]) -> Vec<u8> {
    let mut datagram = ports.map(u16::to_be_bytes).concat();
    datagram.extend((data.len() as u16 + 8).to_be_bytes());
    datagram.extend([0, 0]);
    datagram.extend(data);
    datagram
}

/// Returns a packet of IPv4, with its number and the field of its fragment.
pub(super) fn ipv4(
    hosts: &Hosts,
    (protocol, hops): (u8, u8),
    options: u8,
    [number, fragment]: [u16; 2],
    data: &[u8],
) -> Vec<u8> {
    let bytes = 20 + 4 * usize::from(options);
    let mut packet = vec![0x45 + options, 0];
    packet.extend(((bytes + data.len()) as u16).to_be_bytes());
    packet.extend([number, fragment].map(u16::to_be_bytes).concat());
    packet.extend([hops, protocol, 0, 0]);
    packet.extend(hosts.v4.concat());
    // Options that say nothing.
    packet.resize(bytes, 1);
    let sum = checksum(&packet);
    packet[10..12].copy_from_slice(&sum);
    packet.extend(data);
    packet
}

/// Returns a packet of IPv6.
pub(super) fn ipv6(hosts: &Hosts, (next, hops): (u8, u8), data: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend((data.len() as u16).to_be_bytes());
    packet.extend([next, hops]);
    packet.extend(hosts.v6.concat());
    packet.extend(data);
    packet
}

/// Returns the first header's kind, and extension headers before a protocol.
fn extended(kinds: &[u8], protocol: u8) -> (u8, Vec<u8>) {
    kinds
        .iter()
        .rev()
        .fold((protocol, Vec::new()), |(next, behind), kind| {
            let header = match *kind {
                FRAGMENT => vec![next, 0, 0, 0, 0, 0, 0, 9],
                AUTHENTICATION => [&[next, 4][..], &[0; 22]].concat(),
                ROUTING => vec![next, 0, 2, 0, 0, 0, 0, 0],
                // Options that say nothing.
                _ => vec![next, 0, 1, 4, 0, 0, 0, 0],
            };
            (*kind, [header, behind].concat())
        })
}

/// Returns the checksum of the Internet (RFC 1071).
fn checksum(data: &[u8]) -> [u8; 2] {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| (*low).into());
    let mut sum: u32 = data.chunks(2).map(word).sum();
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    (!(sum as u16)).to_be_bytes()
}
