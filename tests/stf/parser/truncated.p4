// SPDX-License-Identifier: Apache-2.0
//
// Packets that end inside each of three headers.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header two_t {
    bit<8>  a;
    bit<16> b;
}

header three_t {
    bit<40> c;
}

struct headers_t {
    ethernet_t eth;
    two_t      two;
    three_t    three;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            0x1234:  two;
            default: accept;
        }
    }
    state two {
        packet.extract(hdr.two);
        transition select(hdr.two.a) {
            0:       accept;
            default: three;
        }
    }
    state three {
        packet.extract(hdr.three);
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
        packet.emit(hdr.two);
        packet.emit(hdr.three);
    }
}

xdp(prs(), sw(), dprs()) main;
