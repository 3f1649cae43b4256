// SPDX-License-Identifier: Apache-2.0
//
// State that packets write: one value a flow.

#ifndef _FLOW_STATE_P4_
#define _FLOW_STATE_P4_

// Values of type V under keys of type K, both structs of plain fields.
//
// The state never refuses a flow: it is made of sets of eight places, a key belongs to one set, and a new flow in
// a full set takes the place of the one that was used longest ago (looked up or updated). `size` is rounded up to eight
// times a power of two.
//
// Each call is atomic: a value is read or written as a whole, whatever other processors do. Several calls are
// atomic together in an @atomic block, in which the set's lock is held. Such a block may use one key of one
// flow_state, plain computations and conditions, and nothing else; what is not so is refused:
//
//   @atomic {
//       if (flows.lookup(key, flow)) { flow.packets = flow.packets + 1; }
//       flows.update(key, flow);
//   }
//
// Programs that run together may share one (see bundles).
extern flow_state<K, V> {
    flow_state(bit<32> size);
    // Flows that were not used for `idle` nanoseconds are gone.
    flow_state(bit<32> size, bit<64> idle);
    // Whether the flow is known, and its value; a value of zeros if it is not.
    bool lookup(in K key, out V value);
    // Stores a value, of a new flow or of one that is known.
    void update(in K key, in V value);
    // Forgets a flow, and tells whether it was known.
    bool remove(in K key);
}

#endif
