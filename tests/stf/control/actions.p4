// SPDX-License-Identifier: Apache-2.0
//
// Actions called from apply, from actions, with directional parameters, and bound in the table.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  key;
    bit<16> a;
    bit<16> b;
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

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action add_to(inout bit<16> target, in bit<16> amount) {
        target = target + amount;
    }

    action both(bit<16> amount) {
        add_to(hdr.data.a, amount);
        add_to(hdr.data.b, amount + 1);
    }

    action bound(inout bit<16> target, bit<16> amount) {
        target = target ^ amount;
    }

    table t {
        key = { hdr.data.key : exact @name("key"); }
        actions = { both; bound(hdr.data.b); NoAction; }
        default_action = bound(hdr.data.b, 0xff00);
        size = 8;
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        t.apply();
        add_to(hdr.data.a, 1);
        add_to(target = hdr.data.b, amount = hdr.data.a);
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
