// SPDX-License-Identifier: Apache-2.0
//
// A `select` that compares with what only the packet knows: values, masks, ranges and a struct of them, among cases that
// are known.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header h_t {
    bit<8> a;
    bit<8> b;
    bit<8> mask;
    bit<8> way;
}

struct headers_t {
    ethernet_t eth;
    h_t        h;
}

struct pair_t {
    bit<8> x;
    bit<8> y;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.h);
        transition select(hdr.h.a, hdr.h.mask) {
            (7, 7): known;
            (hdr.h.b, _): equal;
            (hdr.h.b &&& hdr.h.mask, 1 .. 0x7f): masked;
            (hdr.h.b .. hdr.h.mask, _): between;
            default: other;
        }
    }
    state known {
        hdr.h.way = 1;
        transition accept;
    }
    state equal {
        pair_t pair = {hdr.h.a, 9};
        hdr.h.way = 2;
        transition select(hdr.h.a, hdr.h.mask) {
            pair: twice;
            (0, 0): known;
            default: accept;
        }
    }
    state twice {
        hdr.h.way = 3;
        transition accept;
    }
    state masked {
        hdr.h.way = 4;
        transition accept;
    }
    state between {
        hdr.h.way = 5;
        transition accept;
    }
    state other {
        hdr.h.way = 6;
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
        packet.emit(hdr.h);
    }
}

xdp(prs(), sw(), dprs()) main;
