//! The published firewall by names: its program on the interpreter, against the automaton that its entries are made of.

use firewall::automaton::{Automaton, Form, Reset, SliceBytes, Walker};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Ports of TCP on which payloads have names of each form.
const PORTS: [(Form, u16); 2] = [(Form::Text, 80), (Form::Labels, 53)];

fn onpath(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_onpath"))
        .args(args)
        .output();
    let output = output.expect("onpath runs");
    assert!(
        output.status.success(),
        "{args:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Writes the program for some names to a folder.
fn emit(folder: &Path, names: &[String], flags: &[&str]) -> String {
    let list = folder.join("names.txt");
    std::fs::write(&list, names.join("\n")).expect("writes");
    let (list, folder) = (list.to_string_lossy(), folder.to_string_lossy());
    let mut args = vec!["firewall", "--emit", "v1model", &list, "-o", &folder];
    args.extend(flags);
    onpath(&args)
}

/// Runs a script on the program in a folder, after the entries.
fn test(folder: &Path, script: &str) {
    let entries = std::fs::read_to_string(folder.join("entries.txt")).expect("reads");
    let file = folder.join("firewall.stf");
    std::fs::write(
        &file,
        format!("# {}\n{entries}{script}", "Packets of a test."),
    )
    .expect("writes");
    let program = folder.join("deep4r_list.p4");
    onpath(&["test", &program.to_string_lossy(), &file.to_string_lossy()]);
}

/// Returns a TCP packet to a port, in hexadecimal.
fn tcp(port: u16, payload: &[u8]) -> String {
    let mut packet = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0];
    packet.extend((40 + payload.len() as u16).to_be_bytes());
    packet.extend([
        0, 1, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x9c, 0x40,
    ]);
    packet.extend(port.to_be_bytes());
    packet.extend([0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x18, 4, 0, 0, 0, 0, 0]);
    packet.extend(payload);
    packet.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Adds a packet to a script. It leaves as it came, or is dropped.
fn send(script: &mut String, port: u16, payload: &[u8], is_dropped: bool) {
    let packet = tcp(port, payload);
    // Writing to a string does not fail.
    let _ = writeln!(script, "packet 0 {packet}");
    if !is_dropped {
        let _ = writeln!(script, "expect 1 {packet} $");
    }
}

fn text(random: &mut impl Rng, longest: usize, alphabet: &[u8]) -> Vec<u8> {
    let length = random.random_range(1..=longest);
    let byte = |_| alphabet[random.random_range(0..alphabet.len())];
    (0..length).map(byte).collect()
}

fn name(random: &mut impl Rng) -> String {
    let labels = (0..2).map(|_| text(random, 5, b"abc"));
    let labels = labels.map(|label| String::from_utf8(label).expect("letters"));
    labels.collect::<Vec<_>>().join(".")
}

/// The program does to 1,200 payloads what the automaton does, for each size of slices, with and without links.
#[test]
fn the_program_equals_the_automaton() {
    let settings = [
        (
            SliceBytes::One,
            Reset::Start,
            ["--slice", "1", "--reset", "start"],
        ),
        (
            SliceBytes::One,
            Reset::Links,
            ["--slice", "1", "--reset", "links"],
        ),
        (
            SliceBytes::Two,
            Reset::Start,
            ["--slice", "2", "--reset", "start"],
        ),
        (
            SliceBytes::Two,
            Reset::Links,
            ["--slice", "2", "--reset", "links"],
        ),
        (
            SliceBytes::Four,
            Reset::Start,
            ["--slice", "4", "--reset", "start"],
        ),
        (
            SliceBytes::Four,
            Reset::Links,
            ["--slice", "4", "--reset", "links"],
        ),
    ];
    let mut random = ChaCha8Rng::seed_from_u64(38);
    let mut outcomes = [0, 0];
    for round in 0..24 {
        let (slice, reset, flags) = &settings[round % settings.len()];
        let names: BTreeSet<String> = (0..6).map(|_| name(&mut random)).collect();
        let names: Vec<String> = names.into_iter().collect();
        let automaton = automaton(&names, *slice, *reset);
        let walker = Walker::new(&automaton);
        let mut script = String::new();
        for _ in 0..25 {
            for (form, port) in PORTS {
                let mut payload = text(&mut random, 12, b"abc.\x01\x02\x03x");
                if random.random_bool(0.5) {
                    let index = random.random_range(0..names.len());
                    payload.extend(form.pattern(&names[index]));
                }
                payload.extend(text(&mut random, 4, b"abcx"));
                let found = walker.walk(form, &payload).found;
                outcomes[usize::from(found)] += 1;
                send(&mut script, port, &payload, found);
            }
        }
        let folder = tempfile::tempdir().expect("a folder");
        let look_ups = ["1", "3", "32", "8"][round % 4];
        let mut flags = [&flags[..], &["--look-ups", look_ups]].concat();
        // Each packet gives its id back, so two are enough.
        flags.extend(["--ids", "2", "--free-ids"].iter().take(3 * (round / 12)));
        emit(folder.path(), &names, &flags);
        test(folder.path(), &script);
    }
    assert_eq!(outcomes[0] + outcomes[1], 1200);
    assert!(outcomes.iter().all(|count| *count > 200), "{outcomes:?}");
}

/// Returns the automaton of some names, each of which has two labels.
fn automaton(names: &[String], slice: SliceBytes, reset: Reset) -> Automaton {
    Automaton::new(names.iter().map(String::as_str), &Form::ALL, slice, reset)
}

/// With free ids, a packet is given up on the interpreter where the kernel drops it: behind the longest payload.
#[test]
fn the_longest_payload_is_searched_and_a_longer_one_is_given_up() {
    let names = ["evil.com".to_string()];
    for (slice, look_ups, longest) in [("1", "1", 30), ("2", "3", 180), ("4", "13", 1560)] {
        let folder = tempfile::tempdir().expect("a folder");
        let flags = ["--slice", slice, "--look-ups", look_ups, "--free-ids"];
        let report = emit(folder.path(), &names, &flags);
        assert!(
            report.contains(&format!(" {longest} bytes are searched")),
            "{report}"
        );
        let mut script = String::new();
        let whole = vec![b'x'; longest];
        send(&mut script, 80, &whole, false);
        send(&mut script, 80, &[&whole[8..], b"evil.com"].concat(), true);
        script +=
            "wait\ncheck_counter packets[3] packets == 1\ncheck_counter packets[4] packets == 1\n";
        send(&mut script, 80, &[&whole[..], b"x"].concat(), true);
        script += "wait\ncheck_counter packets[7] packets == 1\n";
        test(folder.path(), &script);
    }
}

/// With links, no payload takes more passes than the report says, although most matches fail.
#[test]
fn with_links_the_longest_payload_is_searched_in_any_case() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let names: BTreeSet<String> = (0..60)
        .map(|_| String::from_utf8(text(&mut random, 12, b"ab")).expect("letters") + "c.example")
        .collect();
    let names: Vec<String> = names.into_iter().collect();
    let folder = tempfile::tempdir().expect("a folder");
    let flags = [
        "--slice",
        "2",
        "--look-ups",
        "32",
        "--reset",
        "links",
        "--free-ids",
    ];
    let report = emit(folder.path(), &names, &flags);
    assert!(report.contains(" 640 bytes are searched"), "{report}");
    let mut script = String::new();
    for _ in 0..10 {
        let payload: Vec<u8> = (0..640).map(|_| b"ab"[random.random_range(0..2)]).collect();
        send(&mut script, 80, &payload, false);
    }
    script += "wait\ncheck_counter packets[3] packets == 10\n";
    test(folder.path(), &script);
}

/// Returns different names of three labels, about as long as real ones.
fn many(count: usize) -> Vec<String> {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut names = BTreeSet::new();
    while names.len() < count {
        let mut label = |longest: usize| {
            let letters = text(
                &mut random,
                longest,
                b"abcdefghijklmnopqrstuvwxyz0123456789",
            );
            String::from_utf8(letters).expect("letters")
        };
        let (first, second) = (label(6), label(9));
        names.insert(format!("{first}{second}.example"));
    }
    names.into_iter().collect()
}

#[test]
#[ignore = "long: make test-all"]
fn seventy_thousand_names_run_on_the_interpreter() {
    let names = many(70_000);
    let folder = tempfile::tempdir().expect("a folder");
    let report = emit(folder.path(), &names, &[]);
    assert!(report.starts_with("70000 names"), "{report}");
    let mut script = String::new();
    for name in names.iter().step_by(7000) {
        for (form, port) in PORTS {
            send(&mut script, port, &form.pattern(name), true);
            send(
                &mut script,
                port,
                &form.pattern(&name[..name.len() - 1]),
                false,
            );
        }
    }
    test(folder.path(), &script);
}

/// A substring is not a domain: what the published program blocks besides the names and those below them.
#[test]
fn substrings_and_equal_bytes_are_blocked_too() {
    let names = ["evil.com".to_string(), "ba.example".to_string()];
    let automaton = automaton(&names, SliceBytes::One, Reset::Links);
    let walker = Walker::new(&automaton);
    for host in ["devil.com", "evil.com.au", "www.evil.com"] {
        assert!(walker.walk(Form::Text, host.as_bytes()).found, "{host}");
    }
    // In DNS each label follows its length.
    let found = |host: &str| walker.walk(Form::Labels, &Form::Labels.pattern(host)).found;
    assert!(!found("devil.com") && found("evil.com.au") && found("www.evil.com"));
    // U+6261 has the bytes of two letters in UTF-16.
    let mut raw = 0x6261u16.to_be_bytes().to_vec();
    raw.extend(b".example");
    assert!(walker.walk(Form::Text, &raw).found);
}

/// Counts the hosts that substrings block although no rule for domains does: names of one or two words against hosts of
/// up to three.
#[test]
fn of_hosts_that_are_blocked_most_are_no_names_below_a_listed_one() {
    const WORDS: [&str; 16] = [
        "mail", "shop", "news", "game", "play", "star", "blue", "fast", "home", "tech", "data",
        "wave", "land", "book", "club", "link",
    ];
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut host = |most: usize, labels: usize| {
        let label = |random: &mut ChaCha8Rng| {
            let words = random.random_range(1..=most);
            (0..words)
                .map(|_| WORDS[random.random_range(0..16)])
                .collect::<String>()
        };
        let mut parts: Vec<String> = (0..labels).map(|_| label(&mut random)).collect();
        parts.push(["com", "net", "example"][random.random_range(0..3)].to_string());
        parts.join(".")
    };
    let names: BTreeSet<String> = (0..100).map(|_| host(2, 1)).collect();
    let names: Vec<String> = names.into_iter().collect();
    let automaton = automaton(&names, SliceBytes::One, Reset::Links);
    let walker = Walker::new(&automaton);
    let (mut by_substring, mut by_domain) = (0, 0);
    for labels in [1, 2].repeat(5000) {
        let host = host(3, labels);
        let is_listed = host.match_indices('.').map(|(at, _)| &host[at + 1..]);
        let is_listed = is_listed
            .chain([&host[..]])
            .any(|suffix| names.iter().any(|n| n == suffix));
        let found = walker.walk(Form::Text, host.as_bytes()).found;
        assert!(found || !is_listed, "{host}");
        by_substring += usize::from(found);
        by_domain += usize::from(is_listed);
    }
    assert_eq!((by_substring, by_domain), (6589, 2310));
}

/// The commands print what scripts read, and report each line that is skipped.
#[test]
fn lists_are_reported_and_results_are_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = folder.path().join("names.txt");
    let lines = (0..12).map(|n| format!("@@||good{n}.example^\n"));
    let lines: String = lines
        .chain(["bad.example\n".into(), "ads\n".into()])
        .collect();
    std::fs::write(&list, lines).expect("writes");
    let (list, out) = (list.to_string_lossy(), folder.path().join("out"));
    let out = out.to_string_lossy();
    let args = ["firewall", "--emit", "v1model", &list, "-o", &out, "--json"];
    let output = Command::new(env!("CARGO_BIN_EXE_onpath"))
        .args(args)
        .output();
    let output = output.expect("onpath runs");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        told.matches("skipped: an automaton has no exceptions")
            .count(),
        10
    );
    assert!(told.contains("3 more lines skipped"), "{told}");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&json["names"], &json["skipped"]), (&1.into(), &13.into()));
    let strict = Command::new(env!("CARGO_BIN_EXE_onpath"))
        .args(args)
        .arg("--strict")
        .output();
    assert_eq!(strict.expect("onpath runs").status.code(), Some(1));
    let plan = onpath(&["plan", "--names", &list, "--json"]);
    let plan: serde_json::Value = serde_json::from_str(&plan).expect("JSON");
    assert_eq!(
        (&plan["entries"], &plan["fits"]),
        (&11.into(), &true.into())
    );
    assert_eq!(plan["usage"][0]["needed"], 1);
}
