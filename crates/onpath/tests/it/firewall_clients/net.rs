//! Network of a client, a router and a server, all with the devices' settings as Linux makes them, and one with gaps in
//! which a relay disturbs what passes.

use lab::{Conditions, Pick, Relay, Space, Task};
use net::link::{self, End};
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

/// The server's addresses.
pub(super) const SERVER_V4: &str = "10.9.2.2";
pub(super) const SERVER_V6: &str = "fd00:9:2::2";

/// Type of frames that are disturbed. Those that find neighbours are not: Linux asks for these three times at the most.
const IPV4: [u8; 2] = [8, 0];

/// The client, `c0`, is joined to the router's `inside`, and the server, `s0`, to its `outside`.
pub(super) struct Net {
    pub client: Space,
    pub router: Space,
    pub server: Space,
    /// Namespaces of the relays, on the client's and the server's side.
    gaps: Vec<Space>,
    relays: Vec<Relay>,
    /// Processes in the namespaces: by the first ones Onpath finds other ends.
    processes: Vec<Task>,
}

impl Net {
    pub(super) fn new() -> Net {
        Net::build(false).expect("this test needs root")
    }

    /// Makes one with a relay at both sides of the router. Each direction of each one reorders, loses and duplicates.
    pub(super) fn disturbed() -> Net {
        Net::build(true).expect("this test needs root")
    }

    fn build(is_disturbed: bool) -> io::Result<Net> {
        let mut net = Net {
            client: Space::new()?,
            router: Space::new()?,
            server: Space::new()?,
            gaps: Vec::new(),
            relays: Vec::new(),
            processes: Vec::new(),
        };
        let sides = [
            [(&net.client, "c0"), (&net.router, "inside")],
            [(&net.router, "outside"), (&net.server, "s0")],
        ];
        for (number, [one, other]) in sides.into_iter().enumerate() {
            if !is_disturbed {
                join(one, other)?;
                continue;
            }
            let gap = Space::new()?;
            gap.set("ipv6/conf/default/disable_ipv6", "1")?;
            join(one, (&gap, "near"))?;
            join((&gap, "far"), other)?;
            for (space, device) in [one, other] {
                // A relay takes packets as they are on the wire.
                let wire = ["ethtool", "-K", device, "tx", "off", "tso", "off"];
                space.output(&wire)?;
            }
            let [up, down] = conditions(number as u64);
            net.relays
                .push(Relay::between(&gap, ["near", "far"], up, down)?);
            net.gaps.push(gap);
        }
        let own = [
            (&net.client, "c0", 1, 2),
            (&net.router, "inside", 1, 1),
            (&net.router, "outside", 2, 1),
            (&net.server, "s0", 2, 2),
        ];
        for (space, device, side, host) in own {
            let v4 = format!("10.9.{side}.{host}/24");
            let v6 = format!("fd00:9:{side}::{host}/64");
            space.output(&["ip", "address", "add", &v4, "dev", device])?;
            space.output(&["ip", "-6", "address", "add", &v6, "dev", device, "nodad"])?;
        }
        for (space, side) in [(&net.client, 1), (&net.server, 2)] {
            let (v4, v6) = (format!("10.9.{side}.1"), format!("fd00:9:{side}::1"));
            space.output(&["ip", "route", "add", "default", "via", &v4])?;
            space.output(&["ip", "-6", "route", "add", "default", "via", &v6])?;
        }
        net.router.set("ipv4/ip_forward", "1")?;
        net.router.set("ipv6/conf/all/forwarding", "1")?;
        for space in [&net.client, &net.router, &net.server] {
            net.processes.push(space.start(&["sleep", "infinity"])?);
        }
        Ok(net)
    }

    /// Runs a program at XDP at the other ends of the router's wires, which then take packets that the router's program sends back.
    pub(super) fn take_from_xdp(&mut self) {
        let program = format!("{}/tests/cli/files/pass.p4", env!("CARGO_MANIFEST_DIR"));
        let script = "mount -t bpf bpf /sys/fs/bpf && exec \"$0\" \"$@\" 2>&1";
        let ends = match &self.gaps[..] {
            [client, server] => [(client, "far"), (server, "near")],
            _ => [(&self.client, "c0"), (&self.server, "s0")],
        };
        for (space, device) in ends {
            let onpath = env!("CARGO_BIN_EXE_onpath");
            let mut words = vec!["unshare", "--mount", "sh", "-c", script, onpath];
            words.extend(["run", &program, "--dev", device]);
            let mut task = space.start(&words).expect("onpath starts");
            task.wait_for("interrupt to end").expect("it runs");
            self.processes.push(task);
        }
    }

    /// Ends the relays, and checks that each one reordered, lost and duplicated, and had room for all that came.
    pub(super) fn was_disturbed(&mut self) {
        assert_eq!(self.relays.len(), 2);
        for relay in self.relays.drain(..) {
            for counts in relay.finish().expect("a relay works") {
                let (seen, passed) = (counts.seen, counts.passed);
                let [lost, overtaken, twice] = [counts.lost, counts.overtaken, counts.duplicated];
                println!(
                    "of {seen} packets {passed} passed, {lost} lost, {overtaken} overtaken, {twice} twice"
                );
                assert!(lost > 0 && overtaken > 0 && twice > 0);
                assert_eq!(counts.overflowed, 0);
            }
        }
    }
}

/// Returns the conditions of a gap. Numbers have no common factors, so that all combinations occur.
fn conditions(gap: u64) -> [Conditions; 2] {
    [0, 1].map(|direction| Conditions {
        delay: Duration::from_millis(1),
        loss: Pick::Every([[47, 53], [59, 61]][gap as usize][direction]),
        hold: Pick::Every([[17, 19], [23, 29]][gap as usize][direction]),
        hold_by: 2,
        duplicate: Pick::Every([[31, 37], [41, 43]][gap as usize][direction]),
        counted: |frame| frame[12..14] == IPV4,
        ..Conditions::default()
    })
}

fn join(one: (&Space, &str), other: (&Space, &str)) -> io::Result<()> {
    let far = End {
        netns: Some(other.0.as_fd()),
        ..End::here(other.1)
    };
    one.0.run(|| link::add_veth(End::here(one.1), far))?;
    for (space, device) in [one, other] {
        space.output(&["ip", "link", "set", device, "up"])?;
    }
    for (space, device) in [one, other] {
        space.run(|| link::wait_until_running(device))?;
    }
    Ok(())
}
