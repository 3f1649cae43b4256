// SPDX-License-Identifier: Apache-2.0
//
// A counter that the program never increments stays at zero, and can be read.

#include <core.p4>
#include <ebpf_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct headers_t {
    ethernet_t eth;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition accept;
    }
}

control pipe(inout headers_t hdr, out bool pass) {
    CounterArray(2, false) unused;

    apply {
        pass = true;
    }
}

ebpfFilter(prs(), pipe()) main;
