// SPDX-License-Identifier: Apache-2.0
//
// Variables and constants of the parser and of its states; assignments before and after extracts; direct transitions.

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
}

struct headers_t {
    ethernet_t eth;
    data_t     x;
    data_t     y;
}

parser prs(packet_in packet, out headers_t hdr) {
    const bit<8> STEP = 4;
    bit<8> rounds = 1;
    bool again = true;

    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.x);
        bit<8> local = hdr.x.a;
        hdr.x.b = local + STEP;
        rounds = rounds + STEP;
        transition middle;
    }
    state middle {
        packet.extract(hdr.y);
        hdr.y.b = rounds;
        if (hdr.x.a > 10) {
            hdr.y.c = 1;
        } else {
            hdr.y.c = 2;
            again = false;
        }
        hdr.x.c = again ? 8w0xaa : 0xbb;
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;

    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.x);
        packet.emit(hdr.y);
    }
}

xdp(prs(), sw(), dprs()) main;
