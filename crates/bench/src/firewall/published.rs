//! Published results: S. Gupta and others, *DeeP4R: Deep Packet Inspection in P4 using Packet Recirculation*, INFOCOM
//! 2023. Averages, in milliseconds.

/// Delay of the P4 program end to end, with any number of names.
pub(super) const END_TO_END: f64 = 8.5;
/// Its delay in the device.
pub(super) const DEVICE: f64 = 0.2;
/// Delay of netfilter in the device, by number of names.
pub(super) const NETFILTER_DEVICE: [(usize, f64); 4] =
    [(1, 0.1), (10, 0.1), (1_000, 2.5), (5_000, 10.2)];
/// Delay of netfilter end to end, with one name and with 5,000.
pub(super) const NETFILTER_END_TO_END: [(usize, f64); 2] = [(1, 8.5), (5_000, 67.3)];

/// Rows of many flows: names, flows; end to end and in the device; netfilter's.
pub(super) const FLOWS: [(usize, usize, [f64; 2], [f64; 2]); 2] = [
    (1_000, 10_000, [257.0, 0.8], [6_893.0, 1_329.0]),
    (5_000, 10_000, [220.0, 0.86], [37_795.0, 5_139.0]),
];
/// Packets dropped, and by netfilter.
pub(super) const DROPPED: [u32; 2] = [114, 117_733];

/// Delay in the device by bytes of a packet, and netfilter's with 5,000 names.
pub(super) const SIZES: [(usize, f64, f64); 2] = [(250, 0.2, 6.8), (1250, 0.85, 27.2)];

/// Rate of a stream, of 10 Gbit/s.
pub(super) const STREAM: f64 = 9.3;
