//! The load that packets which go round put on a recirculation port.
//!
//! Byte by byte with recirculation takes one pass for a byte of payload. The clone loses a byte in each pass, so a packet of L bytes
//! that is searched to byte B sends L + (L-1) + … + (L-B+1) bytes through the port. Beyond the port's bandwidth
//! packets are lost in every pass alike, and one that loses any pass is lost: what arrives falls with a power of the
//! number of passes. That is the collapse.

/// Bandwidth of the port, in Gbit/s. Published: a Tofino's recirculation port has the rate of a front port, 100 Gbit/s.
pub const PORT_GBPS: f64 = 100.0;

/// Packets that are searched arrive at this rate, in Gbit/s. Fitted: with 1 Gbit/s the port is full a little beyond the published 100 bytes.
pub const OFFERED_GBPS: f64 = 1.0;

/// Bytes of a searched packet. Published: the measurements have payloads of up to 1,400 bytes; Ethernet, IPv4 and UDP take 42 more.
pub const PACKET_BYTES: u32 = 1_442;

/// The load that searching to byte `bytes` puts on the port, in Gbit/s, if nothing is lost.
pub fn load_gbps(bytes: u32) -> f64 {
    passes_of_full_packets(bytes) * OFFERED_GBPS
}

/// The fraction of packets that get through all their passes, from 0 to 1.
pub fn delivered(bytes: u32) -> f64 {
    if load_gbps(bytes) <= PORT_GBPS {
        return 1.0;
    }
    // Of the packets that come to a pass the same part gets through in each. The load grows with that part, so bisection finds the one that fills the port.
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        let passes: f64 = (0..bytes)
            .map(|pass| middle.powi(pass as i32) * share_left(pass))
            .sum();
        // What arrives at the port; of that `middle` gets through.
        if passes * middle * OFFERED_GBPS > PORT_GBPS {
            high = middle;
        } else {
            low = middle;
        }
    }
    low.powi(bytes as i32)
}

fn passes_of_full_packets(bytes: u32) -> f64 {
    (0..bytes).map(share_left).sum()
}

/// The part of the packet that is left before a pass, the first being 0.
fn share_left(pass: u32) -> f64 {
    f64::from(PACKET_BYTES.saturating_sub(pass)) / f64::from(PACKET_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_bytes_are_carried_and_beyond_it_collapses() {
        assert!(load_gbps(100) <= PORT_GBPS);
        assert_eq!(delivered(100), 1.0);
        assert!(load_gbps(105) > PORT_GBPS);
        let beyond = [delivered(120), delivered(150), delivered(200)];
        assert!(
            beyond[0] < 0.8 && beyond[1] < 0.5 && beyond[2] < 0.25,
            "{beyond:?}"
        );
        assert!(beyond[0] > beyond[1] && beyond[1] > beyond[2], "{beyond:?}");
    }

    #[test]
    fn the_load_is_the_sum_of_shrinking_packets() {
        let two = f64::from(PACKET_BYTES + PACKET_BYTES - 1) / f64::from(PACKET_BYTES);
        assert!((load_gbps(2) - two * OFFERED_GBPS).abs() < 1e-9);
    }
}
