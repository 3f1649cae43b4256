//! Packets for tests, built by `etherparse`.

use etherparse::PacketBuilder;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const A: [u8; 6] = [2, 0, 0, 0, 0, 1];
const B: [u8; 6] = [2, 0, 0, 0, 0, 2];

/// Builds a UDP packet from 10.0.0.`from` to 10.0.1.`to`.
pub(crate) fn udp(from: u8, to: u8, ports: (u16, u16), payload: &[u8]) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2(A, B)
        .ipv4([10, 0, 0, from], [10, 0, 1, to], 64)
        .udp(ports.0, ports.1);
    let mut packet = Vec::new();
    builder.write(&mut packet, payload).expect("it fits");
    packet
}

/// Builds a TCP packet between addresses of the same IP version.
pub(crate) fn tcp(from: IpAddr, to: IpAddr, ports: (u16, u16), payload: &[u8]) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2(A, B);
    let builder = match (from, to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => builder.ipv4(from.octets(), to.octets(), 63),
        (IpAddr::V6(from), IpAddr::V6(to)) => builder.ipv6(from.octets(), to.octets(), 61),
        _ => panic!("two versions"),
    };
    let mut packet = Vec::new();
    let builder = builder.tcp(ports.0, ports.1, 0x0102_0304, 512).syn().psh();
    builder.write(&mut packet, payload).expect("it fits");
    packet
}

/// Builds a segment of the connection between port `port` of 10.0.0.1, the client, and port `of` of 10.0.1.1.
pub(crate) fn segment(port: u16, of: u16, from: End, first: u32, payload: &[u8]) -> Vec<u8> {
    let (client, server) = ([10, 0, 0, 1], [10, 0, 1, 1]);
    let builder = PacketBuilder::ethernet2(A, B);
    let builder = match from {
        End::Client => builder.ipv4(client, server, 64).tcp(port, of, first, 512),
        End::Server => builder.ipv4(server, client, 64).tcp(of, port, first, 512),
    };
    let builder = match payload.is_empty() {
        true => builder.syn(),
        false => builder.ack(1),
    };
    let mut packet = Vec::new();
    builder.write(&mut packet, payload).expect("it fits");
    packet
}

/// Endpoint of a connection that sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    Client,
    Server,
}

/// Builds an IPv4 packet in a VLAN.
pub(crate) fn tagged(id: u16) -> Vec<u8> {
    let id = id.try_into().expect("12 bits");
    let builder = PacketBuilder::ethernet2(A, B)
        .single_vlan(id)
        .ipv4([10, 0, 0, 1], [10, 0, 1, 1], 1)
        .udp(1, 2);
    let mut packet = Vec::new();
    builder.write(&mut packet, b"x").expect("it fits");
    packet
}

/// Returns packets of all kinds: every header, payloads of the toy messages, fragments, truncated packets and noise.
pub(crate) fn mix() -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    for i in 0..200u8 {
        let text = format!("method=GET;host=h{};size={i}\n", i % 7);
        packets.push(udp(
            i % 5,
            i % 3,
            (1000 + u16::from(i), 7000),
            text.as_bytes(),
        ));
        let (four, six) = (
            Ipv4Addr::new(10, 0, 0, i),
            Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, i.into()),
        );
        packets.push(tcp(
            four.into(),
            Ipv4Addr::new(192, 0, 2, 1).into(),
            (4000, 80),
            &[0; 40],
        ));
        packets.push(tcp(
            six.into(),
            Ipv6Addr::LOCALHOST.into(),
            (443, 5000),
            b"",
        ));
        packets.push(tagged(u16::from(i % 4)));
        let whole = udp(1, 2, (53, 53), &[0; 64]);
        packets.push(whole[..usize::from(i) % whole.len()].to_vec());
        let mut fragment = whole.clone();
        fragment[20] = 0x20;
        packets.push(fragment);
        packets.push(vec![i; usize::from(i)]);
    }
    packets
}
