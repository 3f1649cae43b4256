//! Streams of `iperf3` through the router, to the ports of HTTP and TLS.

use super::network::SERVER;
use super::peers::Running;
use crate::error::Error;
use lab::traffic::iperf::{self, Load};
use serde::Serialize;
use std::time::Duration;

const STREAM: Duration = Duration::from_secs(1);

/// Rate of a stream through a peer.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Rate {
    pub(super) peer: &'static str,
    pub(super) names: usize,
    pub(super) port: u16,
    /// Gigabits per second: the median of the rounds; `None` if no stream passes.
    pub(super) gbits: Option<f64>,
    /// Loss against the baseline, in percent.
    pub(super) loss: Option<f64>,
}

/// Measures once, in gigabits per second.
pub(super) fn once(running: &Running, port: u16) -> Result<f64, Error> {
    let measured = iperf::run_to(&running.network, (SERVER.into(), port), Load::Tcp, STREAM);
    let measured = measured.map_err(Error::system("iperf3"))?;
    Ok(measured.bits_per_second / 1e9)
}
