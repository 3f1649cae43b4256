//! Reading and writing of IPv6 packets, for the relay.

const ETHERNET: usize = 14;
const IPV6: usize = 40;
const DESTINATION_OPTIONS: u8 = 60;
const ICMPV6: u8 = 58;
/// Minimum MTU of IPv6, which an error message must not exceed.
const LEAST_MTU: usize = 1280;

/// Returns the transport protocol of an IPv6 packet and the offset of its header. Destination Options headers are
/// skipped.
pub(super) fn transport(packet: &[u8]) -> Option<(u8, usize)> {
    if packet.get(12..ETHERNET)? != [0x86, 0xdd] {
        return None;
    }
    let mut next = *packet.get(ETHERNET + 6)?;
    let mut at = ETHERNET + IPV6;
    while next == DESTINATION_OPTIONS {
        next = *packet.get(at)?;
        at += 8 * (1 + usize::from(*packet.get(at + 1)?));
    }
    (at < packet.len()).then_some((next, at))
}

/// Selects the traffic of applications: TCP, UDP, and ICMPv6 echoes.
pub const TRANSPORT_TRAFFIC: fn(&[u8]) -> bool = |packet| match transport(packet) {
    Some((6 | 17, _)) => true,
    Some((ICMPV6, at)) => matches!(packet[at], 128 | 129),
    _ => false,
};

/// Lowers the maximum segment size in a SYN, as middleboxes on a path with a small MTU do.
pub(super) fn lower_segment_size(packet: &mut [u8], most: u16) {
    const SYN: u8 = 2;
    let Some((6, tcp)) = transport(packet) else {
        return;
    };
    let Some(header) = packet.get_mut(tcp..) else {
        return;
    };
    if header.len() < 20 || header[13] & SYN == 0 {
        return;
    }
    let end = header.len().min(4 * usize::from(header[12] >> 4));
    let mut at = 20;
    while at + 4 <= end {
        match header[at] {
            0 => return,
            1 => at += 1,
            2 => break,
            _ => at += usize::from(header[at + 1]).max(2),
        }
    }
    if at + 4 > end || !at.is_multiple_of(2) {
        return;
    }
    let word = |at: usize, header: &[u8]| u16::from_be_bytes([header[at], header[at + 1]]);
    let old = word(at + 2, header);
    if old <= most {
        return;
    }
    // RFC 1624, 3.
    let sum = u32::from(!word(16, header)) + u32::from(!old) + u32::from(most);
    header[16..18].copy_from_slice(&(!fold(sum)).to_be_bytes());
    header[at + 2..at + 4].copy_from_slice(&most.to_be_bytes());
}

/// Returns the Packet Too Big message to the sender of a packet that exceeded the path MTU (RFC 4443, section 3.2).
/// Returns `None` if the packet is not IPv6.
pub(super) fn too_big(packet: &[u8], mtu: u32) -> Option<Vec<u8>> {
    /// Address that the message comes from: a router that does not exist.
    const ROUTER: [u8; 16] = [0xfd, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xfe];
    if packet.len() < ETHERNET + IPV6 || packet[12..ETHERNET] != [0x86, 0xdd] {
        return None;
    }
    let quoted = &packet[ETHERNET..packet.len().min(ETHERNET + LEAST_MTU - IPV6 - 8)];
    let sender = &packet[ETHERNET + 8..ETHERNET + 24];
    let mut message = vec![2, 0, 0, 0];
    message.extend(mtu.to_be_bytes());
    message.extend(quoted);
    let length = message.len() as u16;
    let pseudo: Vec<u8> = ROUTER
        .iter()
        .chain(sender)
        .copied()
        .chain(u32::from(length).to_be_bytes())
        .chain([0, 0, 0, ICMPV6])
        .collect();
    let sum = !(ones_sum(&pseudo) + ones_sum(&message));
    let sum = fold(!sum);
    message[2..4].copy_from_slice(&(!sum).to_be_bytes());

    let mut answer = packet[6..12].to_vec();
    answer.extend([2, 0, 0, 0, 0, 0xfe, 0x86, 0xdd, 0x60, 0, 0, 0]);
    answer.extend(length.to_be_bytes());
    answer.extend([ICMPV6, 64]);
    answer.extend(ROUTER);
    answer.extend(sender);
    answer.extend(message);
    Some(answer)
}

fn ones_sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks(2).map(|w| {
        let low = w.get(1).copied().unwrap_or(0);
        u32::from(u16::from_be_bytes([w[0], low]))
    });
    u32::from(fold(words.sum()))
}

fn fold(sum: u32) -> u16 {
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn udp_packet(options: bool) -> Vec<u8> {
        let mut packet = vec![0; 12];
        packet.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 0, 17, 64]);
        packet.extend([0; 32]);
        if options {
            packet[ETHERNET + 6] = DESTINATION_OPTIONS;
            packet.extend([17, 1]);
            packet.extend([0; 14]);
        }
        packet.extend([0; 8]);
        packet
    }

    #[test]
    fn the_transport_header_is_found_behind_options() {
        assert_eq!(transport(&udp_packet(false)), Some((17, 54)));
        assert_eq!(transport(&udp_packet(true)), Some((17, 70)));
        assert_eq!(transport(&udp_packet(true)[..60]), None);
        assert_eq!(transport(&[0; 60]), None);
        assert!(TRANSPORT_TRAFFIC(&udp_packet(true)));
    }

    #[test]
    fn a_segment_size_is_lowered_and_the_checksum_follows() {
        let mut packet = udp_packet(true);
        packet.truncate(70);
        packet[54] = 6;
        packet.extend([0; 12]);
        // 24 bytes of options, SYN; padding twice, and the segment size.
        packet.extend([0x70, 2, 0, 0, 0, 0, 0, 0, 1, 1, 2, 4, 0x05, 0xa0, 0, 0]);
        let sum = !fold(ones_sum(&packet[70..]));
        packet[86..88].copy_from_slice(&sum.to_be_bytes());
        let before = packet.clone();
        lower_segment_size(&mut packet, 1440);
        assert_eq!(packet, before);
        lower_segment_size(&mut packet, 1340);
        assert_eq!(packet[94..96], 1340u16.to_be_bytes());
        assert_eq!(fold(ones_sum(&packet[70..])), 0xffff);
    }

    #[test]
    fn an_answer_has_the_right_checksum_and_is_not_too_long() {
        let mut packet = udp_packet(true);
        packet.resize(3000, 0x5a);
        let answer = too_big(&packet, 1400).expect("IPv6");
        assert_eq!(answer.len(), ETHERNET + LEAST_MTU);
        let (protocol, at) = transport(&answer).expect("ICMPv6");
        assert_eq!(protocol, ICMPV6);
        let mut sum = ones_sum(&answer[ETHERNET + 8..at]) + ones_sum(&answer[at..]);
        sum += (answer.len() - at) as u32 + u32::from(ICMPV6);
        assert_eq!(fold(sum), 0xffff);
        assert_eq!(answer[at..at + 2], [2, 0]);
        assert_eq!(answer[at + 4..at + 8], 1400u32.to_be_bytes());
    }
}
