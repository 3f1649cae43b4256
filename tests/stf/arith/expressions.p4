// SPDX-License-Identifier: Apache-2.0
//
// Precedence and associativity: every operator beside its neighbours.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<8> r0;
    bit<8> r1;
    bit<8> r2;
    bit<8> r3;
    bit<8> r4;
    bit<8> r5;
    bit<8> r6;
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
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        bit<8> a = hdr.d.a;
        bit<8> b = hdr.d.b;
        bit<8> c = hdr.d.c;
        hdr.d.r0 = a + b * c - a;
        hdr.d.r1 = a - b - c;
        hdr.d.r2 = a | b & c ^ a;
        hdr.d.r3 = a << 1 + 1 | b >> 1;
        hdr.d.r4 = ~a + -b;
        hdr.d.r5 = a == b || a < b && b < c ? 8w1 : (a > c ? 8w2 : 3);
        hdr.d.r6 = (a & 0x0f == 0 ? b : c) + (!(a != b) ? 8w1 : 0);
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.d);
    }
}

xdp(prs(), sw(), dprs()) main;
