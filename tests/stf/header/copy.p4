// SPDX-License-Identifier: Apache-2.0
//
// Copies of headers and of structs of headers, with their validity; swaps through a local.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  a;
    bit<16> b;
}

struct group_t {
    data_t x;
    data_t y;
}

struct headers_t {
    ethernet_t eth;
    data_t     what;
    group_t    left;
    group_t    right;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.what);
        packet.extract(hdr.left.x);
        transition select(hdr.what.b) {
            1:       more;
            default: accept;
        }
    }
    state more {
        packet.extract(hdr.left.y);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        if (hdr.what.a == 1) {
            hdr.right = hdr.left;
            hdr.right.x.a = 0xee;
        } else if (hdr.what.a == 2) {
            data_t t = hdr.left.x;
            hdr.left.x = hdr.left.y;
            hdr.left.y = t;
        } else if (hdr.what.a == 3) {
            group_t g = hdr.left;
            hdr.left.x.b = 0;
            hdr.right.y = g.x;
        } else if (hdr.what.a == 4) {
            // One member's new place is the other's old one.
            hdr.left = { hdr.left.y, hdr.left.x };
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.what);
        packet.emit(hdr.left);
        packet.emit(hdr.right);
    }
}

xdp(prs(), sw(), dprs()) main;
