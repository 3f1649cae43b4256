// SPDX-License-Identifier: Apache-2.0
//
//! The packet filter: a parser and a control that decides whether the packet may go on.
//!
//! ```p4
//! ebpfFilter(parser, filter) main;
//! ```
//!
//! There is no deparser: the packet goes on as it came, and what the program writes into headers is lost.
//! A parser that rejects drops the packet without running the filter.

#ifndef _EBPF_MODEL_P4_
#define _EBPF_MODEL_P4_

#include <core.p4>
#include <flow_state.p4>

// The guard is there because another model may declare them too, and a match kind is declared once.
#ifndef _MORE_MATCH_KINDS_P4_
#define _MORE_MATCH_KINDS_P4_
/// Match kinds beyond those of core.p4.
/// @errors E0212 E0572
match_kind {
    range,     // lo..hi, both ends included
    optional,  // one exact value or anything
    selector   // no part of the key: hashed by an action selector to choose a member
}
#endif

/// Counters that the program increments and the control plane reads.
/// Quirks that programs rely on: indices run from 0 to `max_index` - 1, `max_index` being one past the last; an index
/// outside that range counts nothing; a counter wraps as the target's counters do (64 bits with Onpath).
/// @on interpreter: As described; `sparse` changes nothing.
/// @on xdp, tc: Each processor has counters of its own, so that none is lost; readers add them up. A sparse array keeps 65,536 indices at most.
/// @errors E0730
extern CounterArray {
    /// `sparse` asks for a hash map in place of an array: few used indices out of many.
    CounterArray(bit<32> max_index, bool sparse);
    /// Adds 1 to the counter at an index.
    void increment(in bit<32> index);
    /// Adds a number to the counter at an index.
    void add(in bit<32> index, in bit<32> value);
}

/// A value of a table's `implementation` property: a table of this many entries, whose single exact key is below that number.
/// It is advice with a size: a table with an lpm, ternary or range key takes the size and the compiler chooses the structure.
/// @on interpreter: The table has this size.
/// @on xdp, tc: The table has this size, and its keys decide how it is searched.
/// @errors E0567 E0725
extern array_table {
    /// The size counts entries.
    array_table(bit<32> size);
}

/// A value of a table's `implementation` property: a hash table of this many entries. It is advice with a size, as `array_table`.
/// @on interpreter: The table has this size.
/// @on xdp, tc: A table of exact keys is the kernel's hash map, whatever its size.
/// @errors E0567 E0725
extern hash_table {
    /// The size counts entries.
    hash_table(bit<32> size);
}

/// The block that turns bytes into headers.
parser parse<H>(packet_in packet, out H headers);

/// The block that decides: the packet goes on if `accept` is true.
/// Quirk: `accept` is an out parameter without a defined first value. Set it on every path.
/// @errors W0403
control filter<H>(inout H headers, out bool accept);

/// The package of a filter.
/// @errors E0601 E0603
package ebpfFilter<H>(parse<H> prs, filter<H> filt);

#endif
