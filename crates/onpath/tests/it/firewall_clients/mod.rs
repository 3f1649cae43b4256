//! `onpath firewall` on a router between real clients and servers: what is blocked fails as the mode says, and what is
//! allowed comes whole. Needs root. The ignored tests need what `scripts/setup-clients` installs.

mod clients;
mod firewall;
mod killed;
mod load;
mod net;
mod servers;

use clients::{COMMON, Client, Fate, INSTALLED};
use firewall::Firewall;
use net::Net;
use servers::Servers;
use std::path::Path;

const ALLOWED: &str = "news.example";
const BLOCKED: &str = "www.ads.example";
/// Lines of the list.
const LINES: &str = "||ads.example^\n=games.example\n";

/// Flags of firewalls, and true if what is blocked is answered.
const AT_XDP: (&[&str], bool) = (&["--unknown", "drop", "--quic", "read"], false);
const ANSWERING: (&[&str], bool) = (
    &[
        "--mode",
        "reset",
        "--adjust",
        "--unknown",
        "drop",
        "--quic",
        "read",
    ],
    true,
);
const AT_TC: (&[&str], bool) = (
    &[
        "--hook",
        "tc-ingress",
        "--unknown",
        "drop",
        "--quic",
        "read",
    ],
    false,
);

/// Time in which an allowed request is answered, and a reset comes, also on a busy machine.
const PATIENCE: u32 = 40;

/// Asks for a name by some clients at once, for `seconds`.
fn ask(
    all: &[Client],
    (net, servers, folder): (&Net, &Servers, &Path),
    name: &str,
    seconds: impl Fn(Client) -> u32 + Sync,
) -> Vec<(Client, Fate)> {
    std::thread::scope(|scope| {
        let seconds = &seconds;
        let ask = |client: Client| {
            scope.spawn(move || client.ask(net, folder, name, &servers.content, seconds(client)))
        };
        let tasks: Vec<_> = all.iter().map(|&client| (client, ask(client))).collect();
        let joined = tasks.into_iter();
        joined
            .map(|(client, task)| (client, task.join().expect("a client")))
            .collect()
    })
}

/// Returns what a blocked request has to come to.
fn failure(client: Client, answers: bool) -> Fate {
    match client {
        _ if !answers || client.message() == "quic" => Fate::TimedOut,
        Client::DigUdp => Fate::NoName,
        _ => Fate::Reset,
    }
}

/// Tests some clients: without a firewall all names answer, and with one those that it allows.
fn fails_as_the_mode_says(all: &[Client], (flags, answers): (&[&str], bool)) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut net = Net::new();
    if answers {
        net.take_from_xdp();
    }
    let servers = match all == COMMON {
        true => Servers::start(&net, folder.path()),
        false => Servers::with_quic(&net, folder.path()),
    };
    let place = (&net, &servers, folder.path());
    let whole: Vec<_> = all.iter().map(|&client| (client, Fate::Whole)).collect();
    assert_eq!(
        ask(all, place, BLOCKED, |_| PATIENCE),
        whole,
        "without a firewall"
    );
    servers.forget();
    let firewall = Firewall::start(&net, folder.path(), LINES, flags);
    assert_eq!(ask(all, place, ALLOWED, |_| PATIENCE), whole, "{ALLOWED}");
    let failures: Vec<_> = all
        .iter()
        .map(|&client| (client, failure(client, answers)))
        .collect();
    let waits = |client| match failure(client, answers) {
        Fate::TimedOut => client.in_vain(),
        _ => PATIENCE,
    };
    assert_eq!(ask(all, place, BLOCKED, waits), failures, "{BLOCKED}");
    let counts = firewall.blocked();
    for message in ["dns", "http", "tls", "quic"] {
        let asked = all.iter().filter(|client| client.message() == message);
        let least = asked.count() as u64;
        assert!(counts[message] >= least, "{message}: {counts:?}");
    }
    // What was blocked has left nothing behind that keeps allowed requests from passing.
    assert_eq!(
        ask(all, place, ALLOWED, |_| PATIENCE),
        whole,
        "{ALLOWED} again"
    );
    let seen = servers.seen();
    let protocols: &[&str] = match all == COMMON {
        true => &["dns", "http", "tls"],
        false => &["h3", "http", "quic", "tls"],
    };
    let expected = protocols
        .iter()
        .map(|protocol| format!("{protocol} {ALLOWED}"));
    assert_eq!(seen, expected.collect(), "names that the servers saw");
}

#[test]
fn blocked_names_time_out_at_xdp() {
    fails_as_the_mode_says(COMMON, AT_XDP);
}

#[test]
fn blocked_names_are_answered_by_resets() {
    fails_as_the_mode_says(COMMON, ANSWERING);
}

#[test]
fn blocked_names_time_out_at_tc() {
    fails_as_the_mode_says(COMMON, AT_TC);
}

#[test]
#[ignore = "needs Go, quic-go, aioquic and Chromium: make test-clients"]
fn blocked_names_time_out_at_xdp_for_browsers() {
    fails_as_the_mode_says(INSTALLED, AT_XDP);
}

#[test]
#[ignore = "needs Go, quic-go, aioquic and Chromium: make test-clients"]
fn blocked_names_are_answered_by_resets_for_browsers() {
    fails_as_the_mode_says(INSTALLED, ANSWERING);
}

#[test]
#[ignore = "needs Go, quic-go, aioquic and Chromium: make test-clients"]
fn blocked_names_time_out_at_tc_for_browsers() {
    fails_as_the_mode_says(INSTALLED, AT_TC);
}
