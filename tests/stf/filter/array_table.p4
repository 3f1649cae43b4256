// SPDX-License-Identifier: Apache-2.0
//
// A table by index: array_table with a dense key.

#include <core.p4>
#include <ebpf_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<32> index;
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
    action verdict(bit<1> ok) {
        pass = ok == 1;
    }

    table t {
        key = { hdr.data.index : exact @name("index"); }
        actions = { verdict; }
        default_action = verdict(0);
        implementation = array_table(16);
    }

    apply {
        pass = false;
        t.apply();
    }
}

ebpfFilter(prs(), flt()) main;
