//! Many requests at once through a firewall whose lists are switched every second, on a path that reorders, loses and
//! duplicates at both sides of it: no allowed request is lost, and no blocked one gets through.

use super::clients::own;
use super::firewall::Firewall;
use super::net::Net;
use super::servers::Servers;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Rules of each list that the other one does not have.
const OTHERS: usize = 2_000;

/// Returns the lines of one of two lists. Both block and allow the names of requests alike, by other rules.
fn lines(second: bool) -> String {
    let (letter, mut text) = match second {
        false => ("a", "||ads.example^\n".to_owned()),
        true => ("b", "*.ads.example\n@@||news.example^\n".to_owned()),
    };
    for number in 0..OTHERS {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{letter}{number}.example");
    }
    text
}

/// Makes requests by so many threads while lists are switched.
fn load(requests: usize, threads: usize, flags: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut net = Net::disturbed();
    if flags.contains(&"reset") {
        net.take_from_xdp();
    }
    let servers = Servers::start(&net, folder.path());
    let firewall = Firewall::start(&net, folder.path(), &lines(false), flags);
    let numbers = [requests, threads, 7].map(|number| number.to_string());
    let script = own("load.py");
    let mut words = vec!["python3", &script];
    words.extend(numbers.iter().map(String::as_str));
    let done = AtomicBool::new(false);
    let begun = Instant::now();
    let (output, switches) = std::thread::scope(|scope| {
        let switching = scope.spawn(|| switch(&firewall, &done));
        let output = net.client.output(&words);
        done.store(true, Ordering::Relaxed);
        (output, switching.join().expect("lists are switched"))
    });
    let output = output.expect("requests are made");
    let seconds = begun.elapsed().as_secs();
    let stats = firewall.onpath(&["firewall", "stats"]).expect("counts");
    println!("{requests} requests in {seconds} s, {switches} switches\n{stats}");
    let why = String::from_utf8_lossy(&output.stderr);
    let (answered, blocked) = judge(&String::from_utf8_lossy(&output.stdout), &why);
    println!("{} answered, {blocked} blocked", answered.len());
    assert_eq!(answered.len() + blocked, requests);
    assert!(answered.len().min(blocked) > requests / 10);
    let seen = servers.seen();
    let missing: Vec<_> = answered.difference(&seen).collect();
    assert!(missing.is_empty(), "not by the server: {missing:?}");
    let through: Vec<_> = seen.iter().filter(|name| is_blocked(name)).collect();
    assert!(through.is_empty(), "got through: {through:?}");
    // On a busy machine a reload takes longer than a second.
    assert!(switches > seconds / 8, "{switches} switches in {seconds} s");
    drop(firewall);
    net.was_disturbed();
}

fn is_blocked(name: &str) -> bool {
    name.ends_with(".ads.example")
}

/// Checks what clients tell of their requests, line by line. Returns what the server has to have seen, as it calls it, and the
/// number of blocked requests.
fn judge(told: &str, why: &str) -> (BTreeSet<String>, usize) {
    let (mut answered, mut blocked) = (BTreeSet::new(), 0);
    for line in told.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [protocol, name, fate] = words[..] else {
            panic!("{line}")
        };
        if is_blocked(name) {
            assert_eq!(fate, "failed", "{line}");
            blocked += 1;
            continue;
        }
        assert_eq!(fate, "answered", "{line}\n{why}");
        let seen = match protocol {
            "udp" | "tcp" => "dns",
            other => other,
        };
        answered.insert(format!("{seen} {name}"));
    }
    (answered, blocked)
}

/// Switches lists every second until requests are done. Returns the number of switches.
fn switch(firewall: &Firewall, done: &AtomicBool) -> u64 {
    let (begun, mut switches) = (Instant::now(), 0);
    while !done.load(Ordering::Relaxed) {
        firewall.write(&lines(switches % 2 == 0));
        firewall.reload().expect("it reads its lists again");
        switches += 1;
        let next = Duration::from_secs(switches);
        std::thread::sleep(next.saturating_sub(begun.elapsed()));
    }
    switches
}

#[test]
fn no_request_is_lost_while_lists_are_switched() {
    load(400, 60, &["--unknown", "drop"]);
}

#[test]
#[ignore = "long: make test-clients"]
fn no_request_of_ten_thousand_is_lost_at_xdp() {
    load(10_000, 100, &["--unknown", "drop"]);
}

#[test]
#[ignore = "long: make test-clients"]
fn no_request_of_ten_thousand_is_lost_at_tc() {
    load(10_000, 100, &["--unknown", "drop", "--hook", "tc-ingress"]);
}

#[test]
#[ignore = "long: make test-clients"]
fn no_request_of_ten_thousand_is_lost_beside_resets() {
    // All devices send packets as they are on the wire, and the relays' take them from XDP: nothing is left to adjust.
    load(10_000, 100, &["--unknown", "drop", "--mode", "reset"]);
}
