//! Entries files of `v1model` programs on the interpreter. Tables and other settings in a file change together, or
//! not at all.

use control::entries::{Existing, lines, load};
use control::profile::profiles;
use control::{CloneSession, Device, Packet, Rates, Replica, Store};
use diag::SourceMap;
use driver::Input;
use interp::{Interpreter, Options};
use std::sync::Arc;

fn interpreter(program: &str) -> Interpreter {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/stf/v1model");
    let input = Input::file(format!("{root}/{program}.p4"));
    let elaborated = driver::elaborate(&input).ok().expect("a program of ours");
    Interpreter::new(Arc::new(elaborated.program), Options::default()).expect("it runs")
}

/// Makes the changes of a file, or returns the wrong lines with the reasons.
fn change(store: &mut Interpreter, text: &str) -> Result<usize, Vec<String>> {
    let mut map = SourceMap::new();
    let file = map.add("entries.txt", text).expect("it is small");
    load(lines(&map, file), Existing::Keep, store).map_err(|wrong| {
        let line = |d: &diag::Diagnostic| map.line_col(d.primary.span).map_or(0, |(_, at)| at.line);
        wrong
            .iter()
            .map(|d| format!("{}: {}", line(d), d.message))
            .collect()
    })
}

/// Returns the ports from which a packet leaves.
fn ports(device: &mut Interpreter, data: &[u8]) -> Vec<u32> {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x12, 0x34];
    bytes.extend_from_slice(data);
    device.send(&Packet { port: 0, bytes }).expect("it runs");
    let out = device.receive().expect("it came out");
    out.iter().map(|packet| packet.port).collect()
}

#[test]
fn members_and_groups() {
    let mut store = interpreter("selector");
    let hops = profiles(store.schema()).next().expect("it has one").0;
    let members = "action_member hops 1 to(port: 5, result: 1)\naction_member hops 2 to(6, 2)\n\
                   action_group hops 9 1 2\nadd by_first 1 group(9)\nadd by_first 2 hops.member(2)\n";
    assert_eq!(change(&mut store, members), Ok(5));
    assert_eq!(ports(&mut store, &[1, 0, 0, 0]), [5]);
    assert_eq!(ports(&mut store, &[1, 0, 1, 0]), [6]);
    assert_eq!(ports(&mut store, &[2, 0, 0, 0]), [6]);
    let before = (store.members(hops), store.member_groups(hops));
    let cases = [
        (
            "action_member hops 1 to(7, 7)\naction_group hops 9 2\nadd by_first 1 drop()",
            "3: nothing was changed; table `ingress.by_first`: there is already an entry with this match",
        ),
        (
            "remove by_first 1\naction_group hops 9\naction_member hops 1\naction_member hops 2",
            "4: nothing was changed; action_selector `ingress.hops`: an entry of `ingress.by_first` refers to member 2",
        ),
        (
            "action_member hops 3 drop()\naction_group hops 8 3\nmodify by_first 1 group(7)",
            "3: nothing was changed; table `ingress.by_first`: there is no group 7",
        ),
    ];
    for (text, why) in cases {
        assert_eq!(
            change(&mut store, text),
            Err(vec![why.to_string()]),
            "{text}"
        );
        assert_eq!(
            (store.members(hops), store.member_groups(hops)),
            before,
            "{text}"
        );
        assert_eq!(ports(&mut store, &[1, 0, 0, 0]), [5], "{text}");
        assert_eq!(ports(&mut store, &[1, 0, 1, 0]), [6], "{text}");
    }
}

#[test]
fn groups_sessions_and_meters() {
    let mut store = interpreter("clone_ingress");
    let text = "multicast_group 2 4:7 5\nclone_session 5 3 group 2 truncate 20\nclone_session 6 1";
    assert_eq!(change(&mut store, text), Ok(3));
    let session = CloneSession {
        replicas: Replica::to_ports([3]),
        group: Some(2),
        truncate: Some(20),
    };
    let sessions = store.clone_sessions().expect("it has them");
    assert_eq!(sessions[0], (5, session));
    let group = vec![Replica { port: 4, rid: 7 }, Replica { port: 5, rid: 0 }];
    assert_eq!(store.multicast_groups(), Ok(vec![(2, group)]));
    let wrong = "multicast_group 2\nclone_session 5\nclone_session 6 2\nclone_session 7 1 group 0";
    let refused = change(&mut store, wrong).unwrap_err();
    assert!(
        refused[0].starts_with("4: the clone session was not changed: "),
        "{refused:?}"
    );
    assert_eq!(store.clone_sessions(), Ok(sessions));

    let mut store = interpreter("meter");
    let meter = store.schema().objects.keys().next().expect("it has one");
    let rates = Rates {
        committed: 1,
        committed_burst: 2,
        peak: 3,
        peak_burst: 4,
    };
    assert_eq!(
        change(
            &mut store,
            "meter_set limits[3] 1 2 3 4\nmeter_set limits 1 5 5 5 5"
        ),
        Ok(2)
    );
    assert_eq!(
        store.meters(meter).expect("it has some").last(),
        Some(&(3, rates))
    );
    let wrong = "meter_reset limits[3]\nmeter_set limits[4] 1 2 3 4";
    let why = "2: nothing was changed; meter `ingress.limits`: index out of range: the size is 4";
    assert_eq!(change(&mut store, wrong), Err(vec![why.to_string()]));
    assert_eq!(store.meter(meter, 3), Ok(Some(rates)));
    assert_eq!(change(&mut store, "meter_reset limits[3]"), Ok(1));
    assert_eq!(store.meter(meter, 3), Ok(None));
}

#[test]
fn a_direct_meter_takes_tokens_of_every_hit_and_stays_when_the_entry_gets_another_action() {
    let mut store = interpreter("direct_meter");
    let colour = |store: &mut Interpreter| {
        let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x12, 0x34];
        bytes.extend_from_slice(&[1, 9, 9]);
        store.send(&Packet { port: 0, bytes }).expect("it runs");
        store.receive().expect("it came out")[0].bytes[15]
    };
    let text = "add metered 1 mark()\nmeter_set metered 1 0 34 0 51";
    assert_eq!(change(&mut store, text), Ok(2));
    assert_eq!(colour(&mut store), 0);
    assert_eq!(change(&mut store, "modify metered 1 look_away()"), Ok(1));
    assert_eq!(colour(&mut store), 2);
    assert_eq!(change(&mut store, "modify metered 1 mark()"), Ok(1));
    // The tokens suffice for two green packets and a yellow one. The colour of the second green one was not read.
    assert_eq!([colour(&mut store), colour(&mut store)], [1, 2]);
}
