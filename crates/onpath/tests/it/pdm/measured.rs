//! A running `onpath pdm`.

use lab::{Route, Space, Task};
use net::{interface, link_settings};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::io::BufRead;
use std::time::{Duration, Instant, SystemTime};

/// Maximum time of any operation on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running measurement of one end.
pub(crate) struct Measured<'a> {
    task: Task,
    space: &'a Space,
    device: &'static str,
}

impl<'a> Measured<'a> {
    /// Starts a measurement at `c0` or `s0`, and waits until it works.
    pub(crate) fn start(net: &'a impl Route, device: &'static str, flags: &[&str]) -> Measured<'a> {
        let space = match device {
            "c0" => net.client(),
            _ => net.server(),
        };
        // It has its own pins, which end with the process in any case.
        let script = "mount -t bpf bpf /sys/fs/bpf && exec \"$0\" \"$@\"";
        let onpath = env!("CARGO_BIN_EXE_onpath");
        let mut words = vec!["unshare", "--mount", "sh", "-c", script, onpath];
        words.extend(["pdm", "--dev", device, "--json", "--interval", "0.1"]);
        words.extend(flags);
        let task = space.start(&words).expect("onpath starts");
        let mut measured = Measured {
            task,
            space,
            device,
        };
        measured.wait_until(|_| true);
        measured
    }

    /// Returns the metrics of all traffic until now: the first object that was read entirely afterwards. Flows and
    /// counters are read in sequence, so an object that is read during traffic may miss packets that were earlier
    /// than others in it.
    pub(crate) fn metrics(&mut self) -> Value {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.expect("a clock that is set").as_nanos();
        // The reading of this object may have begun before, but the next one begins after it.
        self.wait_until(|object| {
            let taken = object["time_ns"].as_u64().expect("when it was taken");
            u128::from(taken) >= now
        });
        self.wait_until(|_| true)
    }

    /// Returns the next object that fulfils the condition. Older ones may wait in the pipe.
    fn wait_until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        let mut last = Value::Null;
        let mut line = String::new();
        while begun.elapsed() < PATIENCE {
            line.clear();
            let out = self.task.reader().expect("its output");
            if out.read_line(&mut line).expect("its output") == 0 {
                break;
            }
            last = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
            if wanted(&last) {
                return last;
            }
        }
        panic!("{}: the last metrics were {last:#}", self.device);
    }

    /// Returns the device's present limit of segments.
    pub(crate) fn gso_max_segs(&self) -> Option<u32> {
        gso_max_segs(self.space, self.device)
    }

    /// Interrupts it. It must end successfully.
    pub(crate) fn end(self) {
        let process = Pid::from_raw(self.task.id() as i32);
        kill(process, Signal::SIGINT).expect("it runs");
        assert!(self.task.finish().expect("it ends"), "{}", self.device);
    }
}

/// Returns a device's limit of segments; see [`link_settings::Settings`].
pub(crate) fn gso_max_segs(space: &Space, device: &str) -> Option<u32> {
    let read = || {
        let index =
            interface::index(device).map_err(|e| std::io::Error::other(e.message.clone()))?;
        link_settings::read(index)
    };
    space.run(read).expect("its settings").gso_max_segs
}

/// Returns the only flow of a protocol.
pub(crate) fn flow<'a>(object: &'a Value, protocol: &str) -> Option<&'a Value> {
    let flows = object["flows"].as_array()?;
    let mut of_it = flows.iter().filter(|f| f["protocol"] == protocol);
    let first = of_it.next();
    assert!(
        of_it.next().is_none(),
        "several {protocol} flows in {object}"
    );
    first
}
