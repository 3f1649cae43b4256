//! Throughput by `iperf3`, from the client to the server.

use crate::net::{Route, SERVER};
use serde_json::Value;
use std::io;
use std::time::Duration;

/// What is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Load {
    /// One TCP stream, as fast as it goes.
    Tcp,
    /// Datagrams of this many bytes; bits a second, 0 as fast as it goes.
    Udp {
        /// Bytes.
        size: u32,
        /// Bits a second.
        rate: u64,
    },
}

/// What `iperf3` said.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measured {
    /// Bits of payload a second that arrived.
    pub bits_per_second: f64,
    /// TCP segments that were sent again.
    pub retransmits: u64,
    /// Datagrams that were sent.
    pub packets: u64,
    /// Datagrams that did not arrive.
    pub lost: u64,
}

/// Sends for a time.
pub fn run(net: &impl Route, load: Load, time: Duration) -> io::Result<Measured> {
    let mut server = net
        .server()
        .start(&["iperf3", "--server", "--one-off", "--forceflush"])?;
    server.wait_for("listening")?;
    let seconds = format!("{}", time.as_secs().max(1));
    let address = SERVER.to_string();
    let mut words = vec![
        "iperf3", "--json", "-6", "--client", &address, "--time", &seconds,
    ];
    let (size, rate);
    if let Load::Udp { size: s, rate: r } = load {
        (size, rate) = (s.to_string(), r.to_string());
        words.extend(["--udp", "--length", &size, "--bandwidth", &rate]);
    }
    let output = net.client().output(&words)?;
    let said: Value = serde_json::from_slice(&output.stdout)?;
    parse(&said, load).ok_or_else(|| io::Error::other(format!("`iperf3` said: {said}")))
}

fn parse(said: &Value, load: Load) -> Option<Measured> {
    let end = &said["end"];
    Some(match load {
        Load::Tcp => Measured {
            bits_per_second: end["sum_received"]["bits_per_second"].as_f64()?,
            retransmits: end["sum_sent"]["retransmits"].as_u64()?,
            packets: 0,
            lost: 0,
        },
        Load::Udp { .. } => {
            let packets = end["sum"]["packets"].as_u64()?;
            let lost = end["sum"]["lost_packets"].as_u64()?;
            let seconds = end["sum"]["seconds"].as_f64()?;
            let bytes = end["sum"]["bytes"].as_f64()?;
            let arrived = packets.saturating_sub(lost) as f64 / packets.max(1) as f64;
            Measured {
                bits_per_second: 8.0 * bytes * arrived / seconds,
                retransmits: 0,
                packets,
                lost,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ends, Pair};

    #[test]
    fn streams_and_datagrams_are_measured() {
        let net = Pair::new(Ends::default()).expect("this test needs root and iperf3");
        let second = Duration::from_secs(1);
        let tcp = run(&net, Load::Tcp, second).expect("works");
        assert!(tcp.bits_per_second > 1e6, "{tcp:?}");
        let load = Load::Udp {
            size: 100,
            rate: 1_000_000,
        };
        let udp = run(&net, load, second).expect("works");
        assert!(udp.packets > 100 && udp.bits_per_second > 1e5, "{udp:?}");
    }
}
