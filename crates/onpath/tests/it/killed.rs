//! Tests with commands that are killed at any moment, before and after their work is done. The next commands must
//! leave no trace of them. Needs root.
//!
//! `ONPATH_KILLS` sets the number of killed commands, and `ONPATH_KILLS_SEED` the choice of the moments.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = "
#include <core.p4>
#include <xdp_model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers_t { ethernet_t eth; }

parser prs(packet_in packet, out headers_t hdr) {
    state start { packet.extract(hdr.eth); transition accept; }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action to(bit<32> port) { xout.output_action = xdp_action.XDP_REDIRECT; xout.output_port = port; }
    action none() { xout.output_action = xdp_action.XDP_PASS; xout.output_port = 0; }
    table hosts { key = { hdr.eth.dst : exact; } actions = { to; none; } default_action = none(); size = 4096; }
    apply { hosts.apply(); }
}

control dep(in headers_t hdr, packet_out packet) { apply { packet.emit(hdr.eth); } }

xdp(prs(), sw(), dep()) main;
";

/// Number of entries. After a killed load, the table has all old or all new entries, and no mixture.
const HOSTS: u32 = 2_000;

/// A command, the commands to run before it, and true in `stays` if it runs until it is ended.
struct KilledCommand {
    name: &'static str,
    before: &'static [&'static [&'static str]],
    command: &'static [&'static str],
    stays: bool,
}

const RUN: &[&str] = &["run", "hosts.p4", "--dev", "v0", "--detach"];

const ADJUSTED: &[&str] = &["run", "hosts.p4", "--dev", "v0,v1", "--detach", "--adjust"];

const KINDS: [KilledCommand; 10] = [
    KilledCommand {
        name: "run",
        before: &[],
        command: RUN,
        stays: false,
    },
    KilledCommand {
        name: "run --adjust",
        before: &[],
        command: ADJUSTED,
        stays: false,
    },
    KilledCommand {
        name: "unload",
        before: &[ADJUSTED],
        command: &["unload", "hosts"],
        stays: false,
    },
    KilledCommand {
        name: "table load",
        before: &[RUN, &["table", "load", "old.entries"]],
        command: &["table", "load", "new.entries", "--replace"],
        stays: false,
    },
    KilledCommand {
        name: "port add",
        before: &[RUN],
        command: &["port", "add", "5", "v1"],
        stays: false,
    },
    KilledCommand {
        name: "port replace",
        before: &[RUN],
        command: &["port", "replace", "0", "v1"],
        stays: false,
    },
    KilledCommand {
        name: "query",
        before: &[],
        command: &[
            "query",
            "count by dns.qname",
            "--dev",
            "v0",
            "--every",
            "1s",
        ],
        stays: true,
    },
    KilledCommand {
        name: "pdm",
        before: &[],
        command: &["pdm", "--dev", "v0"],
        stays: true,
    },
    KilledCommand {
        name: "pdm --detach",
        before: &[],
        command: &["pdm", "--dev", "v0", "--detach"],
        stays: false,
    },
    KilledCommand {
        name: "bundle",
        before: &[],
        command: &["run", "both.toml", "--detach"],
        stays: false,
    },
];

const BUNDLE: &str = r#"
[[program]]
source = "hosts.p4"
target = "xdp"
dev = "v0"

[[program]]
source = "count.p4"
target = "xdp"
dev = "v1"
"#;

/// Isolated environment: two interfaces, a BPF file system, and a folder with the files of all commands.
pub(crate) struct Sandbox {
    holder: Child,
    pub(crate) folder: tempfile::TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Sandbox {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("written");
        };
        write("hosts.p4", PROGRAM);
        write("count.p4", PROGRAM);
        write("both.toml", BUNDLE);
        for (name, port) in [("old.entries", 1), ("new.entries", 2)] {
            let lines = (0..HOSTS).map(|host| format!("add hosts dst:{} to({port})\n", host + 1));
            write(name, &lines.collect::<String>());
        }
        std::fs::create_dir(folder.path().join("tmp")).expect("made");
        let script = "mount -t bpf bpf /sys/fs/bpf && ip link add v0 type veth peer name p0 \
            && ip link add v1 type veth peer name p1 && for i in v0 p0 v1 p1; do ip link set $i up; done \
            && echo ready && exec sleep infinity";
        let mut holder = Command::new("unshare")
            .args(["--mount", "--net", "--kill-child", "sh", "-c", script])
            .stdout(Stdio::piped())
            .spawn()
            .expect("this test needs root");
        let mut line = String::new();
        let output = holder.stdout.take().expect("piped");
        let mut output = std::io::BufReader::new(output);
        std::io::BufRead::read_line(&mut output, &mut line).expect("it starts");
        assert_eq!(line, "ready\n", "this test needs root");
        Sandbox { holder, folder }
    }

    /// Returns a command that runs a program in the environment.
    pub(crate) fn command(&self, program: &str, words: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        command
            .args([
                "--target",
                &self.holder.id().to_string(),
                "--mount",
                "--net",
            ])
            .args([&format!("--wd={}", self.folder.path().display()), program])
            .args(words)
            .env("TMPDIR", self.folder.path().join("tmp"))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn onpath(&self, words: &[&str]) -> Command {
        self.command(env!("CARGO_BIN_EXE_onpath"), words)
    }

    /// Starts a command that prints nothing.
    pub(crate) fn start(&self, words: &[&str]) -> Child {
        let mut command = self.onpath(words);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("it starts")
    }

    pub(crate) fn done(&self, words: &[&str]) -> Output {
        let output = self.onpath(words).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "onpath {words:?}: {text}");
        output
    }

    pub(crate) fn prints(&self, program: &str, words: &[&str]) -> String {
        let output = self.command(program, words).output().expect("it runs");
        assert!(output.status.success(), "{program} {words:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Returns the programs at the interfaces.
    pub(crate) fn attached(&self) -> Vec<String> {
        let tcx = format!("{}/tests/cli/files/tcx.py", env!("CARGO_MANIFEST_DIR"));
        let links = self.prints("python3", &[&tcx, "v0", "v1"]);
        let net = self.prints("bpftool", &["net", "show"]);
        let ours = |line: &&str| line.starts_with("v0(") || line.starts_with("v1(");
        let others = net.lines().filter(ours);
        links.lines().chain(others).map(String::from).collect()
    }

    /// Returns the state that commands may change: attached programs, the interfaces' settings, pins, and temporary
    /// files.
    pub(crate) fn state(&self) -> String {
        let attached = self.attached();
        let links = self.prints("ip", &["-d", "-o", "link", "show", "type", "veth"]);
        let settings = links.lines().map(|line| {
            let mut words = line.split_whitespace();
            let after = words.by_ref().find(|word| *word == "gso_max_segs");
            (line.split(' ').nth(1), after.and(words.next()))
        });
        let settings: Vec<_> = settings.collect();
        let features = ["v0", "p0", "v1", "p1"].map(|end| self.prints("ethtool", &["-k", end]));
        let pinned = self.prints("ls", &["/sys/fs/bpf/", "/sys/fs/bpf/onpath"]);
        let temporary = self.prints("ls", &["tmp"]);
        format!("{attached:?} {settings:?} {pinned:?} {temporary:?} {features:?}")
    }

    /// Checks that all entries are old, or all are new.
    fn is_no_mix(&self) {
        let dump = self.done(&["table", "dump", "hosts", "--entries"]);
        let dump = String::from_utf8_lossy(&dump.stdout);
        let to = |port: u32| dump.matches(&format!("to(port: {port})")).count() as u32;
        let counts = (to(1), to(2));
        assert!(counts == (HOSTS, 0) || counts == (0, HOSTS), "{counts:?}");
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = self
            .command(env!("CARGO_BIN_EXE_onpath"), &["unload", "--all"])
            .output();
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// Measures the time that a command takes until it is done, or until its program is attached.
fn time(place: &Sandbox, kind: &KilledCommand) -> Duration {
    let begun = Instant::now();
    if !kind.stays {
        place.done(kind.command);
        return begun.elapsed();
    }
    let mut task = place.start(kind.command);
    while place.attached().is_empty() {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{} does not run",
            kind.name
        );
        assert_eq!(
            task.try_wait().expect("a process"),
            None,
            "{} ended",
            kind.name
        );
    }
    let took = begun.elapsed();
    task.kill().expect("it runs");
    task.wait().expect("it ends");
    took
}

#[test]
fn nothing_is_left_of_killed_commands() {
    let set = |name: &str| Some(std::env::var(name).ok()?.parse().expect("a number"));
    let kills = set("ONPATH_KILLS").unwrap_or(18);
    let seed = set("ONPATH_KILLS_SEED").unwrap_or(1);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let place = Sandbox::new();
    // The folder for pins exists after the first command.
    place.done(RUN);
    place.done(&["unload", "--all"]);
    let clean = place.state();
    for (number, kind) in (0..kills).zip(KINDS.iter().cycle()) {
        for before in kind.before {
            place.done(before);
        }
        // The first run of a kind compiles its programs, so that later ones are fast.
        let took = time(&place, kind);
        place.done(&["unload", "--all"]);
        for before in kind.before {
            place.done(before);
        }
        let after = number / KINDS.len() as u64 % 2 == 1;
        let part = if after { 0.9..1.3 } else { 0.0..0.9 };
        let moment = took.mul_f64(random.random_range(part));
        let mut task = place.start(kind.command);
        std::thread::sleep(moment);
        // It may have ended by itself.
        let _ = task.kill();
        task.wait().expect("it ends");
        if kind.name == "table load" {
            place.is_no_mix();
        }
        // It removes the remains, and lists complete instances.
        place.done(&["ls"]);
        place.done(&["unload", "--all"]);
        let at = format!(
            "seed {seed}, kill {number}: {} after {moment:?} of {took:?}",
            kind.name
        );
        assert_eq!(place.state(), clean, "{at}");
    }
}
