// SPDX-License-Identifier: Apache-2.0
//
// The packet filter: a parser and a control that decides whether the packet may go on.
//
//   ebpfFilter(parser, filter) main;
//
// There is no deparser: the packet goes on as it came, and what the program writes into headers is lost.
// A parser that rejects drops the packet without running the filter.

#ifndef _EBPF_MODEL_P4_
#define _EBPF_MODEL_P4_

#include <core.p4>
#include <flow_state.p4>

// Match kinds beyond core.p4's. The guard is there because another model may declare them too, and a match
// kind is declared once.
#ifndef _MORE_MATCH_KINDS_P4_
#define _MORE_MATCH_KINDS_P4_
match_kind {
    range,     // lo..hi, both ends included
    optional,  // one exact value or anything
    selector   // no part of the key: hashed by an action selector to choose a member
}
#endif

// Counters that the program increments and the control plane reads.
// Quirks that programs rely on: indices run from 0 to max_index - 1, max_index being one past the last; an index
// outside that range counts nothing; a counter wraps as the target's counters do (64 bits with Onpath).
extern CounterArray {
    // `sparse` asks for a hash map in place of an array: few used indices out of many.
    CounterArray(bit<32> max_index, bool sparse);
    void increment(in bit<32> index);
    void add(in bit<32> index, in bit<32> value);
}

// Values of a table's `implementation` property. They are advice with a size: a table with an lpm,
// ternary or range key takes the size and the compiler chooses the structure.
extern array_table {
    array_table(bit<32> size);  // entries; the single exact key is below it
}
extern hash_table {
    hash_table(bit<32> size);   // entries
}

parser parse<H>(packet_in packet, out H headers);

// Quirk: `accept` is an out parameter without a defined first value. Set it on every path.
control filter<H>(inout H headers, out bool accept);

package ebpfFilter<H>(parse<H> prs, filter<H> filt);

#endif
