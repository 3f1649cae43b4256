//! Throughput from the client to the server, measured by `iperf3`.

use crate::net::{Route, SERVER};
use crate::space::Space;
use serde_json::Value;
use std::fs;
use std::io;
use std::net::IpAddr;
use std::thread;
use std::time::{Duration, Instant};

/// Traffic that is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Load {
    /// One TCP stream, at full speed.
    Tcp,
    /// Datagrams of one size.
    Udp {
        /// Size of each datagram in bytes.
        size: u32,
        /// Bits per second; 0 sends at full speed.
        rate: u64,
    },
}

/// Report of `iperf3`.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    /// Bits of payload per second that arrived.
    pub bits_per_second: f64,
    /// Rate of each interval of the stream, in order; intervals have at least a tenth of a second. For TCP it is the
    /// rate at which the sender handed data over, which queues cannot inflate. For UDP it is the rate of arrival.
    pub intervals: Vec<f64>,
    /// Retransmitted TCP segments.
    pub retransmits: u64,
    /// Datagrams that were sent.
    pub packets: u64,
    /// Datagrams that did not arrive.
    pub lost: u64,
}

/// Shortest interval that `iperf3` accepts, in seconds.
const SHORTEST: f64 = 0.1;

/// Congestion control of TCP streams, whatever the machine's default. Every kernel has it, and it sends as fast as the
/// path allows. BBR instead sends at the rate that it estimates.
pub const CONGESTION_CONTROL: &str = "cubic";

/// Port on which `iperf3` listens.
const PORT: u16 = 5201;

/// Measures for a number of full seconds.
pub fn run(net: &impl Route, load: Load, time: Duration) -> io::Result<Measured> {
    run_to(net, (SERVER.into(), PORT), load, time)
}

/// Does the same to an address and port of the server.
pub fn run_to(
    net: &impl Route,
    (address, port): (IpAddr, u16),
    load: Load,
    time: Duration,
) -> io::Result<Measured> {
    let port_text = port.to_string();
    let seconds = time.as_secs().max(1);
    // So few intervals that the server's report fits into a pipe without a reader.
    let interval = format!("{:.1}", (seconds as f64 / 20.0).max(SHORTEST));
    let words = [
        "iperf3",
        "--server",
        "--one-off",
        "--json",
        "--interval",
        &interval,
        "--port",
        &port_text,
    ];
    let _server = net.server().start(&words)?;
    wait_for_listener(net.server(), port)?;
    let seconds = seconds.to_string();
    let address = address.to_string();
    let mut words = vec![
        "iperf3",
        "--json",
        "--get-server-output",
        "--client",
        &address,
        "--port",
        &port_text,
        "--time",
        &seconds,
        "--interval",
        &interval,
    ];
    let (size, rate);
    match load {
        Load::Tcp => words.extend(["--congestion", CONGESTION_CONTROL]),
        Load::Udp { size: s, rate: r } => {
            (size, rate) = (s.to_string(), r.to_string());
            words.extend(["--udp", "--length", &size, "--bandwidth", &rate]);
        }
    }
    let output = net.client().output(&words)?;
    let report: Value = serde_json::from_slice(&output.stdout)?;
    parse(&report, load).ok_or_else(|| io::Error::other(format!("`iperf3` reported: {report}")))
}

/// Waits until `iperf3` listens. A server that reports as JSON does not print when it is ready.
fn wait_for_listener(space: &Space, port: u16) -> io::Result<()> {
    const PATIENCE: Duration = Duration::from_secs(10);
    const LOOK_AGAIN: Duration = Duration::from_millis(2);
    let started = Instant::now();
    space.run(|| {
        loop {
            if is_listening(&fs::read_to_string("/proc/thread-self/net/tcp6")?, port) {
                return Ok(());
            }
            if started.elapsed() > PATIENCE {
                return Err(io::Error::other("`iperf3` does not listen"));
            }
            thread::sleep(LOOK_AGAIN);
        }
    })
}

/// Returns true if a list of sockets, as the kernel writes it, has one that listens on a port.
fn is_listening(sockets: &str, port: u16) -> bool {
    const LISTENS: &str = "0A";
    let port = format!(":{port:04X}");
    sockets.lines().skip(1).any(|line| {
        let mut words = line.split_whitespace().skip(1);
        words.next().is_some_and(|local| local.ends_with(&port)) && words.nth(1) == Some(LISTENS)
    })
}

fn parse(report: &Value, load: Load) -> Option<Measured> {
    let end = &report["end"];
    Some(match load {
        Load::Tcp => Measured {
            bits_per_second: end["sum_received"]["bits_per_second"].as_f64()?,
            intervals: intervals(report)?,
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
                intervals: intervals(&report["server_output_json"])?,
                retransmits: 0,
                packets,
                lost,
            }
        }
    })
}

/// Returns the rates of one side's intervals, without a last one that is too short to count.
fn intervals(report: &Value) -> Option<Vec<f64>> {
    let sums = report["intervals"].as_array()?.iter().map(|i| &i["sum"]);
    let mut rates = Vec::new();
    for sum in sums {
        if sum["seconds"].as_f64()? >= SHORTEST / 2.0 {
            rates.push(sum["bits_per_second"].as_f64()?);
        }
    }
    (!rates.is_empty()).then_some(rates)
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
        assert!((5..=11).contains(&tcp.intervals.len()), "{tcp:?}");
        let load = Load::Udp {
            size: 100,
            rate: 1_000_000,
        };
        let udp = run(&net, load, second).expect("works");
        assert!(udp.packets > 100 && udp.bits_per_second > 1e5, "{udp:?}");
        assert!((5..=11).contains(&udp.intervals.len()), "{udp:?}");
        assert!(udp.intervals.iter().any(|rate| *rate > 1e5), "{udp:?}");
    }

    #[test]
    fn a_listener_is_found_by_its_port_and_state() {
        let line = |port, state| {
            let any = "00000000000000000000000000000000";
            format!("  sl  local_address\n   0: {any}:{port} {any}:0000 {state} 00000000:0\n")
        };
        assert!(is_listening(&line("1451", "0A"), PORT));
        assert!(!is_listening(&line("1452", "0A"), PORT));
        assert!(!is_listening(&line("1451", "01"), PORT));
        assert!(!is_listening("  sl  local_address\n", PORT));
    }
}
