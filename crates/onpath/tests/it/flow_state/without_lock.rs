//! Tests of look-ups that take no lock: against packets and a control plane that change the same set meanwhile.

use super::machine::{Compiled, call};
use bpf::abi::Hook;
use control::{Device, Store, StoreError};
use ir::{Bits, ExternInst};
use kernel::sys::Prog;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Program with a single set, and more keys than it has ways. The words of a value agree with each other and with the
/// key, so a look-up that finds others has seen half of a change, or the value of another flow.
const WORDS: &str = "
struct value_t { bit<64> first; bit<32> key; bit<64> between; bit<64> last; }
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    flow_state<bit<32>, value_t>(8) flows;
    CounterArray(3, false) seen;
    value_t value;
    apply {
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
        bit<32> key = hdr.call.key;
        switch (hdr.call.what) {
            0: {
                if (!flows.lookup(key, value)) {
                    seen.increment(0);
                } else if (value.key != key || value.first != value.between || value.first != value.last) {
                    seen.increment(1);
                } else {
                    seen.increment(2);
                }
            }
            1: {
                @atomic {
                    flows.lookup(key, value);
                    value.key = key;
                    value.first = value.first + 1;
                    value.between = value.between + 1;
                    value.last = value.last + 1;
                    flows.update(key, value);
                }
            }
            2: { flows.update(key, { hdr.call.value, key, hdr.call.value, hdr.call.value }); }
            default: { @noWarn(\"unused\") bool known = flows.remove(key); }
        }
    }
}";

const KEYS: u32 = 12;
const TIME: Duration = Duration::from_secs(2);

fn run(prog: &Prog, what: u8, key: u32, value: u64, repeat: u32) {
    let packet = call(what, key, value);
    let ran = prog.run_xdp(&packet, &mut [0; 256], 0, repeat);
    ran.expect("a test run");
}

/// Looks flows up in one thread while another changes them. Returns the numbers of look-ups that found no flow, a torn
/// value, and a whole one.
fn raced(
    change: impl Fn(&Prog, u64) + Sync,
    control: impl Fn(&mut dyn Store, ExternInst),
) -> [u64; 3] {
    let compiled = Compiled::new(WORDS, Hook::Xdp);
    let mut device = compiled.load();
    let (state, seen) = (compiled.state("c.flows"), compiled.state("c.seen"));
    let instance = &mut device.instance;
    let (prog, store) = (instance.program.prog(), &mut instance.store);
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = || {
            for key in (0..KEYS).cycle() {
                run(prog, 0, key, 0, 500);
                if ended.load(Ordering::Relaxed) {
                    break;
                }
            }
        };
        let writer = || {
            for turn in 0.. {
                change(prog, turn);
                if ended.load(Ordering::Relaxed) {
                    break;
                }
            }
        };
        scope.spawn(reader);
        scope.spawn(writer);
        let begun = Instant::now();
        // On a busy machine, the reader may begin late.
        let found = |store: &dyn Store| store.counter(seen, 2).expect("a counter").packets;
        while begun.elapsed() < TIME || found(store) <= 1000 && begun.elapsed() < 20 * TIME {
            control(store, state);
            thread::sleep(Duration::from_millis(1));
        }
        ended.store(true, Ordering::Relaxed);
    });
    [0, 1, 2].map(|i| store.counter(seen, i).expect("a counter").packets)
}

#[test]
fn a_look_up_never_sees_half_of_an_update() {
    let [_, torn, whole] = raced(
        |prog, turn| run(prog, 1, turn as u32 % 4, 0, 500),
        |_, _| {},
    );
    assert_eq!(torn, 0);
    assert!(whole > 1000, "{whole} look-ups found a flow");
}

#[test]
fn a_look_up_never_sees_the_value_of_a_flow_that_takes_the_way() {
    let change = |prog: &Prog, turn: u64| {
        let key = (turn * 7 % u64::from(KEYS)) as u32;
        run(prog, 2, key, turn, 20);
        if turn.is_multiple_of(5) {
            run(prog, 3, key, 0, 1);
        }
    };
    let [missing, torn, whole] = raced(change, |_, _| {});
    assert_eq!(torn, 0);
    assert!(
        missing > 0 && whole > 1000,
        "{missing} missing, {whole} found"
    );
}

#[test]
fn a_look_up_never_sees_a_flow_half_removed_by_the_control_plane() {
    let control = |store: &mut dyn Store, state| {
        store.clear_flows(state).expect("cleared");
        match store.remove_flow(state, &[Bits::new(32, 1u32)]) {
            Ok(()) | Err(StoreError::Missing) => {}
            Err(error) => panic!("{error:?}"),
        }
    };
    let [missing, torn, whole] = raced(|prog, turn| run(prog, 1, turn as u32 % 4, 0, 100), control);
    assert_eq!(torn, 0);
    assert!(
        missing > 0 && whole > 1000,
        "{missing} missing, {whole} found"
    );
}

/// A look-up finds a flow in each way, and so does one whose hash is kept: its key is asked for twice.
#[test]
fn flows_are_found_in_every_way_and_with_every_key() {
    let compiled = Compiled::new(WORDS, Hook::Xdp);
    let mut device = compiled.load();
    let (state, seen) = (compiled.state("c.flows"), compiled.state("c.seen"));
    // A key of zeros is like memory that was never written.
    let keys = [0, 1, 256, 1 << 16, 1 << 24, 7, 8, u32::MAX];
    for key in keys {
        device.run(0, &call(2, key, 5)).expect("a run");
    }
    for key in keys.into_iter().chain(keys) {
        device.run(0, &call(0, key, 0)).expect("a run");
        let found = device.store().flow(state, &[Bits::new(32, key)]);
        let five = Bits::new(64, 5u32);
        let value = vec![five.clone(), Bits::new(32, key), five.clone(), five];
        assert_eq!(found, Ok(Some(value)));
    }
    let counted = [0, 1, 2].map(|i| device.store().counter(seen, i).expect("a counter").packets);
    assert_eq!(counted, [0, 0, 16]);
    // The most recently used flow stays, whoever used it how often.
    device.run(0, &call(0, 0, 0)).expect("a run");
    device.run(0, &call(2, 99, 5)).expect("a run");
    let of = |key: u32| {
        device
            .store()
            .flow(state, &[Bits::new(32, key)])
            .expect("a look")
    };
    assert!(of(0).is_some() && of(1).is_none() && of(99).is_some());
}
