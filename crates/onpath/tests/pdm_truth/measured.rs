//! A running `onpath pdm`, and its output.

use lab::{Route, Space};
use serde_json::Value;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// A running `onpath pdm` on a device, which ends when this value is dropped.
pub(crate) struct Measured<'a> {
    space: &'a Space,
    name: String,
}

impl<'a> Measured<'a> {
    /// Starts it with additional arguments.
    pub(crate) fn start(space: &'a Space, device: &str, arguments: &[&str]) -> Measured<'a> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let measured = Measured {
            space,
            name: format!("truth-{}-{number}", std::process::id()),
        };
        let mut words = vec!["pdm", "--dev", device, "--name", &measured.name, "--detach"];
        words.extend(arguments);
        measured.onpath(&words).expect("onpath pdm starts");
        measured
    }

    fn onpath(&self, words: &[&str]) -> io::Result<String> {
        let mut all = vec![env!("CARGO_BIN_EXE_onpath")];
        all.extend(words);
        let output = self.space.output(&all)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Returns its complete report, as `--json` prints it.
    pub(crate) fn metrics(&self) -> Metrics {
        let output = self
            .onpath(&["pdm", "--attach", &self.name, "--json", "--once"])
            .expect("onpath pdm shows what it measures");
        Metrics(serde_json::from_str(&output).expect("JSON"))
    }
}

impl Drop for Measured<'_> {
    fn drop(&mut self) {
        // A failed test has been reported already.
        let _ = self.onpath(&["unload", &self.name]);
    }
}

/// Starts measurements at both ends of a network at once, as a start takes most of a test's time.
pub(crate) fn both<'a>(net: &'a (impl Route + Sync), arguments: &[&str]) -> [Measured<'a>; 2] {
    thread::scope(|scope| {
        let client = scope.spawn(|| Measured::start(net.client(), "c0", arguments));
        let server = Measured::start(net.server(), "s0", arguments);
        [client.join().expect("onpath pdm starts"), server]
    })
}

/// Output of `--json` at one time.
pub(crate) struct Metrics(Value);

impl Metrics {
    /// Returns a number for all flows together, such as `packets_lost`.
    pub(crate) fn total(&self, name: &str) -> u64 {
        number(&self.0["totals"][name], name)
    }

    /// Returns the number of packets for a reason, such as `packets_sent_without`, `exceeds_link_mtu`.
    pub(crate) fn reason(&self, group: &str, name: &str) -> u64 {
        number(&self.0["totals"][group][name], name)
    }

    /// Returns the only flow of a protocol with this port at the server's end; 0 for a protocol without ports.
    pub(crate) fn flow(&self, protocol: &str, port: u16) -> FlowOutput<'_> {
        let flows = self.0["flows"].as_array().expect("flows");
        let mut found = flows.iter().filter(|f| {
            f["protocol"] == protocol && (f["local_port"] == port || f["remote_port"] == port)
        });
        let flow = found
            .next()
            .unwrap_or_else(|| panic!("no {protocol} flow at {port} in {}", self.0));
        assert!(found.next().is_none(), "several {protocol} flows at {port}");
        FlowOutput(flow)
    }
}

/// A flow in the output.
pub(crate) struct FlowOutput<'a>(&'a Value);

impl FlowOutput<'_> {
    /// Returns a number, such as `packets_lost`.
    pub(crate) fn number(&self, name: &str) -> u64 {
        number(&self.0[name], name)
    }

    /// Returns a delay's number of samples and mean: `round_trip_delay`, `server_delay`, `network_delay`.
    pub(crate) fn delay(&self, name: &str) -> (u64, Duration) {
        let delay = &self.0[name];
        let mean = delay["mean_ns"].as_f64().unwrap_or_default();
        (
            number(&delay["samples"], name),
            Duration::from_nanos(mean as u64),
        )
    }
}

fn number(value: &Value, name: &str) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("`{name}` is {value}"))
}
