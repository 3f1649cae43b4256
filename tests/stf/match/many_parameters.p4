// SPDX-License-Identifier: Apache-2.0
//
// Actions with many and with wide parameters, and a key of many fields: 40 bytes of key, 60 of data.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<128> a;
    bit<128> b;
    bit<48>  c;
    bit<13>  d;
    bit<3>   e;
    bit<33>  f;
    bit<7>   g;
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
    action set(bit<128> a, bit<128> b, bit<48> c, bit<13> d, bit<3> e, bit<33> f, bit<7> g, bool swap, int<20> add) {
        hdr.d.a = swap ? b : a;
        hdr.d.b = swap ? a : b;
        hdr.d.c = c + (bit<48>)(bit<20>)add;
        hdr.d.d = d;
        hdr.d.e = e;
        hdr.d.f = f;
        hdr.d.g = g;
    }

    table t {
        key = {
            hdr.d.a : exact @name("a");
            hdr.d.b : exact @name("b");
            hdr.d.c : exact @name("c");
            hdr.d.d : exact @name("d");
            hdr.d.f : exact @name("f");
        }
        actions = { set; }
        default_action = set(1, 2, 3, 4, 5, 6, 7, false, -1);
        size = 8;
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        t.apply();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.d);
    }
}

xdp(prs(), sw(), dprs()) main;
