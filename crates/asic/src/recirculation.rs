//! Load of a recirculation port.
//!
//! Byte by byte with recirculation takes one pass for each byte of payload. The clone loses a byte in each pass, so a
//! packet of L bytes that is searched to byte B sends L + (L-1) + … + (L-B+1) bytes through the port. Beyond the port's
//! bandwidth, every pass loses the same fraction of packets, and a packet that loses one pass is lost. So the fraction
//! that arrives is a power of the number of passes: it collapses.

/// Bandwidth of the port, in Gbit/s. Published: a Tofino's recirculation port has the rate of a front port, 100 Gbit/s.
pub const PORT_GBPS: f64 = 100.0;

/// Rate at which packets to search arrive, in Gbit/s. Fitted: with 1 Gbit/s, the port saturates a little beyond the
/// published 100 bytes.
pub const OFFERED_GBPS: f64 = 1.0;

/// Size of a searched packet, in bytes. Published: the measurements have payloads of up to 1,400 bytes; Ethernet, IPv4
/// and UDP add 42.
pub const PACKET_BYTES: u32 = 1_442;

/// Returns the load on the port when searching to byte `bytes`, in Gbit/s, if no packet is lost.
pub fn load_gbps(bytes: u32) -> f64 {
    passes_of_full_packets(bytes) * OFFERED_GBPS
}

/// Returns the fraction of packets that complete all their passes, from 0 to 1.
pub fn delivered(bytes: u32) -> f64 {
    if load_gbps(bytes) <= PORT_GBPS {
        return 1.0;
    }
    // The same fraction of packets completes each pass. The load grows with that fraction, so bisection finds the one
    // that saturates the port.
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        let passes: f64 = (0..bytes)
            .map(|pass| middle.powi(pass as i32) * share_left(pass))
            .sum();
        // The load at the port, `middle` of which gets through.
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

/// Returns the fraction of the packet that is left before a pass, the first being 0.
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
