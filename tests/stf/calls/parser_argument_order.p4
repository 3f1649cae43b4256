// SPDX-License-Identifier: Apache-2.0
//
// The order of arguments where a call is built in place: functions that a parser calls, and actions that a table binds.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> n;
    bit<8> a;
    bit<8> b;
    bit<8> i;
}

struct headers_t {
    ethernet_t eth;
    data_t     data;
}

void next_of(out bit<8> x, in bit<8> y) {
    x = y + 1;
}

bit<8> look(inout bit<8> x, in bit<8> z) {
    return x + z;
}

bit<8> bump(inout bit<8> z) {
    z = z + 3;
    return 1;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.data);
        // What is copied in reads what is copied back.
        next_of(hdr.data.a, hdr.data.a + 1);
        hdr.data.n = look(hdr.data.a, bump(hdr.data.a));
        next_of(y = bump(hdr.data.b), x = hdr.data.b);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action add(inout bit<8> x, in bit<8> z) {
        x = x + z;
    }

    table always {
        actions = { add(hdr.data.i, bump(hdr.data.i)); }
        const default_action = add(hdr.data.i, bump(hdr.data.i));
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        always.apply();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
