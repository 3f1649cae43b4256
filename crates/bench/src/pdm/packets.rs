//! The packets of test runs, and running programs on them.

use kernel::sys::{Prog, TcContext};
use std::io;

/// Where the IPv6 header has its fields, from the Ethernet header.
pub(crate) const PAYLOAD_LENGTH: usize = 18;
/// The IPv6 header's.
pub(crate) const NEXT_HEADER: usize = 20;
const SOURCE: usize = 22;
const DESTINATION: usize = 38;
/// After the IPv6 header: the option's header, or the ports.
pub(crate) const TRANSPORT: usize = 54;
/// What the option takes, with the header around it.
pub(crate) const OPTION: usize = 16;
/// The packet's sequence number, where it has the option.
pub(crate) const PSNTP: usize = TRANSPORT + 6;
/// The last one received, likewise.
pub(crate) const PSNLR: usize = TRANSPORT + 8;
/// The delay since the last one sent, and its scale.
pub(crate) const DTLS: usize = TRANSPORT + 12;
/// Likewise.
pub(crate) const SCALE_DTLS: usize = TRANSPORT + 5;
/// The protocol numbers.
pub(crate) const DESTINATION_OPTIONS: u8 = 60;
/// Likewise.
pub(crate) const TCP: u8 = 6;
/// Likewise.
pub(crate) const ICMPV6: u8 = 58;
const UDP: u8 = 17;

/// A packet to the other host.
pub(crate) fn ipv6(next: u8, upper: &[u8]) -> Vec<u8> {
    let mut packet = vec![
        2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd, 0x60, 0, 0, 0,
    ];
    packet.extend((upper.len() as u16).to_be_bytes());
    packet.extend([next, 64]);
    for host in [1, 2] {
        packet.extend([0xfd, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]);
    }
    packet.extend(upper);
    packet
}

/// UDP with so many bytes of payload.
pub(crate) fn udp(payload: usize) -> Vec<u8> {
    let length = (8 + payload as u16).to_be_bytes();
    let mut upper = vec![0x9c, 0x40, 0x14, 0x51, length[0], length[1], 0, 0];
    upper.resize(8 + payload, 0x5a);
    ipv6(UDP, &upper)
}

/// TCP without payload: flags, and a maximum segment size.
pub(crate) fn tcp(flags: u8, mss: u16) -> Vec<u8> {
    let mut upper = vec![0x9c, 0x40, 0x14, 0x51, 0, 0, 0, 1, 0, 0, 0, 0, 0x70, flags];
    upper.extend([0xff, 0xff, 0x12, 0x34, 0, 0, 1, 2, 4]);
    upper.extend(mss.to_be_bytes());
    // After one option without meaning, so that the size is at an odd offset.
    upper.extend([1, 1, 1]);
    ipv6(TCP, &upper)
}

/// ICMPv6 of a type, with a word and what it is about.
pub(crate) fn icmpv6(kind: u8, word: u32, about: &[u8]) -> Vec<u8> {
    let mut upper = vec![kind, 0, 0, 0];
    upper.extend(word.to_be_bytes());
    upper.extend(about);
    ipv6(ICMPV6, &upper)
}

/// From the other host: addresses, and ports if there are any, exchanged.
pub(crate) fn answer(to: &[u8]) -> Vec<u8> {
    let mut answer = to.to_vec();
    answer[SOURCE..DESTINATION].copy_from_slice(&to[DESTINATION..TRANSPORT]);
    answer[DESTINATION..TRANSPORT].copy_from_slice(&to[SOURCE..DESTINATION]);
    let mut ports = TRANSPORT;
    let mut protocol = to[NEXT_HEADER];
    if protocol == DESTINATION_OPTIONS {
        (ports, protocol) = (ports + OPTION, to[TRANSPORT]);
    }
    if protocol != ICMPV6 {
        answer[ports..ports + 2].copy_from_slice(&to[ports + 2..ports + 4]);
        answer[ports + 2..ports + 4].copy_from_slice(&to[ports..ports + 2]);
    }
    answer
}

/// Runs a program once; what it makes of the packet goes to `out`. Nanoseconds.
pub(crate) fn run(prog: &Prog, packet: &[u8], out: &mut Vec<u8>) -> io::Result<f64> {
    run_with(prog, packet, out, TcContext::default())
}

/// The same with what the kernel keeps beside the packet.
pub(crate) fn run_with(
    prog: &Prog,
    packet: &[u8],
    out: &mut Vec<u8>,
    mut context: TcContext,
) -> io::Result<f64> {
    out.resize(4096, 0);
    let ran = prog.run_tc(packet, out, &mut context, 1)?;
    out.truncate(ran.length);
    Ok(f64::from(ran.nanoseconds))
}
