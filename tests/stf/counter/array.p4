// SPDX-License-Identifier: Apache-2.0
//
// Counter arrays: increment, add, indices outside, sparse ones, two instances.

#include <core.p4>
#include <ebpf_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<32> index;
    bit<16> amount;
}

struct headers_t {
    ethernet_t eth;
    data_t     data;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.data);
        transition accept;
    }
}

control flt(inout headers_t hdr, out bool pass) {
    CounterArray(8, false) dense;
    CounterArray(0xffffffff, true) sparse;
    CounterArray(8, false) amounts;

    apply {
        dense.increment(hdr.data.index);
        sparse.increment(hdr.data.index);
        amounts.add(hdr.data.index, (bit<32>)hdr.data.amount);
        pass = true;
    }
}

ebpfFilter(prs(), flt()) main;
