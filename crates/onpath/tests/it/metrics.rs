//! Tests of metrics by group in the kernel, read while packets change them on several processors. Needs root.

use crate::flow_state::machine::{Compiled, call};
use bpf::abi::Hook;
use control::{Metric, Store};
use std::thread;

/// Program with keys of two matching halves. There are many more keys than slots, so that they evict each other.
const CHANGING_KEYS: &str = "
#include <telemetry.p4>
struct key_t { bit<64> one; bit<64> other; }
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    top_keys<key_t>(8) heavy;
    tally<bit<1>>(1) all;
    apply {
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
        bit<64> one = (bit<64>)(BPF_KTIME_GET_NS() >> 3 & 63);
        heavy.add({ one, ~one }, 1);
        all.add(0, one);
    }
}";

#[test]
fn a_reader_sees_no_half_of_a_key_and_no_packet_is_lost() {
    const RUNS: u32 = 400_000;
    let compiled = Compiled::of(CHANGING_KEYS, Hook::Xdp, false);
    let instance = compiled.instance();
    let (heavy, all) = (compiled.state("c.heavy"), compiled.state("c.all"));
    let (prog, store) = (instance.program.prog(), &instance.store);
    let packet = call(0, 0, 0);
    let mut reads = 0;
    thread::scope(|scope| {
        let racers = [(); 2].map(|()| {
            scope.spawn(|| {
                for _ in 0..RUNS / 1000 {
                    prog.run_xdp(&packet, &mut [0; 256], 0, 1000)
                        .expect("a test run");
                }
            })
        });
        let mut before = 0;
        while !racers.iter().all(|r| r.is_finished()) {
            for group in store.metrics(heavy).expect("keys").groups {
                let halves: Vec<u64> = group.key.iter().filter_map(|k| k.to_u64()).collect();
                assert_eq!(halves[1], !halves[0], "a torn key");
                let Metric::Top { weight, error } = group.metric else {
                    panic!("{:?}", group.metric);
                };
                assert!(error < weight, "{error} of {weight}");
            }
            let now = count(store, all);
            assert!(now >= before, "{now} after {before}");
            before = now;
            reads += 1;
        }
    });
    assert!(reads > 10, "{reads} reads");
    assert_eq!(count(store, all), 2 * u64::from(RUNS));
}

/// Returns the number of values in a tally.
fn count(store: &impl Store, tally: schema::Object) -> u64 {
    let groups = store.metrics(tally).expect("a tally").groups;
    groups.iter().fold(0, |sum, group| match &group.metric {
        Metric::Tally(tally) => sum + tally.count,
        other => panic!("{other:?}"),
    })
}
