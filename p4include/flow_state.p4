// SPDX-License-Identifier: Apache-2.0
//
//! State that packets write: one value a flow.

#ifndef _FLOW_STATE_P4_
#define _FLOW_STATE_P4_

/// Values of type V under keys of type K: structs of plain fields (no varbit), or single values.
///
/// The state never refuses a flow: it is set-associative with eight ways, a key belongs to one set, and a new flow in
/// a full set replaces the least recently used one (looked up or updated). `size` is rounded up to eight
/// times a power of two. SipHash-1-3 chooses a key's set, under a secret of 128 bits that is drawn when the program is
/// loaded (in tests it is 0), so that an attacker cannot choose keys that evict each other.
///
/// Racing packets are kept apart by a lock for each set: a call that changes something looks its set up, takes the lock,
/// and gives it back when it is done. A lookup takes the lock only if the set changes meanwhile. So each call is atomic:
/// a value is read or written as a whole, whatever other processors do, and packets whose flows are in different sets
/// do not wait for each other. Several calls are atomic together in
/// an `@atomic` block, in which the set's lock is held from the first call to the block's end:
///
/// ```p4
/// @atomic {
///     if (flows.lookup(key, flow)) { flow.packets = flow.packets + 1; }
///     flows.update(key, flow);
/// }
/// ```
///
/// Such a block may use one key of one `flow_state`, plain computations and conditions, functions and actions made
/// of them, externs whose result depends on their arguments alone (`hash`), of values that the block does not change,
/// and nothing else: no table, no other extern, no loop, nothing that leaves it, and the key stays what it
/// is. What is not so is refused. Take the time and random numbers before the block. An update after a lookup in
/// one block searches nothing and writes the fields that may have changed; so a block is faster than separate calls.
///
/// Programs that are loaded together may share one (see bundles), if keys, values, size and `idle` are the same:
/// it is one map in the kernel, and the lock is one for all of them.
///
/// Memory: for each slot the key's bytes (each field in as many as it needs) rounded up to 8, the value's fields in
/// their order at their natural alignment, rounded up to 8, and 11 bytes; 8 more with `idle`. So fields that are used
/// together are best declared together. All of it is taken when the program is
/// loaded, and never more. A key may have 128 bytes, a slot 8 KiB, a state 4 GiB.
/// Besides, each processor keeps 256 hashes of keys, since packets of one flow come in bursts: all states whose keys have
/// the same number of words share them.
/// @on interpreter: Packets run one at a time; which flow is evicted is what the kernel would evict.
/// @on xdp, tc: As described. On processors other than x86 a lookup takes the lock too. `onpath flows` lists and removes flows under the same locks.
/// @errors E0740 E0741 E0742 E0743
extern flow_state<K, V> {
    /// Flows stay until they are evicted or removed.
    flow_state(bit<32> size);
    /// Flows that were not used for more than `idle` nanoseconds are gone, and their slots free; 0 is never.
    /// Its clock may be some milliseconds late.
    flow_state(bit<32> size, bit<64> idle);
    /// Whether the flow is known, and its value; a value of zeros if it is not.
    bool lookup(in K key, out V value);
    /// Stores a value, of a new flow or of one that is known.
    void update(in K key, in V value);
    /// Removes a flow, and returns whether it was known.
    bool remove(in K key);
}

#endif
