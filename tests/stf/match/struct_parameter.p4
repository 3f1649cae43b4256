// SPDX-License-Identifier: Apache-2.0
//
// Action parameters that are structs and enums: entries that the control plane cannot change give them.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

enum side_t { first, second }

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
    action set_one(side_t side, next_t next) {
        if (side == side_t.first) {
            hdr.d.first_port = next.port;
            hdr.d.first_weight = next.weight;
        } else {
            hdr.d.second_port = next.port;
            hdr.d.second_weight = next.weight;
        }
    }

    table t {
        key = { hdr.d.key : exact @name("key"); }
        actions = { set; set_one; }
        const default_action = set({ 1, 2 }, { weight = 4, port = 3 });
        const entries = {
            1 : set({ 10, 100 }, { port = 20, weight = 200 });
            2 : set_one(side_t.second, { 21, 210 });
            4 : set_one(side_t.first, { 12, 120 });
        }
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
