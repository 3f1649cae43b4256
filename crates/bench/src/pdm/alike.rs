//! Checks that the versions behave alike: otherwise a comparison means nothing. It leaves out features that the
//! hand-written programs do not implement (see their README).

use super::account::{self, Account};
use super::packets::{
    DESTINATION_OPTIONS, DTLS, NEXT_HEADER, OPTION, PAYLOAD_LENGTH, PSNLR, PSNTP, SCALE_DTLS,
    TRANSPORT, answer, icmpv6, run, run_with, tcp, udp,
};
use super::programs::{Code, Codes, End, Offloaded, Version};
use crate::error::Error;
use kernel::sys::TcContext;
use std::io;

/// Versions that mark packets and keep state.
const VERSIONS: [Version; 3] = [Version::Onpath, Version::HandWritten, Version::WeakerHash];

/// Fails if a version does not do what it should, or if they differ.
pub(crate) fn check(codes: &Codes) -> Result<(), Error> {
    let mut all = Vec::new();
    for (version, code) in VERSIONS.iter().zip(codes.of(&VERSIONS)) {
        let done = done(code).map_err(|e| Error::new(format!("{}: {e}", version.name())))?;
        all.push(done);
    }
    match &all[..] {
        [one, others @ ..] if others.iter().all(|other| one == other) => Ok(()),
        _ => Err(Error::new(format!(
            "the programs behave differently: compiled and hand-written: {all:x?}"
        ))),
    }
}

/// Result of a version: the packets that it made, and the state of a flow.
#[derive(PartialEq, Debug)]
struct Done {
    packets: Vec<(&'static str, Vec<u8>)>,
    flow: Account,
}

fn done(code: &Code) -> Result<Done, Error> {
    let end = code
        .load(Offloaded::Left)?
        .ok_or_else(|| Error::new("there is nothing to compare"))?;
    follow(&end).map_err(Error::system("test runs"))?;
    let flow = account::of(&end)?.ok_or_else(|| Error::new("no flow is known"))?;
    let packets = outcomes(&end).map_err(Error::system("test runs"))?;
    Ok(Done { packets, flow })
}

/// Returns the packet with the option, as the other host would send it.
fn marked(packet: &[u8], psn: u16, answered: u16, reports: bool) -> Vec<u8> {
    let mut option = [0; OPTION];
    option[..4].copy_from_slice(&[packet[NEXT_HEADER], 1, 0x0f, 10]);
    option[14] = 1;
    let mut marked = packet.to_vec();
    marked[NEXT_HEADER] = DESTINATION_OPTIONS;
    let length = (packet.len() - TRANSPORT + OPTION) as u16;
    marked[PAYLOAD_LENGTH..NEXT_HEADER].copy_from_slice(&length.to_be_bytes());
    marked.splice(TRANSPORT..TRANSPORT, option);
    marked[PSNTP..PSNTP + 2].copy_from_slice(&psn.to_be_bytes());
    marked[PSNLR..PSNLR + 2].copy_from_slice(&answered.to_be_bytes());
    if reports {
        marked[SCALE_DTLS] = 30;
        marked[DTLS..DTLS + 2].copy_from_slice(&0x8000u16.to_be_bytes());
    }
    marked
}

/// Returns the results of packets of each kind. Times and randomly seeded numbers are zeroed.
fn outcomes(end: &End) -> io::Result<Vec<(&'static str, Vec<u8>)>> {
    const ACK: u8 = 0x10;
    const SYN: u8 = 2;
    let whole = TcContext::default();
    let offloaded = TcContext {
        gso_segs: 2,
        gso_size: 1000,
        ..whole
    };
    let about = |packet: Vec<u8>| packet[14..].to_vec();
    let jumbogram = {
        let mut packet = udp(64);
        packet[PAYLOAD_LENGTH..NEXT_HEADER].fill(0);
        packet
    };
    let too_big = |mtu| answer(&icmpv6(2, mtu, &about(udp(64))));
    // 1288 bytes with their IPv6 header.
    let long = || udp(1240);
    let (out, into) = (&end.egress, &end.ingress);
    let grows = OPTION as isize;
    let all = [
        ("UDP", out, udp(64), whole, grows),
        ("TCP", out, tcp(ACK, 9000), whole, grows),
        ("SYN", out, tcp(SYN, 0xffff), whole, grows),
        ("echo", out, icmpv6(128, 7, &[1; 8]), whole, grows),
        ("error", out, icmpv6(1, 0, &about(udp(64))), whole, 0),
        ("too big", out, icmpv6(2, 1300, &about(udp(64))), whole, 0),
        ("neighbour", out, icmpv6(135, 0, &[0; 16]), whole, 0),
        ("carrying", out, marked(&udp(64), 7, 0, true), whole, 0),
        ("no length", out, jumbogram, whole, 0),
        ("offloaded", out, udp(1400), offloaded, 0),
        ("long", out, long(), whole, grows),
        ("unmarked", into, answer(&udp(64)), whole, 0),
        ("ordinary SYN", into, answer(&tcp(SYN, 1440)), whole, 0),
        ("unmarked SYN", into, answer(&tcp(SYN, 0xffff)), whole, 0),
        (
            "SYN",
            into,
            marked(&answer(&tcp(SYN, 0xffff)), 1, 0, false),
            whole,
            -grows,
        ),
        (
            "UDP",
            into,
            marked(&answer(&udp(64)), 1, 0, false),
            whole,
            -grows,
        ),
        (
            "echo",
            into,
            marked(&answer(&icmpv6(129, 7, &[1; 8])), 1, 0, false),
            whole,
            -grows,
        ),
        (
            "neighbour",
            into,
            marked(&answer(&icmpv6(136, 7, &[1; 16])), 1, 0, false),
            whole,
            0,
        ),
        ("narrow path", into, too_big(1300), whole, 0),
        ("long, narrow", out, long(), whole, 0),
        ("wide path", into, too_big(1500), whole, 0),
        ("long, still narrow", out, long(), whole, 0),
        ("short, narrow", out, udp(64), whole, grows),
    ];
    let mut made = Vec::new();
    for (name, prog, packet, context, growth) in all {
        let mut after = Vec::new();
        run_with(prog, &packet, &mut after, context)?;
        let grown = after.len() as isize - packet.len() as isize;
        if grown != growth {
            let grew = format!("{name}: the packet grew by {grown} instead of {growth}");
            return Err(io::Error::other(grew));
        }
        if grown > 0 {
            after[SCALE_DTLS - 1..DTLS + 2].fill(0);
        }
        made.push((name, after));
    }
    Ok(made)
}

/// Runs packets of a flow as real ones arrive: with losses, late packets, duplicates, and a host that restarts.
fn follow(end: &End) -> io::Result<()> {
    const NUMBERS: [(u16, bool); 19] = [
        (65_530, false),
        (65_531, true),
        (65_533, true),
        (65_532, true),
        (65_533, true),
        (3, true),
        (60, true),
        (65_535, true),
        (3, true),
        // Far ahead: the host reported a delay and still reports one.
        (9000, true),
        (9001, true),
        // One number far behind, then back to the sequence.
        (200, true),
        (9002, true),
        // Several in a row that are far behind.
        (300, true),
        (301, true),
        (302, true),
        // It reports no delay any more: the host restarted, first ahead and then behind.
        (20_000, false),
        (20_001, true),
        (5, false),
    ];
    let mut out = Vec::new();
    for (psn, reports) in NUMBERS {
        run(&end.egress, &udp(64), &mut out)?;
        let number = out
            .get(PSNTP..PSNTP + 2)
            .ok_or(io::ErrorKind::InvalidData)?;
        let sent = u16::from_be_bytes([number[0], number[1]]);
        run(
            &end.ingress,
            &marked(&answer(&udp(64)), psn, sent, reports),
            &mut out,
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_versions_do_the_same_and_know_hosts_that_begin_anew() {
        let root = crate::root();
        let of = |version| {
            let code = Code::build(&root, version).expect("this test needs clang");
            done(&code).expect("this test needs root")
        };
        let [compiled, hand_written, weaker_hash] = VERSIONS.map(of);
        assert_eq!(compiled, hand_written);
        assert_eq!(compiled, weaker_hash);
        let flow = hand_written.flow;
        let field = |name| flow[name];
        assert_eq!((field("received"), field("sent")), (19, 19));
        assert_eq!((field("samples"), field("duplicates")), (17, 2));
        // 65,532 and 65,535; 200 and the first of the two.
        assert_eq!(field("reordered"), 4);
        assert_eq!((field("psn_highest"), field("window")), (5, 1));
        // From 65,530 to 9002, then 300 to 302, then 20,000 and 20,001, then 5.
        assert_eq!(field("expected"), 9002 + 6 + 1 + 3 + 2 + 1);
    }
}
