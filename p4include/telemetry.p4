// SPDX-License-Identifier: Apache-2.0
//
//! Metrics about packets, by group, which readers see while packets pass.
//!
//! A group is a key of type K: a struct of plain fields (no varbit), or a single value. One metric for all packets
//! has a key that is always the same, `1w0`.
//!
//! Each processor keeps metrics of its own and waits for nobody; a reader adds them up. They lie in memory that readers
//! map, so that looking at a metric takes no system call and costs packets nothing. A reader may see a group between two
//! of a packet's writes: its sum already without its count, never half a number.
//!
//! The memory is taken when the program is loaded, and never more: `groups` is rounded up to eight times a power of two, and each
//! processor has as many. A key belongs to one set of eight. What belongs to a new group whose set is full is lost; readers say
//! how much that was. `top_keys` gives such a key the place of another.
//!
//! A key may have 128 bytes, and the metrics of eight groups 64 KiB.

#ifndef _TELEMETRY_P4_
#define _TELEMETRY_P4_

/// Now, in nanoseconds of the monotonic clock.
/// @on interpreter: A clock of its own, so that a test always gets the same times: a microsecond passes from packet to packet, and what `wait` says.
/// @on xdp, tc: As described.
@isolated
extern bit<64> monotonic_ns();

/// How many, and the sum, the least and the greatest of what was added: 32 bytes a group, besides its key.
/// @on interpreter, xdp, tc: As described; the interpreter is one processor.
/// @errors E0741 E0742 E0743
extern tally<K> {
    /// With room for so many groups.
    tally(bit<32> groups);
    /// Adds a value to the metrics of a group.
    void add(in K key, in bit<64> value);
}

/// How values are distributed: 496 counts a group. Values below 8 have a count of their own, others share one with
/// those that differ by less than an eighth.
/// @on interpreter, xdp, tc: As described; the interpreter is one processor.
/// @errors E0741 E0742 E0743
extern histogram<K> {
    /// With room for so many groups.
    histogram(bit<32> groups);
    /// Counts a value of a group.
    void add(in K key, in bit<64> value);
}

/// How many different items there were, by HyperLogLog: a group has 2^precision bytes (precision is 4 to 12, and 10 if it is left
/// out). The standard error is 1.04 / sqrt(2^precision), with 10 that is 3.3 %.
/// @on interpreter, xdp, tc: As described; the interpreter is one processor.
/// @errors E0741 E0742 E0743 E0747
extern distinct_count<K, T> {
    /// With room for so many groups, and a precision of 10.
    distinct_count(bit<32> groups);
    /// With room for so many groups, and a precision from 4 to 12.
    distinct_count(bit<32> groups, bit<8> precision);
    /// Adds an item to a group.
    void add(in K key, in T item);
}

/// The keys with the greatest weights, by Space-Saving in sets of eight: a new key in a full set takes the place of the one with
/// the least weight and begins with it. So a weight is never too small, and too large by no more than `error`, which is
/// kept with it; a key that is missing has at most the least of its set.
/// @on interpreter, xdp, tc: As described; the interpreter is one processor.
/// @errors E0741 E0742 E0743
extern top_keys<K> {
    /// With room for so many keys.
    top_keys(bit<32> keys);
    /// Adds to the weight of a key.
    void add(in K key, in bit<64> weight);
}

// The guard is there because another include file may declare it too.
#ifndef _DIGEST_P4_
#define _DIGEST_P4_
/// Hands `data` to the control plane; `receiver` is free for it to use. The struct's name names the digest.
/// @on interpreter: A test reads them by `expect_digest`.
/// @on xdp, tc: `onpath digests` prints them. They wait in a ring buffer of 256 KiB; those that find no room are counted. Varbits are refused (E0746).
/// @errors E0746
@isolated
extern void digest<T>(in bit<32> receiver, in T data);
#endif

#endif
