//! Runs a case at each of its hooks.

use super::cases::{Case, Router, Stands, Tag};
use super::net::Net;
use super::root;
use lab::traffic::tcp;
use lab::{Space, Task};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::io::BufRead;

const BYTES: u64 = 400_000;

/// Runs a case at all hooks. Without `--adjust` the expected warnings appear. With it there are none, and the stream
/// arrives complete.
pub(super) fn at_all_hooks(name: &str, case: &Case) {
    let net = Net::new(case).expect("this test needs root");
    let _tags: Vec<Task> = case.tags.iter().map(|tag| start_tag(&net, *tag)).collect();
    for &hook in case.hooks {
        let what = format!("{name}, {hook}");
        let is_at_tc = hook == "tc-ingress";
        let warned = case.routers.iter().any(|r| !r.warned(hook).is_empty());
        if case.one_segment && is_at_tc && !warned {
            net.one_segment().expect("packets of one segment");
        }
        // GRO is not enough if XDP sends packets back: they wait in the kernel until packets come by another path.
        let linux = net.linux.as_ref().filter(|_| !is_at_tc);
        let _receives = linux.map(|linux| {
            let program = "programs/ipv4_counter/ipv4_counter.p4";
            start(
                linux,
                program,
                &["--dev", "stick0,stick1", "--target", "xdp"],
            )
            .0
        });
        let before = settings(&net);
        let programs = start_all(&net, case, hook, &[]);
        for (router, (_, kinds)) in case.routers.iter().zip(&programs) {
            let due = router.warned(hook).iter().map(|k| (*k).to_owned());
            let due: BTreeSet<String> = due.collect();
            assert_eq!(*kinds, due, "{what}: warnings of {}", router.program);
        }
        if !warned || (is_at_tc && !case.one_segment) {
            carries(&net, case, &what);
        }
        end(programs);
        if !warned {
            continue;
        }
        let programs = start_all(&net, case, hook, &["--adjust"]);
        for (_, kinds) in &programs {
            assert!(kinds.is_empty(), "{what}: still warned of {kinds:?}");
        }
        carries(&net, case, &format!("{what}, adjusted"));
        end(programs);
        assert_eq!(settings(&net), before, "{what}: settings afterwards");
    }
}

fn start_tag(net: &Net, tag: Tag) -> Task {
    let at_linux = net.linux.as_ref().unwrap_or(&net.client);
    let (space, device, hook) = match tag {
        Tag::ClientSends => (&net.client, "c0", "tc-egress"),
        Tag::ClientGets => (&net.client, "c0", "tc-ingress"),
        Tag::FromStick => (at_linux, "stick0", "tc-ingress"),
        Tag::ToStick => (at_linux, "stick1", "tc-egress"),
    };
    let program = "tests/offloads/tag.p4";
    let name = format!("tag-{hook}");
    let options = ["--dev", device, "--target", hook, "--name", &name];
    start(space, program, &options).0
}

/// A program, and the kinds of its warnings.
type Running = (Task, BTreeSet<String>);

fn start_all(net: &Net, case: &Case, hook: &str, options: &[&str]) -> Vec<Running> {
    let routers = net.routers.iter().zip(case.routers);
    let start = |(space, router)| start_router(space, router, hook, options);
    routers.map(start).collect()
}

fn start_router(space: &Space, router: &Router, hook: &str, options: &[&str]) -> Running {
    let interfaces = match router.stands {
        Stands::AtOnePortOfALinuxRouter => "right",
        Stands::AtSticks => "port0,port1",
        Stands::Alone | Stands::AtALinuxRouter => "left,right",
    };
    let mut words = options.to_vec();
    words.extend(["--dev", interfaces]);
    if !router.program.ends_with(".toml") {
        words.extend(["--target", hook]);
    }
    let entries = root().join(router.entries).display().to_string();
    if !router.entries.is_empty() {
        words.extend(["--entries", &entries]);
    }
    start(space, router.program, &words)
}

fn start(space: &Space, program: &str, options: &[&str]) -> Running {
    let script = "mount -t bpf bpf /sys/fs/bpf && exec \"$0\" \"$@\"";
    let onpath = env!("CARGO_BIN_EXE_onpath");
    let program = root().join(program).display().to_string();
    let mut words = vec!["unshare", "--mount", "sh", "-c", script, onpath, "run"];
    words.extend([program.as_str(), "--json"]);
    words.extend(options);
    let mut task = space.start(&words).expect("onpath starts");
    let mut first = String::new();
    let output = task.reader().expect("its output");
    output.read_line(&mut first).expect("a line");
    let first: serde_json::Value =
        serde_json::from_str(&first).unwrap_or_else(|_| panic!("{program} does not run: {first}"));
    assert_eq!(first["state"], "running", "{program} does not run: {first}");
    let warnings = first["warnings"].as_array().cloned().unwrap_or_default();
    let kinds = warnings.iter().map(|warning| warning["kind"].as_str());
    let kinds = kinds.map(|kind| kind.expect("a kind").to_owned()).collect();
    (task, kinds)
}

/// Interrupts the programs, the last one first, so that each restores the settings that it changed.
fn end(programs: Vec<Running>) {
    for (task, _) in programs.into_iter().rev() {
        let process = Pid::from_raw(task.id().try_into().expect("a process"));
        kill(process, Signal::SIGINT).expect("it runs");
        assert!(task.finish().expect("it ends"), "an end without success");
    }
}

/// Returns the settings of all interfaces that a program may have changed.
fn settings(net: &Net) -> String {
    let mut all = String::new();
    for (space, device) in net.ends() {
        let words = ["ethtool", "-k", device];
        let features = space.output(&words).expect("its features").stdout;
        let words = ["ip", "-details", "link", "show", "dev", device];
        let link = space.output(&words).expect("its description").stdout;
        let link = String::from_utf8_lossy(&link).into_owned();
        let segments = link.split(' ').skip_while(|word| *word != "gso_max_segs");
        all += &String::from_utf8_lossy(&features);
        all += segments.take(2).collect::<Vec<_>>().join(" ").as_str();
    }
    all
}

fn carries(net: &Net, case: &Case, what: &str) {
    let (service, listener) = (case.service.parse(), case.listener.parse());
    let service = (&net.client, service.expect("an address"));
    let listener = (&net.server, listener.expect("an address"));
    let seen = tcp::exchange(service, listener, BYTES);
    let seen = seen.unwrap_or_else(|e| panic!("{what}: {e}"));
    for seen in seen {
        assert_eq!(seen.corrupted_at, None, "{what}");
        assert_eq!(seen.bytes, BYTES, "{what}");
    }
}
