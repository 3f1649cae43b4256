//! State between packets as the kernel has it.

use crate::costs::weights::walk::SHORT_KEY;
use crate::emitter::{Bpf, Gen, Shared, needs, unknown_zero};
use crate::uses::Construct;
use arch::payload::are_read_in_loop;
use cgen::tree::{BinOp, Expr as C, Type};
use ir::Var;
use smol_str::SmolStr;
use state::{Held, LateInput, StateTarget, Used};

impl StateTarget for Bpf {
    // The kernel recognises the lock in a map's value by this name.
    const LOCK: &'static str = "bpf_spin_lock";

    fn shared(file: &mut Shared) -> &mut state::Shared {
        &mut file.state
    }

    fn held(&mut self) -> &mut Held {
        &mut self.held
    }

    fn note(g: &mut Gen<'_>, used: Used) {
        needs(
            g,
            match used {
                Used::Flows => Construct::FlowState,
                Used::Meters => Construct::Meters,
                Used::LockedRegisters => Construct::AtomicRegisters,
                Used::Records => Construct::Digests,
            },
        );
    }

    fn take_lock(lock: C) -> C {
        C::call("bpf_spin_lock", vec![lock])
    }

    fn give_lock_back(lock: C) -> C {
        C::call("bpf_spin_unlock", vec![lock])
    }

    const INSERT: Option<fn(&SmolStr, C, C) -> C> = Some(|map, key, value| {
        let map = C::Ident(map.clone()).addr();
        let args = vec![map, key, value, C::id("BPF_NOEXIST")];
        C::call("bpf_map_update_elem", args)
    });

    fn reserve(ring: C, size: C) -> C {
        C::call("bpf_ringbuf_reserve", vec![ring, size, C::int(0)])
    }

    fn submit(record: C) -> C {
        C::call("bpf_ringbuf_submit", vec![record, C::int(0)])
    }

    fn flow_time(g: &mut Gen<'_>) -> C {
        g.target.hook.timestamp(g).unwrap_or_else(|| {
            needs(g, Construct::IdleTime);
            C::call("flow_now", Vec::new())
        })
    }

    fn anywhere(way: C) -> C {
        C::bin(BinOp::Add, way, unknown_zero())
    }

    fn counts_by_functions(g: &Gen<'_>) -> bool {
        are_read_in_loop(g.p)
    }

    fn metrics_by_functions(g: &Gen<'_>, words: u32) -> bool {
        g.is_in_loop() || g.target.reads_messages && words > SHORT_KEY
    }

    fn late_input(g: &Gen<'_>, var: Var) -> Option<LateInput<Bpf>> {
        g.target.hook.asks_late(g, var).then_some(ask_mtu)
    }
}

/// Reads the interface's MTU at its use: it is constant, and few packets need it. While a lock is held, returns the
/// value that was read before.
fn ask_mtu(g: &mut Gen<'_>) -> C {
    let before = g.target.held.input();
    if let Some(asked) = before.or_else(|| g.target.asked_mtu.clone()) {
        return asked;
    }
    needs(g, Construct::Mtu);
    let asked = g.own_local("asked_mtu", Type::U32, None);
    g.set(asked.clone(), C::call("packet_mtu", vec![C::id("ctx")]));
    g.target.asked_mtu = Some(asked.clone());
    asked
}
