//! Packets of test runs, and runs of programs on them.

use kernel::sys::{Prog, TcContext};
use std::io;

/// Offset of the IPv6 header's payload length, from the Ethernet header.
pub(crate) const PAYLOAD_LENGTH: usize = 18;
/// Offset of the IPv6 header's next header.
pub(crate) const NEXT_HEADER: usize = 20;
const SOURCE: usize = 22;
const DESTINATION: usize = 38;
/// Offset after the IPv6 header: of the option's header, or the ports.
pub(crate) const TRANSPORT: usize = 54;
/// Size of the option with its extension header, in bytes.
pub(crate) const OPTION: usize = 16;
/// Offset of the packet's sequence number, if it has the option.
pub(crate) const PSNTP: usize = TRANSPORT + 6;
/// Offset of the last sequence number received, likewise.
pub(crate) const PSNLR: usize = TRANSPORT + 8;
/// Offset of the delay since the last packet sent, likewise.
pub(crate) const DTLS: usize = TRANSPORT + 12;
/// Offset of that delay's scale, likewise.
pub(crate) const SCALE_DTLS: usize = TRANSPORT + 5;
/// Protocol number of the Destination Options header.
pub(crate) const DESTINATION_OPTIONS: u8 = 60;
/// Protocol number of TCP.
pub(crate) const TCP: u8 = 6;
/// Protocol number of ICMPv6.
pub(crate) const ICMPV6: u8 = 58;
const UDP: u8 = 17;

/// Returns an IPv6 packet to the other host.
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

/// Returns a UDP packet with a payload of this size.
pub(crate) fn udp(payload: usize) -> Vec<u8> {
    let length = (8 + payload as u16).to_be_bytes();
    let mut upper = vec![0x9c, 0x40, 0x14, 0x51, length[0], length[1], 0, 0];
    upper.resize(8 + payload, 0x5a);
    ipv6(UDP, &upper)
}

/// Returns a TCP packet without payload, with these flags and this maximum segment size.
pub(crate) fn tcp(flags: u8, mss: u16) -> Vec<u8> {
    let mut upper = vec![0x9c, 0x40, 0x14, 0x51, 0, 0, 0, 1, 0, 0, 0, 0, 0x70, flags];
    upper.extend([0xff, 0xff, 0x12, 0x34, 0, 0, 1, 2, 4]);
    upper.extend(mss.to_be_bytes());
    // Padding comes first in the options, so that the size is at an odd offset.
    upper.extend([1, 1, 1]);
    ipv6(TCP, &upper)
}

/// Returns an ICMPv6 packet of a type, with a word and the packet that it is about.
pub(crate) fn icmpv6(kind: u8, word: u32, about: &[u8]) -> Vec<u8> {
    let mut upper = vec![kind, 0, 0, 0];
    upper.extend(word.to_be_bytes());
    upper.extend(about);
    ipv6(ICMPV6, &upper)
}

/// Returns a packet from the other host: with addresses exchanged, and ports if there are any.
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

/// Runs a program once, and returns the nanoseconds. The resulting packet goes to `out`.
pub(crate) fn run(prog: &Prog, packet: &[u8], out: &mut Vec<u8>) -> io::Result<f64> {
    run_with(prog, packet, out, TcContext::default())
}

/// Does the same with a context: the packet's metadata in the kernel.
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
