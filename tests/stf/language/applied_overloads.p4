// SPDX-License-Identifier: Apache-2.0
//
// Controls and parsers of one name, told apart by what they are applied with, on the spot and by an instance's name.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header short_t {
    bit<8> a;
}

header long_t {
    bit<8> a;
    bit<8> b;
}

struct headers_t {
    ethernet_t eth;
    short_t    s;
    long_t     l;
}

parser read(packet_in packet, out short_t h) {
    state start {
        packet.extract(h);
        transition accept;
    }
}

parser read(packet_in packet, out long_t h) {
    state start {
        packet.extract(h);
        transition accept;
    }
}

parser prs(packet_in packet, out headers_t hdr) {
    read() first;
    state start {
        packet.extract(hdr.eth);
        first.apply(packet, hdr.l);
        transition select(hdr.l.a) {
            0: more;
            default: accept;
        }
    }
    state more {
        read.apply(packet, hdr.s);
        transition accept;
    }
}

control mark(inout short_t h)(bit<8> by) {
    apply {
        h.a = h.a + by;
    }
}

control mark(inout long_t h)(bit<8> by) {
    apply {
        h.b = h.b + by;
    }
}

control clear(inout bit<8> x) {
    apply {
        x = 0;
    }
}

control clear(inout bit<8> x, inout bit<8> y) {
    apply {
        x = 1;
        y = 2;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    mark(3) short_mark;
    mark(5) long_mark;
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        if (hdr.s.isValid()) {
            short_mark.apply(hdr.s);
        }
        long_mark.apply(hdr.l);
        if (hdr.l.a == 7) {
            clear.apply(hdr.l.b);
        } else if (hdr.l.a == 8) {
            clear.apply(hdr.l.a, hdr.l.b);
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.l);
        packet.emit(hdr.s);
    }
}

xdp(prs(), sw(), dprs()) main;
