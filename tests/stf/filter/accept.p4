// SPDX-License-Identifier: Apache-2.0
//
// The filter decides by tables whether a packet may go on; what it writes into headers is lost.

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

control flt(inout headers_t hdr, out bool pass) {
    action allow() {
        pass = true;
    }

    action deny() {
        pass = false;
    }

    table types {
        key = { hdr.eth.type : exact @name("type"); }
        actions = { allow; deny; }
        default_action = deny();
        implementation = hash_table(8);
    }

    table sources {
        key = { hdr.eth.src : ternary @name("src"); }
        actions = { allow; deny; NoAction; }
        default_action = NoAction();
        size = 8;
    }

    apply {
        pass = false;
        types.apply();
        sources.apply();
        hdr.eth.src = 0;
    }
}

ebpfFilter(prs(), flt()) main;
