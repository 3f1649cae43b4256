// SPDX-License-Identifier: Apache-2.0
//
// Structs in structs, headers in them, and initializers by position, by name, and with defaults.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct point_t {
    bit<8> x;
    bit<8> y;
}

header data_t {
    point_t from;
    point_t to;
    bit<8>  weight;
}

struct inner_t {
    data_t a;
    data_t b;
}

struct outer_t {
    inner_t one;
    inner_t two;
}

struct local_t {
    point_t  p;
    outer_t  unused;
    bit<16>  sum;
    bool     flag;
}

struct headers_t {
    ethernet_t eth;
    outer_t    outer;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.outer.one.a);
        packet.extract(hdr.outer.two.b);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        local_t l = { p = { 1, 2 }, sum = 7, ... };
        l.p = hdr.outer.one.a.from;
        l.sum = l.sum + (bit<16>)l.p.x + (bit<16>)l.p.y;
        hdr.outer.one.a.from = hdr.outer.two.b.to;
        hdr.outer.two.b.to = { y = l.p.x, x = l.p.y };
        hdr.outer.one.b = { { 9, 8 }, { x = 7, y = 6 }, (bit<8>)l.sum };
        hdr.outer.two.a = { to = { 3, 4 }, ... };
        if (l.flag || l.unused.one.a.isValid()) {
            hdr.outer.one.b.setInvalid();
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.outer);
    }
}

xdp(prs(), sw(), dprs()) main;
