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
    let program = folder.join("firewall.p4");
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
    let labels = random.random_range(1..=2);
    let labels = (0..labels).map(|_| text(random, 5, b"abc"));
    let labels = labels.map(|label| String::from_utf8(label).expect("letters"));
    labels.collect::<Vec<_>>().join(".")
}

/// The program does to 1,000 payloads what the automaton does, for each size of slices, and with and without links.
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
            Reset::Links,
            ["--slice", "4", "--reset", "links"],
        ),
    ];
    let mut random = ChaCha8Rng::seed_from_u64(38);
    let mut outcomes = [0, 0];
    for round in 0..20 {
        let (slice, reset, flags) = &settings[round % settings.len()];
        let names: BTreeSet<String> = (0..6).map(|_| name(&mut random)).collect();
        let names: Vec<String> = names.into_iter().collect();
        let automaton =
            Automaton::new(names.iter().map(String::as_str), &Form::ALL, *slice, *reset);
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
        let look_ups = ["1", "3", "32"][round % 3];
        let flags = [&flags[..], &["--look-ups", look_ups]].concat();
        emit(folder.path(), &names, &flags);
        test(folder.path(), &script);
    }
    assert_eq!(outcomes[0] + outcomes[1], 1000);
    assert!(outcomes.iter().all(|count| *count > 200), "{outcomes:?}");
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
#[ignore = "reads 70,000 names and more entries than a million: `make test-all` runs it"]
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
    let names = ["evil.com", "ba.example"];
    let automaton = Automaton::new(names.into_iter(), &Form::ALL, SliceBytes::One, Reset::Links);
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
