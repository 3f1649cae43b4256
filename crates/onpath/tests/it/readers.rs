//! Fuzzing of all readers besides that of P4 text with mutated inputs. A reader may refuse an input, but must not
//! panic, hang or exceed its memory.
//!
//! Each reader has a process of its own, whose memory is limited. The test suite tries ten thousand inputs of each,
//! and `ONPATH_FUZZ_INPUTS=1000000 cargo test --release -p onpath --test it -- readers --nocapture` tries a million.
//! `ONPATH_FUZZ_SEED` sets another seed. An input that made a reader fail is left under `target/fuzz/`.

mod corpus;

use corpus::{Reader, reader};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testkit::files;

/// Number of inputs for each reader in the test suite.
const INPUTS: u64 = 10_000;
/// Address space of a reader's process, in KiB: 2 GiB, which the program and its threads share.
const MEMORY: u64 = 2 << 20;
/// Maximum time for one input, in a debug build on a busy machine.
const LONGEST: Duration = Duration::from_secs(10);
/// Environment variable with the name of this process's reader.
const READER: &str = "ONPATH_FUZZ_READER";

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Mutates an input in a few places: removes, repeats, swaps and truncates bytes, and inserts pieces of another input
/// or of the reader's words.
fn mutated(random: &mut ChaCha8Rng, reader: &Reader) -> Vec<u8> {
    let choose = |random: &mut ChaCha8Rng| reader.corpus.choose(random).expect("a corpus").clone();
    let mut bytes = choose(random);
    for _ in 0..random.random_range(1..=6) {
        if bytes.is_empty() {
            break;
        }
        let at = random.random_range(0..bytes.len());
        let end = (at + random.random_range(1..=16)).min(bytes.len());
        match random.random_range(0..9) {
            0 => drop(bytes.drain(at..end)),
            1 => bytes[at] ^= 1 << random.random_range(0..8),
            2 => bytes[at] = [0, 0x7f, 0x80, 0xff].choose(random).copied().unwrap_or(0),
            3 => {
                let piece = reader.pieces.choose(random).expect("pieces");
                bytes.splice(at..at, piece.bytes());
            }
            4 => {
                let piece = reader.pieces.choose(random).expect("pieces");
                bytes.splice(at..end, piece.bytes());
            }
            5 => {
                let copy = bytes[at..end].repeat(random.random_range(1..=64));
                bytes.splice(at..at, copy);
            }
            6 => {
                let donor = choose(random);
                let from = random.random_range(0..=donor.len());
                let to = (from + random.random_range(1..=64)).min(donor.len());
                bytes.splice(at..at, donor[from..to].iter().copied());
            }
            7 => bytes.swap(at, end - 1),
            _ => bytes.truncate(at),
        }
    }
    if random.random_range(0..100) == 0 {
        let piece = reader.pieces.choose(random).expect("pieces");
        let deep = piece.repeat(random.random_range(100..5_000));
        let middle = bytes.len() / 2;
        bytes.splice(middle..middle, deep.into_bytes());
    }
    bytes
}

/// Returns the file with the current input of a reader's process.
fn input_of(reader: &str) -> PathBuf {
    let folder = files::root().join("target/fuzz");
    std::fs::create_dir_all(&folder).expect("a folder for inputs");
    folder.join(format!("{reader}.input"))
}

/// Runs a reader's process. An input is written to a file before it is read, so that it is known if the process dies.
fn work(name: &str) {
    let reader = reader(name);
    let mut random = ChaCha8Rng::seed_from_u64(number("ONPATH_FUZZ_SEED").unwrap_or(1));
    let kept = input_of(name);
    for _ in 0..number("ONPATH_FUZZ_INPUTS").unwrap_or(INPUTS) {
        let input = mutated(&mut random, &reader);
        std::fs::write(&kept, &input).expect("room");
        let begun = Instant::now();
        (reader.read)(&input);
        let took = begun.elapsed();
        assert!(took < LONGEST, "it took {took:?}");
    }
    std::fs::remove_file(&kept).expect("it is there");
}

/// Starts a reader's process, and fails if it does not succeed.
fn try_reader(name: &str) {
    let test = std::env::current_exe().expect("this test");
    let inputs = number("ONPATH_FUZZ_INPUTS").unwrap_or(INPUTS);
    let until = Instant::now() + LONGEST * 6 + Duration::from_millis(10 * inputs);
    let mut child = Command::new("sh")
        .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"")])
        .arg(test)
        .args(["--exact", &format!("readers::{name}"), "--nocapture"])
        .args(["--test-threads", "1"])
        .env(READER, name)
        .stdout(Stdio::null())
        .spawn()
        .expect("a process");
    let status = loop {
        match child.try_wait().expect("a process") {
            Some(status) => break Some(status),
            None if Instant::now() > until => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let kept = input_of(name);
    let kept = kept.display();
    match status {
        Some(status) => assert!(status.success(), "{name}: {status}, by {kept}"),
        None => panic!("{name} hangs, by {kept}"),
    }
}

/// Runs the test of a reader: it starts the process, or is that process.
fn of(name: &str) {
    match std::env::var(READER) {
        Ok(mine) => work(&mine),
        Err(_) => try_reader(name),
    }
}

#[test]
fn entries() {
    of("entries");
}

#[test]
fn stf() {
    of("stf");
}

#[test]
fn descriptions() {
    of("descriptions");
}

#[test]
fn bundles() {
    of("bundles");
}

#[test]
fn schemas() {
    of("schemas");
}

#[test]
fn captures() {
    of("captures");
}

#[test]
fn queries() {
    of("queries");
}

#[test]
fn patterns() {
    of("patterns");
}
