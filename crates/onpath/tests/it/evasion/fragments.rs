//! Fragments of IP against a server of Linux: requests cut at every place where a fragment may end, in several orders.

use super::client::Client;
use super::net::hosts;
use super::protocol::{BLOCKED, OTHER, Protocol};
use super::schedule::{ACK, SYN};
use super::service::Service;
use super::wrapping::{Hosts, Network, TCP, UDP, Wrapping, datagram, ipv4, ipv6, segment};
use net::raw_socket::RawSocket;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Time in which requests arrive.
const PATIENCE: Duration = Duration::from_millis(700);

/// Order in which the fragments of a packet come.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    Same,
    Reverse,
    /// The second half first, and then a fragment of another request over the whole.
    Overlapped,
}

impl Order {
    /// Those in which a server has the packet at last.
    pub(super) const WHOLE: [Order; 2] = [Order::Same, Order::Reverse];
    pub(super) const ALL: [Order; 3] = [Order::Same, Order::Reverse, Order::Overlapped];
}

/// Requests of each protocol, with a name. The query over UDP is the last.
fn requests(name: &str) -> Vec<(u8, u16, Vec<u8>)> {
    let of = |protocol: Protocol| protocol.stream(name, &mut ChaCha8Rng::seed_from_u64(3));
    let query = of(Protocol::Dns);
    // The last query of the stream, without its length.
    let at = query.len() - name.len() - 18;
    let mut all: Vec<_> = Protocol::ALL
        .map(|protocol| (TCP, protocol.port(), of(protocol)))
        .into();
    all.push((UDP, 53, query[at..].to_vec()));
    all
}

fn wrappings() -> [Wrapping; 2] {
    let v6 = Network::V6 {
        extensions: Vec::new(),
    };
    let [v4, mut other] = [Wrapping::plain(), Wrapping::plain()];
    other.network = v6;
    [v4, other]
}

/// Returns the fragments of a segment or datagram.
fn fragments(
    wrapping: &Wrapping,
    hosts: &Hosts,
    (protocol, number): (u8, u16),
    transport: &[u8],
    size: usize,
) -> Vec<Vec<u8>> {
    let parts = transport.chunks(size).zip((0..).step_by(size));
    let parts = parts.map(|(part, at)| {
        let is_last = at + part.len() == transport.len();
        let packet = match wrapping.network {
            Network::V4 { .. } => {
                let field = (at as u16 / 8) | (u16::from(!is_last) << 13);
                ipv4(hosts, (protocol, 64), 0, [number, field], part)
            }
            Network::V6 { .. } => {
                let field = at as u16 | u16::from(!is_last);
                let [place, low] = [field, number].map(u16::to_be_bytes);
                let header = [&[protocol, 0], &place[..], &[0, 0], &low].concat();
                ipv6(hosts, (44, 64), &[&header, part].concat())
            }
        };
        wrapping.framed(hosts, &packet)
    });
    parts.collect()
}

/// A client that sends requests in fragments, each from a port of its own.
pub(super) struct Fragments<'t> {
    raw: &'t RawSocket,
    service: &'t Service,
    port: u16,
}

impl<'t> Fragments<'t> {
    pub(super) fn new(raw: &'t RawSocket, service: &'t Service) -> Fragments<'t> {
        Fragments {
            raw,
            service,
            port: 2000,
        }
    }

    /// Sends each request in fragments of each size, and in each order. Returns how many there were, and how many of them the server read.
    pub(super) fn sent(&mut self, sizes: &[usize], orders: &[Order]) -> (u64, u64) {
        let mut all = Vec::new();
        for wrapping in wrappings() {
            for (request, other) in requests(BLOCKED).iter().zip(requests(OTHER)) {
                let headers = if request.0 == TCP { 20 } else { 8 };
                let longest = headers + request.2.len();
                // Of IPv6, the first fragment has to have all headers (RFC 8200, section 4.5).
                let least = match wrapping.network {
                    Network::V4 { .. } => 0,
                    Network::V6 { .. } => headers,
                };
                let fit = |size: &&usize| (least..longest).contains(*size);
                for size in sizes.iter().filter(fit) {
                    for order in orders {
                        let own = self.send(&wrapping, request, &other.2, *size, *order);
                        all.push((request.clone(), own));
                    }
                }
            }
        }
        let begun = Instant::now();
        let read = all.iter().filter(|((protocol, _, request), own)| {
            let patience = PATIENCE.saturating_sub(begun.elapsed());
            let read = match *protocol {
                TCP => self.service.stream(*own, request.len(), patience),
                _ => self.service.datagrams(*own, 1, patience).concat(),
            };
            read == *request
        });
        (all.len() as u64, read.count() as u64)
    }

    /// Sends a request in fragments, and returns the client.
    fn send(
        &mut self,
        wrapping: &Wrapping,
        (protocol, port, request): &(u8, u16, Vec<u8>),
        other: &[u8],
        size: usize,
        order: Order,
    ) -> (IpAddr, u16) {
        self.port += 1;
        let hosts = hosts(0);
        let ports = [self.port, *port];
        let mut client = Client::new(self.raw, hosts, wrapping.clone(), ports);
        if *protocol == TCP {
            client.send(client.first - 1, SYN, None, &[]);
            let opens = client.wait(Duration::from_secs(2), |client| client.peer.is_some());
            assert!(opens, "a connection opens");
        }
        let peer = client.peer.map_or(0, |peer| peer.wrapping_add(1));
        let own = (*protocol, self.port);
        let cut = |data: &[u8], size: usize| {
            let mut transport = match *protocol {
                TCP => segment(ports, [client.first, peer], (ACK, 0), data),
                _ => datagram(ports, data),
            };
            wrapping.sum(&hosts, *protocol, &mut transport);
            fragments(wrapping, &hosts, own, &transport, size)
        };
        let mut frames = cut(request, size);
        match order {
            Order::Same => {}
            Order::Reverse => frames.reverse(),
            Order::Overlapped => {
                let half = frames.len() / 2;
                frames.rotate_left(half);
                frames.extend(cut(other, size * 2));
            }
        }
        for frame in &frames {
            self.raw.send(frame).expect("a fragment is sent");
        }
        client.own()
    }
}
