//! Writers in several processes, some of which are killed.

use crate::program::{BATCH, Machine, TableKind, batch, by_default, open, value};
use control::Store;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use schema::Entry;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Child process of the tests below, which writes a number of batches.
#[test]
fn write_batches() {
    let Ok(folder) = std::env::var("SHM_TEST_FOLDER") else {
        return;
    };
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u32>().ok());
    let writer = number("SHM_TEST_WRITER").expect("a number");
    let (from, to) = (number("SHM_TEST_FROM"), number("SHM_TEST_TO"));
    let mut store = open(Path::new(&folder));
    // For programs without packets, everything is changed in place.
    store.live = writer % 3 != 2;
    println!("ready");
    for turn in from.expect("a number")..to.expect("a number") {
        store.apply(&batch(writer, turn)).expect("applies");
    }
}

fn start(machine: &Machine, writer: u32, from: u32, to: u32) -> Child {
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["writers::write_batches", "--exact", "--nocapture"])
        .env("SHM_TEST_FOLDER", machine.folder.path())
        .env("SHM_TEST_WRITER", writer.to_string())
        .env("SHM_TEST_FROM", from.to_string())
        .env("SHM_TEST_TO", to.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let output = child.stdout.as_mut().expect("piped");
    let mut lines = BufReader::new(output).lines();
    let ready = lines.any(|line| line.is_ok_and(|line| line.contains("ready")));
    assert!(ready, "the child ended by itself");
    child
}

#[test]
fn eight_processes_lose_nothing_and_readers_see_whole_batches() {
    const WRITERS: u32 = 8;
    const TURNS: u32 = 13;
    let machine = Machine::new();
    let store = machine.open();
    let mut children: Vec<Child> = (0..WRITERS)
        .map(|writer| start(&machine, writer, 0, TURNS))
        .collect();
    let is_running = |child: &mut Child| child.try_wait().expect("asks").is_none();
    while children.iter_mut().any(is_running) {
        let tables = [TableKind::Exact.table()];
        let read = store.contents(&tables).expect("reads");
        for writer in 0..WRITERS {
            let mine = |found: &&Entry| {
                let numbers = writer * BATCH..(writer + 1) * BATCH;
                numbers
                    .into_iter()
                    .any(|n| TableKind::Exact.entry(n, 0).keys == found.keys)
            };
            let values: Vec<_> = read[0]
                .entries
                .iter()
                .filter(mine)
                .map(|e| &e.action)
                .collect();
            let is_whole = [0, BATCH as usize].contains(&values.len());
            assert!(
                is_whole && values.iter().all(|value| *value == values[0]),
                "{values:?}"
            );
        }
        thread::sleep(Duration::from_millis(5));
    }
    for child in &mut children {
        assert!(child.wait().expect("ended").success());
    }
    for writer in 0..WRITERS {
        assert_eq!(value(&store, writer), Some(TURNS));
    }
}

#[test]
fn what_killed_writers_have_begun_is_undone_by_the_next() {
    const KILLED: u32 = 3;
    let begun = Instant::now();
    let machine = Machine::new();
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let mut turns = [0; KILLED as usize];
    let mut unfinished = 0;
    for round in 0.. {
        let is_enough = round >= 20 && unfinished >= 8;
        if is_enough || begun.elapsed() > Duration::from_secs(6) {
            break;
        }
        let children: Vec<Child> = (0..KILLED)
            .map(|writer| start(&machine, writer, turns[writer as usize], u32::MAX))
            .collect();
        thread::sleep(Duration::from_micros(random.random_range(0..20_000)));
        for mut child in children {
            child.kill().expect("kills");
            child.wait().expect("ended");
        }
        unfinished += u32::from(machine.is_unfinished());
        let store = machine.open();
        store.default_action(by_default()).expect("reads");
        assert!(!machine.is_unfinished());
        for (writer, turn) in (0..KILLED).zip(&mut turns) {
            // The value is one more than the batch that set it. After a removal it starts again.
            *turn = value(&store, writer).unwrap_or(0);
        }
    }
    println!("{unfinished} writers were killed in the middle of a change");
    assert!(
        unfinished > 0,
        "no writer was killed in the middle of a change: the test shows nothing"
    );
}
