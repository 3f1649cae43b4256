//! Random packets of all kinds that the measurement may see.

use rand::Rng;

const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION: u8 = 60;

/// Upper layer of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Upper {
    Tcp,
    /// Opens a connection and announces this maximum segment size.
    Syn(u16),
    Udp,
    Echo,
    /// Neighbour discovery, which is not measured.
    Solicitation,
}

/// A packet that this host or the other one makes.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    /// True if it comes from the other host.
    pub incoming: bool,
    tags: Vec<u16>,
    /// An extension header, and true if it marks a fragment.
    extension: Option<(u8, bool)>,
    /// Options that the packet has already.
    options: Option<Vec<u8>>,
    upper: Upper,
    remote: u8,
    local_port: u16,
    remote_port: u16,
    payload: usize,
}

impl Packet {
    /// Returns a random packet.
    pub(crate) fn random(random: &mut impl Rng) -> Packet {
        let incoming = random.random_range(0..3) == 0;
        let upper = match random.random_range(0..12) {
            0..4 => Upper::Tcp,
            4 => Upper::Syn([536, 1440, 0xffff][random.random_range(0..3)]),
            5 => Upper::Solicitation,
            6..8 => Upper::Echo,
            _ => Upper::Udp,
        };
        let tags: [&[u16]; 8] = [&[], &[], &[], &[], &[], &[], &[0x8100], &[0x88a8, 0x8100]];
        let extension = match random.random_range(0..10) {
            0 => Some((HOP_BY_HOP, false)),
            1 => Some((ROUTING, false)),
            2 => Some((FRAGMENT, false)),
            3 => Some((FRAGMENT, true)),
            _ => None,
        };
        let options: [&[u8]; 4] = [
            &[1, 4, 0, 0, 0, 0],
            &[0x1e, 4, 1, 2, 3, 4],
            &[0x1e, 2, 1, 2, 0, 0],
            &[1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ];
        Packet {
            incoming,
            tags: tags[random.random_range(0..8)].to_vec(),
            extension,
            options: (random.random_range(0..4) == 0)
                .then(|| options[random.random_range(0..4)].to_vec()),
            upper,
            remote: random.random_range(2..6),
            local_port: random.random_range(40_000..40_003),
            remote_port: random.random_range(50_000..50_003),
            payload: random.random_range(0..300),
        }
    }

    /// Returns its flow: protocol, other host, and both ports.
    pub(crate) fn flow(&self) -> (u8, u8, u16, u16) {
        match self.protocol() {
            ICMPV6 => (ICMPV6, self.remote, 0, 0),
            other => (other, self.remote, self.local_port, self.remote_port),
        }
    }

    /// Returns true if it is no fragment.
    pub(crate) fn is_whole(&self) -> bool {
        !matches!(self.extension, Some((_, true)))
    }

    /// Returns true if it has options of its own.
    pub(crate) fn has_options(&self) -> bool {
        self.options.is_some()
    }

    /// Returns true if it opens a connection, so that its maximum segment size may be lowered.
    pub(crate) fn is_syn(&self) -> bool {
        matches!(self.upper, Upper::Syn(_))
    }

    /// Returns the offset of the measurement's option, in bytes, if the packet can have it.
    pub(crate) fn option_at(&self) -> Option<usize> {
        let extension = self.extension(0).map_or(0, |header| header.len());
        let measured = self.is_whole() && self.upper != Upper::Solicitation;
        measured.then_some(14 + 4 * self.tags.len() + 40 + extension + 2)
    }

    /// Returns its bytes, with the option if it can have one.
    pub(crate) fn bytes(&self, option: Option<[u8; 12]>) -> Vec<u8> {
        let option = option.filter(|_| self.option_at().is_some());
        let mut options = self.options.clone().unwrap_or_default();
        if let Some(option) = option {
            options.extend(option);
            match options.len() % 8 {
                4 => options.extend([1, 0]),
                _ => options.extend([1, 2, 0, 0]),
            }
        }
        let mut headers = Vec::new();
        let mut next = self.protocol();
        if !options.is_empty() {
            headers.extend([next, (options.len() / 8) as u8]);
            headers.extend(&options);
            next = DESTINATION;
        }
        if let Some(extension) = self.extension(next) {
            headers.splice(0..0, extension);
            next = self.extension.map_or(next, |(kind, _)| kind);
        }
        let upper = self.upper_layer();
        let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
        for tag in &self.tags {
            bytes.extend(tag.to_be_bytes());
            bytes.extend([0, 100]);
        }
        bytes.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
        bytes.extend(((headers.len() + upper.len()) as u16).to_be_bytes());
        bytes.extend([next, 255]);
        let (source, destination) = self.addresses();
        bytes.extend(source);
        bytes.extend(destination);
        bytes.extend(headers);
        bytes.extend(upper);
        bytes
    }

    fn protocol(&self) -> u8 {
        match self.upper {
            Upper::Tcp | Upper::Syn(_) => TCP,
            Upper::Udp => UDP,
            Upper::Echo | Upper::Solicitation => ICMPV6,
        }
    }

    fn addresses(&self) -> ([u8; 16], [u8; 16]) {
        let address = |host: u8| {
            let mut address = [0; 16];
            (address[0], address[15]) = (0xfd, host);
            address
        };
        let (local, remote) = (address(1), address(self.remote));
        match self.incoming {
            true => (remote, local),
            false => (local, remote),
        }
    }

    fn extension(&self, next: u8) -> Option<Vec<u8>> {
        let (kind, part) = self.extension?;
        Some(match kind {
            HOP_BY_HOP => vec![next, 0, 5, 2, 0, 0, 1, 0],
            // Segments left: 0.
            ROUTING => [&[next, 2, 4, 0, 0, 0, 0, 0][..], &self.addresses().1].concat(),
            _ => vec![next, 0, 0, u8::from(part), 1, 2, 3, 4],
        })
    }

    fn upper_layer(&self) -> Vec<u8> {
        let ports = match self.incoming {
            true => [self.remote_port, self.local_port],
            false => [self.local_port, self.remote_port],
        };
        let ports: Vec<u8> = ports.iter().flat_map(|port| port.to_be_bytes()).collect();
        let tcp = |length: u8, flags: u8| {
            [
                0,
                0,
                0,
                1,
                0,
                0,
                0,
                2,
                length << 4,
                flags,
                0x20,
                0,
                0,
                0,
                0,
                0,
            ]
        };
        let payload = vec![b'o'; self.payload];
        let (mut bytes, sum_at) = match self.upper {
            Upper::Tcp => ([&ports, &tcp(5, 0x10)[..], &payload].concat(), 16),
            Upper::Syn(size) => {
                let [high, low] = size.to_be_bytes();
                // After another option and at an odd offset.
                let options = [4, 2, 1, 2, 4, high, low, 0];
                ([&ports, &tcp(7, 2)[..], &options].concat(), 16)
            }
            Upper::Udp => {
                let length = (8 + payload.len()) as u16;
                let header = [length.to_be_bytes(), [0, 0]].concat();
                ([&ports[..], &header, &payload].concat(), 6)
            }
            Upper::Echo => ([&[128, 0, 0, 0, 0, 1, 0, 1], &payload[..]].concat(), 2),
            Upper::Solicitation => (
                [&[135, 0, 0, 0, 0, 0, 0, 0], &self.addresses().1[..]].concat(),
                2,
            ),
        };
        let sum = self.checksum(&bytes);
        bytes[sum_at..sum_at + 2].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    /// Returns the checksum of the upper layer with its pseudo header.
    fn checksum(&self, upper: &[u8]) -> u16 {
        let (source, destination) = self.addresses();
        let length = (upper.len() as u32).to_be_bytes();
        let words = [
            &source[..],
            &destination,
            &length,
            &[0, 0, 0, self.protocol()],
            upper,
        ]
        .concat();
        let word = |pair: &[u8]| u64::from(pair[0]) << 8 | pair.get(1).map_or(0, |&low| low.into());
        let mut sum: u64 = words.chunks(2).map(word).sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        match !(sum as u16) {
            0 => 0xffff,
            sum => sum,
        }
    }
}
