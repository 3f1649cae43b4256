// SPDX-License-Identifier: Apache-2.0
//
// Action parameters that are structs: entries give their fields, by name or in order.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct next_t {
    bit<8>  port;
    bit<16> weight;
}

header data_t {
    bit<8>  key;
    bit<8>  first_port;
    bit<16> first_weight;
    bit<8>  second_port;
    bit<16> second_weight;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.d);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action set(next_t first, next_t second) {
        hdr.d.first_port = first.port;
        hdr.d.first_weight = first.weight;
        hdr.d.second_port = second.port;
        hdr.d.second_weight = second.weight;
    }

    table t {
        key = { hdr.d.key : exact @name("key"); }
        actions = { set; }
        default_action = set({ 1, 2 }, { weight = 4, port = 3 });
        size = 8;
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        t.apply();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.d);
    }
}

xdp(prs(), sw(), dprs()) main;
