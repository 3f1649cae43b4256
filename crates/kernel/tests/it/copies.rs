//! Destinations of packet copies, and losses: clone sessions, multicast groups whose copies differ, counts.

use crate::bundles::BpfFs;
use crate::hand_written_tc::*;
use control::{Change, CloneSession, Device, DropReason, Replica, Store, StoreError};
use host::safe_dir::Dir;
use kernel::attachment::TcMethod;
use kernel::bundle::{self, LoadedProgram};
use kernel::pins::{Pins, PortUse};
use kernel::port::Port;
use kernel::sys::{Prog, TcContext};
use kernel::{KernelStore, TestRun};
use net::netns::NetNs;
use net::{interface, veth};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

fn device() -> TestRun {
    TestRun::new(instance_with_copies(&object_with_copies(true)))
}

fn to(replicas: &[(u32, u16)]) -> Vec<Replica> {
    let replica = |&(port, rid)| Replica { port, rid };
    replicas.iter().map(replica).collect()
}

fn session(replicas: &[(u32, u16)]) -> CloneSession {
    CloneSession {
        replicas: to(replicas),
        ..CloneSession::default()
    }
}

#[test]
fn groups_keep_replication_ids_and_sessions_all_that_they_have() {
    let mut d = device();
    let group = to(&[(3, 7), (1, 0), (3, 65535)]);
    d.store_mut()
        .change(Change::Group(9, group.to_vec()))
        .expect("room");
    d.store_mut()
        .change(Change::Group(2, to(&[(5, 1)])))
        .expect("room");
    let groups = [(2, to(&[(5, 1)])), (9, group)];
    assert_eq!(d.store().multicast_groups(), Ok(groups.to_vec()));
    let mirrored = CloneSession {
        replicas: to(&[(4, 2), (6, 2)]),
        group: Some(9),
        truncate: Some(64),
    };
    d.store_mut()
        .change(Change::Session(500_000, Some(mirrored.clone())))
        .expect("room");
    d.store_mut()
        .change(Change::Session(5, Some(session(&[(8, 1)]))))
        .expect("room");
    let sessions = [(5, session(&[(8, 1)])), (500_000, mirrored)];
    assert_eq!(d.store().clone_sessions(), Ok(sessions.to_vec()));
    let copies = |d: &mut TestRun| d.run(0, &packet(what::SESSION, 5)).expect("runs").copies;
    assert_eq!(copies(&mut d), [8]);
    d.store_mut()
        .change(Change::Session(5, Some(session(&[(4, 2), (6, 2)]))))
        .expect("changes");
    assert_eq!(copies(&mut d), [4, 6]);
    for _ in 0..2 {
        d.store_mut()
            .change(Change::Session(5, None))
            .expect("is removed");
        d.store_mut()
            .change(Change::Group(2, Vec::new()))
            .expect("is removed");
        assert_eq!(copies(&mut d), [0u32; 0]);
        assert_eq!(d.store().multicast_groups(), Ok(groups[1..].to_vec()));
        assert_eq!(d.store().clone_sessions(), Ok(sessions[1..].to_vec()));
    }
}

#[test]
fn there_are_64_copies_at_most() {
    let mut d = device();
    let many: Vec<(u32, u16)> = (0..65).map(|n| (n, n as u16)).collect();
    d.store_mut()
        .change(Change::Group(1, to(&many[..64])))
        .expect("fits");
    d.store_mut()
        .change(Change::Session(1, Some(session(&many[..64]))))
        .expect("fits");
    for refused in [
        d.store_mut().change(Change::Group(1, to(&many))),
        d.store_mut()
            .change(Change::Session(1, Some(session(&many)))),
        d.store_mut().change(Change::Group(0, to(&many[..1]))),
    ] {
        let Err(StoreError::Invalid { what }) = refused else {
            panic!("{refused:?}");
        };
        assert!(
            what.contains("64 ports") || what.contains("begin at 1"),
            "{what}"
        );
    }
    assert_eq!(d.store().multicast_groups(), Ok(vec![(1, to(&many[..64]))]));
    assert_eq!(
        d.store().clone_sessions(),
        Ok(vec![(1, session(&many[..64]))])
    );
}

#[test]
fn a_batch_that_fails_changes_no_group_and_no_session() {
    let mut d = device();
    d.store_mut()
        .change(Change::Group(1, to(&[(1, 1)])))
        .expect("room");
    d.store_mut()
        .change(Change::Session(1, Some(session(&[(1, 1)]))))
        .expect("room");
    let before = (d.store().multicast_groups(), d.store().clone_sessions());
    let mut changes = vec![
        Change::Group(1, to(&[(2, 2)])),
        Change::Group(2, to(&[(3, 3)])),
        Change::Session(1, None),
    ];
    changes.extend((2..=66).map(|n| Change::Session(n, Some(session(&[(n, 1)])))));
    let rejected = d
        .store_mut()
        .apply(&changes)
        .expect_err("too many sessions");
    assert_eq!(rejected.error, StoreError::Full { capacity: 64 });
    assert_eq!(rejected.at, 67, "the change that finds no room");
    assert_eq!(
        (d.store().multicast_groups(), d.store().clone_sessions()),
        before
    );
    d.store_mut().apply(&changes[..67]).expect("room for these");
    let sessions: Vec<u32> = d
        .store()
        .clone_sessions()
        .expect("reads")
        .into_iter()
        .map(|s| s.0)
        .collect();
    assert_eq!(sessions, (2..=65).collect::<Vec<u32>>());
    let groups = [(1, to(&[(2, 2)])), (2, to(&[(3, 3)]))];
    assert_eq!(d.store().multicast_groups(), Ok(groups.to_vec()));
}

#[test]
fn what_is_lost_is_counted_by_reason() {
    let mut d = device();
    let zero = DropReason::ALL.map(|reason| (reason, 0));
    assert_eq!(d.store().drops(), Ok(zero.to_vec()));
    let reasons = [3, 3, 4, 0, 3, 5];
    for reason in reasons {
        d.run(0, &packet(what::LOSE, reason)).expect("runs");
    }
    let times = |reason| {
        reasons
            .iter()
            .filter(|n| u32::from(**n) == reason as u32)
            .count() as u64
    };
    let counted = DropReason::ALL.map(|reason| (reason, times(reason)));
    assert_eq!(d.store().drops(), Ok(counted.to_vec()));
}

/// Attaches the program to `one` as port 0, and pins it.
fn start(pins: &Pins) {
    let port = |number, name: &str| Port {
        number,
        name: name.into(),
        index: interface::index(name).expect("there"),
    };
    let members = [LoadedProgram {
        name: "copies".into(),
        instance: instance_with_copies(&object_with_copies(false)),
        ports: vec![port(0, "one")],
        targets: vec![port(1, "two")],
    }];
    bundle::connect(&members).expect("connects");
    let begun = pins.begin("copies").expect("free");
    let attached = bundle::attach(&members, TcMethod::Best).expect("attaches");
    begun.commit(&members, attached).expect("pins");
}

fn open(pins: &Pins) -> KernelStore {
    pins.open("copies", None).expect("opens").1
}

fn with_running(name: &str, work: impl FnOnce(&BpfFs) + Send) {
    let fs = BpfFs::new(name);
    let ns = NetNs::new().expect("this test needs root");
    ns.run(|| {
        let names = [("one", "two"), ("three", "four")];
        veth::make_pairs(&names.map(|(a, b)| (a.into(), b.into())))?;
        start(&fs.pins);
        work(&fs);
        Ok(())
    })
    .expect("runs");
}

#[test]
fn ports_of_a_running_program_have_interfaces_as_long_as_copies_go_there() {
    with_running("copies", |fs| {
        let mut store = open(&fs.pins);
        for refused in [
            store.change(Change::Group(1, to(&[(0, 1), (9, 1)]))),
            store.change(Change::Session(1, Some(session(&[(9, 0)])))),
        ] {
            assert_eq!(refused, Err(StoreError::NoInterface { port: 9 }));
        }
        let port = Port {
            number: 9,
            name: "three".into(),
            index: interface::index("three").expect("there"),
        };
        let pins = &fs.pins;
        pins.add_port("copies", None, &port, PortUse::Reached)
            .expect("free");
        let remove = || pins.remove_port("copies", None, 9);
        store
            .change(Change::Group(7, to(&[(0, 1), (9, 1)])))
            .expect("has an interface");
        let refused = remove().expect_err("a group has it");
        assert!(
            refused.message.contains("multicast group 7 has port 9"),
            "{}",
            refused.message
        );
        store
            .change(Change::Session(8, Some(session(&[(9, 0)]))))
            .expect("has an interface");
        store
            .change(Change::Group(7, Vec::new()))
            .expect("is removed");
        let refused = remove().expect_err("a session has it");
        assert!(
            refused.message.contains("clone session 8 has port 9"),
            "{}",
            refused.message
        );
        let help = refused.help.unwrap_or_default();
        assert!(help.contains("`onpath mirror remove 8`"), "{help}");
        store.change(Change::Session(8, None)).expect("is removed");
        remove().expect("nothing has it");
    });
}

#[test]
fn many_writers_lose_nothing() {
    const WRITERS: u16 = 10;
    const ROUNDS: u16 = 30;
    with_running("many-copies", |fs| {
        let (begin, end) = [(); 2]
            .map(|()| Barrier::new(usize::from(WRITERS) + 1))
            .into();
        std::thread::scope(|scope| {
            for writer in 1..=WRITERS {
                let (begin, end) = (&begin, &end);
                scope.spawn(move || {
                    let mut store = open(&fs.pins);
                    // No packet comes, so none has to be waited for.
                    store.live = false;
                    for round in 0..ROUNDS {
                        begin.wait();
                        let to = written(writer, round);
                        let set = store.change(Change::Session(writer.into(), to.clone()));
                        set.expect("room");
                        let group = to.map_or(Vec::new(), |to| to.replicas);
                        store
                            .change(Change::Group(writer, group.to_vec()))
                            .expect("room");
                        end.wait();
                    }
                });
            }
            let store = open(&fs.pins);
            for round in 0..ROUNDS {
                begin.wait();
                end.wait();
                let all = (1..=WRITERS).filter_map(|n| Some((n, written(n, round)?)));
                let (sessions, groups): (Vec<_>, Vec<_>) = all
                    .map(|(n, to)| ((u32::from(n), to.clone()), (n, to.replicas)))
                    .unzip();
                assert_eq!(store.clone_sessions(), Ok(sessions), "round {round}");
                assert_eq!(store.multicast_groups(), Ok(groups), "round {round}");
            }
        });
    });
}

/// Returns the session of a writer in a round; not all writers have one in the same rounds.
fn written(writer: u16, round: u16) -> Option<CloneSession> {
    let copies = [(0, round), (1, writer), (0, 3)];
    let some = (writer + round) % 4;
    (some > 0).then(|| session(&copies[..usize::from(some)]))
}

/// Returns a batch of a writer that is to be killed, for a round: all groups and sessions have copies to the same
/// ports.
fn batch(turn: u16) -> Vec<Change> {
    let copies = to(&[(0, turn), (1, turn), (0, turn + 1)][..1 + usize::from(turn % 3)]);
    let groups = (1..=60).map(|group| Change::Group(group, copies.clone()));
    let sessions = (1..=60).map(|number| {
        let to = CloneSession {
            replicas: copies.clone(),
            group: Some(1),
            truncate: Some(turn.into()),
        };
        Change::Session(number, (!turn.is_multiple_of(4)).then_some(to))
    });
    groups.chain(sessions).collect()
}

/// The child's part of the test below: writes batches until it is killed.
#[test]
fn write_copies_until_killed() {
    let Ok(folder) = std::env::var("ONPATH_TEST_COPIES") else {
        return;
    };
    let mut store = open(&Pins::at(Path::new(&folder)));
    println!("ready");
    for turn in (1..1000).cycle() {
        store.apply(&batch(turn)).expect("applies");
    }
}

fn start_writer(folder: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args([
            "copies::write_copies_until_killed",
            "--exact",
            "--nocapture",
        ])
        .env("ONPATH_TEST_COPIES", folder)
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let ready = lines.any(|line| line.is_ok_and(|line| line.contains("ready")));
    assert!(ready, "the child ended by itself");
    child
}

#[test]
fn readers_meet_all_of_a_batch_or_nothing_whenever_a_writer_is_killed() {
    with_running("killed-copies", |fs| {
        const PATIENCE: Duration = Duration::from_millis(500);
        let journal = fs.folder.join("onpath/copies/member-0/journal");
        let mut unfinished = 0;
        for round in 0..12 {
            let children = [(); 3].map(|()| start_writer(&fs.folder));
            std::thread::sleep(Duration::from_micros(round * 2_000));
            // Every other time in the middle of a change, as far as that can be seen from here.
            let begun = Instant::now();
            while round % 2 == 0 && !journal.exists() && begun.elapsed() < PATIENCE {}
            let send = |child: &Child, signal| {
                kill(Pid::from_raw(child.id() as i32), signal).expect("runs");
            };
            // Otherwise the next one would finish an unfinished change before it is killed too.
            children
                .iter()
                .for_each(|child| send(child, Signal::SIGSTOP));
            for mut child in children {
                send(&child, Signal::SIGKILL);
                child.wait().expect("ended");
            }
            unfinished += u32::from(journal.exists());
            let store = open(&fs.pins);
            let groups = store.multicast_groups().expect("reads");
            let sessions = store.clone_sessions().expect("reads");
            assert!(!journal.exists(), "a reader undoes it");
            let Some((_, first)) = groups.first() else {
                assert_eq!((groups, sessions), (vec![], vec![]));
                continue;
            };
            let turn = first[0].rid;
            let expected = batch(turn).into_iter();
            let (mut wanted, mut mirrored) = (Vec::new(), Vec::new());
            for change in expected {
                match change {
                    Change::Group(group, to) => wanted.push((group, to)),
                    Change::Session(number, Some(to)) => mirrored.push((number, to)),
                    _ => {}
                }
            }
            assert_eq!((groups, sessions), (wanted, mirrored), "round {round}");
        }
        assert!(
            unfinished > 0,
            "no writer was killed in the middle of a change"
        );
    });
}

#[test]
fn packets_meet_an_old_session_or_a_new_one() {
    with_running("whole-copies", |fs| {
        let mut store = open(&fs.pins);
        let of = |id: u16| session(&[(0, id), (1, id)]);
        store.change(Change::Session(1, Some(of(1)))).expect("room");
        let folder = Dir::at(&fs.folder.join("onpath/copies/member-0"));
        let program = Prog::open(&folder.expect("is there"), "program");
        let program = program.expect("is pinned");
        let changed = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let asks = scope.spawn(|| {
                let mut out = vec![0; 256];
                let frame = packet(what::SESSION, 1);
                let mut context = TcContext::default();
                while !changed.load(Ordering::Relaxed) {
                    let asked = program.run_tc(&frame, &mut out, &mut context, 50);
                    asked.expect("runs");
                    // Copies wait in the processor's queue beside the packets of other tests, which has to be emptied
                    // meanwhile: it drops what comes when it is full.
                    std::thread::sleep(Duration::from_millis(2));
                }
            });
            let all = (2..500).try_for_each(|id| store.change(Change::Session(1, Some(of(id)))));
            changed.store(true, Ordering::Relaxed);
            asks.join().expect("asks");
            all.expect("room");
        });
        assert_eq!(store.clone_sessions(), Ok(vec![(1, of(499))]));
        let lost = store.drops().expect("reads");
        assert!(lost.iter().all(|(_, count)| *count == 0), "{lost:?}");
    });
}
