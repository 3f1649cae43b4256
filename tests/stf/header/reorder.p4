// SPDX-License-Identifier: Apache-2.0
//
// The deparser emits in another order than the parser found; a header emitted twice; one left out.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header one_t {
    bit<8> a;
}

header two_t {
    bit<16> b;
}

header three_t {
    bit<32> c;
}

struct headers_t {
    ethernet_t eth;
    one_t      one;
    two_t      two;
    three_t    three;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.one);
        packet.extract(hdr.two);
        packet.extract(hdr.three);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        if (hdr.one.a == 1) {
            hdr.two.setInvalid();
        }
        hdr.three.c = hdr.three.c + 1;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.three);
        packet.emit(hdr.one);
        packet.emit(hdr.two);
        packet.emit(hdr.one);
    }
}

xdp(prs(), sw(), dprs()) main;
