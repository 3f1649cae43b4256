//! Tests of tunnels, with packets that are still to be segmented too.

use super::{ALL, Net, start_at};
use lab::traffic::{Amount, tcp};
use lab::{
    CLIENT, CLIENT_V4, Ends, Offloads, Pair, Relayed, Route, SERVER, SERVER_V4, Space, Task,
};
use std::net::IpAddr;

const BYTES: u64 = 4 << 20;
/// MTU that leaves room for outer headers.
const MTU: &str = "1400";

/// Programs whose outer headers the kernel can segment after.
const TUNNELS: [&str; 7] = [
    "ip_in_ipv4",
    "ip_in_ipv6",
    "gre",
    "gre_frames",
    "ip_in_udp",
    "vxlan",
    "geneve",
];

fn ends(offloads: Offloads) -> Ends {
    Ends {
        offloads,
        ..Ends::default()
    }
}

fn leave_room(net: &impl Route) {
    for (space, device, own) in [
        (net.client(), "c0", CLIENT_V4),
        (net.server(), "s0", SERVER_V4),
    ] {
        space
            .set(&format!("ipv6/conf/{device}/mtu"), MTU)
            .expect("a route's MTU");
        let own = own.to_string();
        let route = ["ip", "route", "change", "10.7.0.0/24", "dev", device];
        let with = ["src", &own, "mtu", MTU];
        let words: Vec<&str> = route.into_iter().chain(with).collect();
        space.output(&words).expect("a route's MTU");
    }
}

/// Starts a program at both hooks of an end, which is no router's port.
fn at_end(space: &Space, device: &str, program: &str) -> [Task; 2] {
    let port = format!("2={device}");
    ["tc-egress", "tc-ingress"].map(|hook| start_at(space, &["--port", &port], hook, program))
}

/// Checks that streams of both protocols arrive complete in both directions.
fn streams(net: &impl Route, what: &str) {
    let (client, server) = (net.client(), net.server());
    let ways: [(&Space, &Space, IpAddr); 4] = [
        (client, server, SERVER.into()),
        (client, server, SERVER_V4.into()),
        (server, client, CLIENT.into()),
        (server, client, CLIENT_V4.into()),
    ];
    for (port, (from, to, address)) in (7200..).zip(ways) {
        let seen = tcp::between(from, to, (address, port).into(), Amount::Bytes(BYTES));
        let seen = seen.unwrap_or_else(|e| panic!("{what}, to {address}: {e}"));
        assert_eq!(seen.corrupted_at, None, "{what}, to {address}");
        assert_eq!(seen.bytes, BYTES, "{what}, to {address}");
    }
}

#[test]
fn packets_that_are_still_to_be_segmented_go_through_tunnels() {
    for program in TUNNELS {
        for offloads in ALL {
            let pair = Pair::new(ends(offloads)).expect("this test needs root");
            leave_room(&pair);
            let _client = at_end(pair.client(), "c0", program);
            let _server = at_end(pair.server(), "s0", program);
            streams(&pair, &format!("{program}, {offloads:?}"));
        }
    }
}

#[test]
fn tagged_packets_go_through_tunnels() {
    for offloads in ALL {
        let net = Net::new(offloads, &["tag", "tagged_tunnel"]);
        net.on_the_wire(12, &[0x81, 0, 0, 7, 8, 0, 0x45]);
        net.streams();
    }
}

/// A program between the ends is the other end of the tunnel.
#[test]
fn a_router_is_one_end_of_a_tunnel() {
    for program in TUNNELS {
        for offloads in [Offloads::All, Offloads::Software] {
            let net = Relayed::programmed(ends(offloads)).expect("this test needs root");
            leave_room(&net);
            let ports = ["--port", "0=mc", "--port", "1=ms"];
            let _router = start_at(net.middle(), &ports, "tc-ingress", program);
            let _server = at_end(net.server(), "s0", program);
            streams(&net, &format!("{program}, {offloads:?}"));
        }
    }
}

/// The outer header has a length field, so only packets of one segment go through.
#[test]
fn a_header_with_a_length_is_for_packets_of_one_segment() {
    let pair = Pair::new(Ends::default()).expect("this test needs root");
    leave_room(&pair);
    let _client = at_end(pair.client(), "c0", "gtp");
    let _server = at_end(pair.server(), "s0", "gtp");
    for (space, device) in [(pair.client(), "c0"), (pair.server(), "s0")] {
        space.one_segment(device).expect("packets of one segment");
    }
    streams(&pair, "gtp");
}
