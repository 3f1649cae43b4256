//! Figures of the literature: two servers of 24 cores, 40 Gbit/s, Linux 5.15, the throughput of a sink on one core with at most 0.1 % loss.

/// As tables and plots name the setting.
pub(super) const SETTING: &str =
    "two 24-core servers, 40 Gbit/s, Linux 5.15, a sink on one core with at most 0.1 % loss";

/// Gigabits a second without a parser.
pub(super) const NOWHERE: f64 = 4.9;

/// Bytes parsed, and gigabits a second on the path, in the application, and off the path.
pub(super) const PLACES: [(usize, [f64; 3]); 5] = [
    (200, [4.4, 4.4, 3.2]),
    (400, [3.9, 3.9, 2.6]),
    (800, [3.1, 3.0, 2.4]),
    (1200, [2.5, 2.5, 2.2]),
    (1400, [2.3, 2.3, 2.0]),
];

/// Gigabits a second on one and on two cores: on the path, off it.
pub(super) const CORES: [[f64; 2]; 2] = [[3.9, 7.8], [3.2, 5.3]];

/// Microseconds until a count is seen, in two cases: on the path, off it.
pub(super) const VISIBLE: [[f64; 2]; 2] = [[9.77, 11.69], [4266.0, 5767.0]];

/// Microseconds that 1,400 parsed bytes add to a round trip.
pub(super) const ROUND_TRIP: f64 = 4.0;
