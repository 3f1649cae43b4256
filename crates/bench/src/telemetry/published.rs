//! Published results: throughput of a sink on one core with at most 0.1 % loss, on two servers of 24 cores with 40
//! Gbit/s and Linux 5.15.

/// Description of the setting in tables and plots.
pub(super) const SETTING: &str =
    "two 24-core servers, 40 Gbit/s, Linux 5.15, a sink on one core with at most 0.1 % loss";

/// Gigabits per second without a parser.
pub(super) const NOWHERE: f64 = 4.9;

/// Gigabits per second by parsed bytes: on the path, in the application, and off the path.
pub(super) const PLACES: [(usize, [f64; 3]); 5] = [
    (200, [4.4, 4.4, 3.2]),
    (400, [3.9, 3.9, 2.6]),
    (800, [3.1, 3.0, 2.4]),
    (1200, [2.5, 2.5, 2.2]),
    (1400, [2.3, 2.3, 2.0]),
];

/// Gigabits per second on one and on two cores: on the path, off the path.
pub(super) const CORES: [[f64; 2]; 2] = [[3.9, 7.8], [3.2, 5.3]];

/// Microseconds until a count is visible, in two cases: on the path, off the path.
pub(super) const VISIBLE: [[f64; 2]; 2] = [[9.77, 11.69], [4266.0, 5767.0]];

/// Microseconds that 1,400 parsed bytes add to a round trip.
pub(super) const ROUND_TRIP: f64 = 4.0;
