//! Check of a stream that loses packets in transit, against the relay's counts.

use crate::account::print_lines;
use crate::measured::{FlowOutput, Measured};
use crate::soak_time;
use lab::traffic::{Amount, tcp};
use lab::{Conditions, Counts, Pick, Relayed};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
const EVERY: u64 = 97;

/// Tests a stream in which every [`EVERY`]th packet towards the server is lost. Each direction takes a millisecond.
pub(crate) fn a_tcp_connection_with_losses(net: &Relayed, ends: &[Measured<'_>; 2], port: u16) {
    let back = Conditions {
        delay: MS,
        ..Conditions::default()
    };
    let there = Conditions {
        loss: Pick::Every(EVERY),
        delay: MS,
        ..Conditions::default()
    };
    let relay = net.relay(there, back).expect("starts");
    let amount = soak_time().map_or(Amount::Bytes(3_000_000), Amount::Time);
    let seen = tcp::transfer(net, port, amount).expect("works");
    relay.wait_until_quiet().expect("ends");
    let [there, back] = relay.finish().expect("works");
    assert_eq!(seen.corrupted_at, None);
    assert!(there.lost > 10, "{there:?}");
    let [client, server] = ends.each_ref().map(|end| end.metrics());
    let (client, server) = (client.flow("tcp", port), server.flow("tcp", port));
    // Each packet on the wire had its own option and sequence number. Packets that the relay had no room for are lost
    // too.
    for (direction, counts, from, to) in [
        ("there", &there, &client, &server),
        ("back", &back, &server, &client),
    ] {
        let lost = counts.lost + counts.overflowed;
        assert_eq!(
            from.number("packets_sent"),
            counts.passed + lost,
            "{direction}"
        );
        assert_eq!(to.number("packets_received"), counts.passed, "{direction}");
        assert_eq!(to.number("packets_lost"), lost, "{direction}");
        assert_eq!(to.number("packets_duplicated"), 0, "{direction}");
    }
    let line = |direction: &str, counts: &Counts, from: &FlowOutput, to: &FlowOutput| {
        format!(
            "  {direction}: the relay had {} packets and lost {}; reported: {} sent, {} received, {} lost",
            counts.seen + counts.overflowed,
            counts.lost + counts.overflowed,
            from.number("packets_sent"),
            to.number("packets_received"),
            to.number("packets_lost"),
        )
    };
    print_lines(&format!(
        "\nconformant, with losses, TCP stream: {:.1} s; {} bytes arrived, every one as sent; longest gap {:.1} ms\n\
         {}\n{}",
        seen.time.as_secs_f64(),
        seen.bytes,
        1e3 * seen.longest_gap.as_secs_f64(),
        line("client to server", &there, &client, &server),
        line("server to client", &back, &server, &client),
    ));
}
