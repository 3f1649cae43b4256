//! Firewalls whose commands are killed at any moment: each is whole afterwards, or gone. Needs root.

use crate::killed::Sandbox;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Rules of each list, so that it takes some time to switch them.
const RULES: usize = 4_000;

const LISTED: &str = "blocked.txt";
const DETACHED: &[&str] = &["firewall", "--dev", "v0,v1", "--block", LISTED, "--detach"];
const FOREGROUND: &[&str] = &["firewall", "--dev", "v0,v1", "--block", LISTED];
const RELOAD: &[&str] = &["firewall", "reload"];

/// A list that blocks one of two names, and one of which the other one blocks too.
fn write(place: &Sandbox, old: bool) {
    let name = if old { "old" } else { "new" };
    let mut lines = format!("ads.example\n{name}.example\n");
    for number in 0..RULES {
        // Writing to a string does not fail.
        let _ = writeln!(lines, "{name}{number}.example");
    }
    std::fs::write(place.folder.path().join(LISTED), lines).expect("written");
}

/// Returns the names of queries that pass.
fn passing(place: &Sandbox) -> Vec<String> {
    let probe = super::clients::own("probe.py");
    let names = ["old.example", "new.example", "ads.example", "free.example"];
    let words: Vec<&str> = [&probe, "p0", "v0"].into_iter().chain(names).collect();
    let came = place.prints("python3", &words);
    came.split_whitespace().map(str::to_owned).collect()
}

/// Checks that a firewall is whole. Returns true if it has the rules of the new list.
fn is_of_new_list(place: &Sandbox, at: &str) -> bool {
    let came = passing(place);
    let by_old = ["new.example", "free.example"];
    let by_new = ["old.example", "free.example"];
    assert!(came == by_old || came == by_new, "{at}: {came:?} pass");
    place.done(&["firewall", "stats", "firewall"]);
    let explained = place.prints(
        env!("CARGO_BIN_EXE_onpath"),
        &["firewall", "explain", "ads.example"],
    );
    assert!(explained.contains("blocked"), "{at}: {explained}");
    came == by_new
}

/// Starts a command, and kills it after some time.
fn kill(place: &Sandbox, words: &[&str], after: Duration) {
    let mut task = place.start(words);
    std::thread::sleep(after);
    // It may have ended by itself.
    let _ = task.kill();
    task.wait().expect("it ends");
}

/// Measures the time until a command is done, or until the firewall is attached if it stays.
fn time(place: &Sandbox, words: &[&str], stays: bool) -> Duration {
    let begun = Instant::now();
    if !stays {
        place.done(words);
        return begun.elapsed();
    }
    let mut task = place.start(words);
    while place.attached().is_empty() {
        assert!(
            begun.elapsed() < Duration::from_secs(120),
            "it does not run"
        );
        assert_eq!(task.try_wait().expect("a process"), None, "it ended");
    }
    let took = begun.elapsed();
    task.kill().expect("it runs");
    task.wait().expect("it ends");
    took
}

/// Kills so many commands, in turn a firewall that detaches, one that stays, and a reload. Returns how many of the first two
/// kinds were gone and how many whole, and after how many reloads there were old and new rules.
fn killed(kills: usize) -> [[u32; 2]; 3] {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let place = Sandbox::new();
    write(&place, true);
    // The folder for pins exists after the first command, and the program is compiled.
    place.done(DETACHED);
    place.done(&["unload", "--all"]);
    let clean = place.state();
    let kinds = [DETACHED, FOREGROUND, RELOAD];
    let mut times = Vec::new();
    for kind in kinds {
        if kind == RELOAD {
            place.done(DETACHED);
        }
        times.push(time(&place, kind, kind == FOREGROUND));
        place.done(&["unload", "--all"]);
    }
    let mut found = [[0, 0]; 3];
    for number in 0..kills {
        let (kind, took) = (kinds[number % 3], times[number % 3]);
        write(&place, true);
        if kind == RELOAD {
            place.done(DETACHED);
            write(&place, false);
        }
        let moment = took.mul_f64(random.random_range(0.0..1.2));
        kill(&place, kind, moment);
        let at = format!("kill {number}: {kind:?} after {moment:?} of {took:?}");
        // It removes remains, and lists complete firewalls.
        let listed = place.done(&["ls"]);
        let is_there = String::from_utf8_lossy(&listed.stdout).contains("firewall");
        let is_new = is_there && is_of_new_list(&place, &at);
        if kind == RELOAD {
            assert!(is_there, "{at}");
        } else {
            assert!(!is_new, "{at}");
        }
        if !is_there {
            assert_eq!(place.state(), clean, "{at}");
        }
        let outcome = if kind == RELOAD { is_new } else { is_there };
        found[number % 3][usize::from(outcome)] += 1;
        if kind == RELOAD {
            place.done(RELOAD);
            assert_eq!(passing(&place), ["old.example", "free.example"], "{at}");
        }
        if is_there {
            place.done(&["unload", "firewall"]);
        }
        assert_eq!(place.state(), clean, "{at}");
    }
    println!("gone or whole, and at last with old or new rules: {found:?}");
    found
}

#[test]
fn a_killed_firewall_is_whole_or_gone() {
    killed(8);
}

#[test]
#[ignore = "long: make test-clients"]
fn a_firewall_killed_at_a_hundred_moments_is_whole_or_gone() {
    let found = killed(100);
    assert!(
        found.as_flattened().iter().all(|&count| count > 0),
        "{found:?}"
    );
}
