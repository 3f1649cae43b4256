//! Tests of flow states in the kernel: against the interpreter, under races, with far more flows than slots, and
//! through the control plane. Needs root.

mod datagram;
pub(crate) mod machine;
mod measurement;
mod without_lock;

use bpf::abi::Hook;
use control::{Device, Store, StoreError};
use ir::Bits;
use kernel::bundle::{self, Source};
use kernel::store::SEED_SECTION;
use machine::{Both, Compiled, call};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::thread;
use std::time::Duration;

/// Program with calls of every kind and few different keys, on a state of two sets whose flows expire after 100 ms.
const CALLS: &str = "
struct key_t { bit<32> number; bit<8> kind; }
struct value_t { bit<64> number; bit<8> calls; }
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    flow_state<key_t, value_t>(16, 100000000) flows;
    value_t value;
    apply {
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
        key_t key = { hdr.call.key, 7 };
        switch (hdr.call.what) {
            0: { hdr.call.found = flows.lookup(key, value) ? 8w1 : 0; }
            1: { flows.update(key, { hdr.call.value, 1 }); }
            2: { hdr.call.found = flows.remove(key) ? 8w1 : 0; }
            3: {
                @atomic {
                    if (flows.lookup(key, value)) { value.calls = value.calls + 1; }
                    else { value.number = hdr.call.value; }
                    flows.update(key, value);
                }
            }
            default: {
                @atomic {
                    if (flows.remove(key)) { hdr.call.found = 3; }
                    else if (hdr.call.value[0:0] == 1) { flows.update(key, { 5, 5 }); }
                    flows.lookup(key, value);
                }
            }
        }
        hdr.call.value = value.number + (bit<64>)value.calls;
    }
}";

#[test]
fn any_calls_give_the_same_as_in_the_interpreter() {
    let compiled = Compiled::new(CALLS, Hook::Xdp);
    for seed in 0..4 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut both = Both::new(&compiled);
        let state = compiled.state("c.flows");
        let keys = [10, 30, 80][seed as usize % 3];
        for round in 0..1500 {
            let key = random.random_range(0..keys);
            match random.random_range(0..100) {
                0..=1 => both.wait(random.random_range(1..120_000_000)),
                2..=3 => {
                    let key = [Bits::new(32, key), Bits::new(8, 7u32)];
                    let done = both.each(|store| store.remove_flow(state, &key));
                    assert_eq!(done[0], done[1], "seed {seed}, round {round}");
                }
                4 if random.random_range(0..20) == 0 => {
                    assert_eq!(
                        both.each(|store| store.clear_flows(state)),
                        [Ok(()), Ok(())]
                    );
                }
                _ => {
                    let packet = call(random.random_range(0..5), key, random.random());
                    both.same_packet(&packet, &format!("seed {seed}, round {round}"));
                }
            }
            if round % 50 == 0 {
                both.same_flows(state, &format!("seed {seed}, round {round}"));
            }
        }
    }
}

/// Program with two counts that are always equal. A reader that sees them differ has seen half of an update.
const COUNTS: &str = "
struct key_t { bit<32> number; }
struct value_t { bit<64> first; bit<64> between; bit<64> last; }
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    flow_state<key_t, value_t>(64) flows;
    CounterArray(1, false) torn;
    value_t value;
    apply {
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
        key_t key = { 1 };
        @atomic {
            flows.lookup(key, value);
            value.first = value.first + 1;
            value.last = value.last + 1;
            flows.update(key, value);
        }
        if (value.first != value.last) { torn.increment(0); }
    }
}";

#[test]
fn racing_packets_neither_tear_a_value_nor_lose_a_count() {
    const RUNS: u32 = 100_000;
    let compiled = Compiled::new(COUNTS, Hook::Xdp);
    let device = compiled.load();
    let (state, torn) = (compiled.state("c.flows"), compiled.state("c.torn"));
    let (prog, store) = (device.instance.program.prog(), &device.instance.store);
    let packet = call(0, 0, 0);
    thread::scope(|scope| {
        let racers = [(); 2].map(|()| {
            scope.spawn(|| {
                for _ in 0..RUNS / 1000 {
                    prog.run_xdp(&packet, &mut [0; 256], 0, 1000)
                        .expect("a test run");
                }
            })
        });
        // Readers must not see half of an update either.
        while !racers.iter().all(|r| r.is_finished()) {
            for flow in store.flows(state).expect("flows") {
                assert_eq!(flow.value[0], flow.value[2]);
            }
        }
    });
    let flows = store.flows(state).expect("flows");
    let count = Bits::new(64, 2 * RUNS);
    assert_eq!(flows.len(), 1);
    assert_eq!(flows[0].value, [count.clone(), Bits::zero(64), count]);
    assert_eq!(store.counter(torn, 0).expect("a counter").packets, 0);
}

/// Program for which each packet belongs to a new flow.
const MANY: &str = "
struct key_t { bit<128> address; bit<32> number; }
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    flow_state<key_t, bit<64>>(65536) flows;
    flow_state<bit<8>, bit<32>>(8) counts;
    CounterArray(2, false) seen;
    apply {
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
        bit<32> count;
        bit<64> value;
        @atomic {
            counts.lookup(8w0, count);
            count = count + 1;
            counts.update(8w0, count);
        }
        key_t key = { 1, count };
        flows.update(key, (bit<64>)count);
        if (flows.lookup(key, value)) { seen.increment((bit<32>)value[0:0]); }
    }
}";

#[test]
fn a_million_flows_pass_through_64k_slots() {
    const FLOWS: u32 = 1_000_000;
    let compiled = Compiled::new(MANY, Hook::Xdp);
    let device = compiled.load();
    let (state, seen) = (compiled.state("c.flows"), compiled.state("c.seen"));
    let store = &device.instance.store;
    let prog = device.instance.program.prog();
    for _ in 0..10 {
        let ran = prog.run_xdp(&call(0, 0, 0), &mut [0; 256], 0, FLOWS / 10);
        assert_eq!(
            ran.expect("a test run").verdict,
            kernel::test_run::verdict::PASS
        );
    }
    let count = |i| store.counter(seen, i).expect("a counter").packets;
    assert_eq!(
        (count(0), count(1)),
        (500_000, 500_000),
        "each finds its own flow"
    );
    let flows = store.flows(state).expect("flows");
    assert_eq!(flows.len(), 65_536, "every slot is taken");
    let last = flows
        .iter()
        .filter(|f| f.key[1].to_u64() > Some(u64::from(FLOWS) - 32_768))
        .count();
    assert!(last > 32_000, "of the last 32768 flows, {last} are there");
    for flow in &flows {
        assert_eq!(flow.key[1].to_u64(), flow.value[0].to_u64());
    }
}

#[test]
fn the_control_plane_finds_flows_whatever_the_seed() {
    let compiled = Compiled::new(CALLS, Hook::Xdp);
    let source = Source {
        name: "calls",
        object: &compiled.built.object,
        abi: &compiled.built.abi,
        schema: &compiled.built.schema,
        sources: &compiled.sources,
    };
    let key = |n: u32| [Bits::new(32, n), Bits::new(8, 7u32)];
    let state = compiled.state("c.flows");
    let mut seeds = Vec::new();
    for _ in 0..2 {
        let mut loaded = bundle::load(&[source], &[]).expect("it loads");
        let mut device = kernel::TestRun::new(loaded.remove(0));
        let seed = device.instance.store.memory.maps.get(SEED_SECTION);
        let seed = seed.expect("it opens").expect("a seed").get(&[0; 4]);
        seeds.push(seed.expect("a look"));
        for n in 0..5 {
            device
                .run(0, &call(1, n, u64::from(n) + 100))
                .expect("a run");
        }
        for n in 0..5 {
            let value = device.store().flow(state, &key(n)).expect("a look");
            assert_eq!(
                value,
                Some(vec![Bits::new(64, n + 100), Bits::new(8, 1u32)])
            );
        }
        assert_eq!(device.store().flow(state, &key(9)), Ok(None));
        assert_eq!(device.store_mut().remove_flow(state, &key(3)), Ok(()));
        assert_eq!(
            device.store_mut().remove_flow(state, &key(3)),
            Err(StoreError::Missing)
        );
        let flows = device.store().flows(state).expect("flows");
        assert_eq!(flows.len(), 4);
        // Unused flows expire for the control plane too.
        device
            .wait(Duration::from_millis(101).as_nanos() as u64)
            .expect("a wait");
        assert_eq!(device.store().flows(state), Ok(Vec::new()));
        assert_eq!(device.store().flow(state, &key(1)), Ok(None));
        device.run(0, &call(1, 1, 1)).expect("a run");
        device.store_mut().clear_flows(state).expect("cleared");
        assert_eq!(device.store().flows(state), Ok(Vec::new()));
    }
    assert_ne!(seeds[0], seeds[1]);
}
