// SPDX-License-Identifier: Apache-2.0
//
// Fields of 128 and 200 bits: sums, products, shifts, comparisons, slices, concatenations.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header wide_t {
    bit<128> a;
    bit<128> b;
    bit<200> c;
    bit<8>   op;
}

struct headers_t {
    ethernet_t eth;
    wide_t     w;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.w);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        if (hdr.w.op == 1) {
            hdr.w.a = hdr.w.a + hdr.w.b;
            hdr.w.c = hdr.w.c + 1;
        } else if (hdr.w.op == 2) {
            hdr.w.a = hdr.w.a - hdr.w.b;
            hdr.w.c = -hdr.w.c;
        } else if (hdr.w.op == 3) {
            hdr.w.a = hdr.w.a ^ hdr.w.b;
            hdr.w.b = ~(hdr.w.a | hdr.w.b);
            hdr.w.c = hdr.w.c & 0xff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff;
        } else if (hdr.w.op == 4) {
            hdr.w.a = hdr.w.a << 7;
            hdr.w.b = hdr.w.b >> 65;
            hdr.w.c = hdr.w.c << 100;
        } else if (hdr.w.op == 5) {
            hdr.w.a = hdr.w.a < hdr.w.b ? 128w1 : 0;
            hdr.w.b = hdr.w.c == 200w5 ? 128w1 : 2;
        } else if (hdr.w.op == 6) {
            hdr.w.a = hdr.w.c[163:36];
            hdr.w.b[70:60] = hdr.w.c[199:189];
            hdr.w.c = hdr.w.a[71:0] ++ hdr.w.b;
        } else if (hdr.w.op == 7) {
            hdr.w.a = hdr.w.a * hdr.w.b;
            hdr.w.c = hdr.w.c * 3;
        } else if (hdr.w.op == 8) {
            hdr.w.a = hdr.w.a |+| hdr.w.b;
            hdr.w.b = hdr.w.b |-| (bit<128>)hdr.w.c;
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.w);
    }
}

xdp(prs(), sw(), dprs()) main;
