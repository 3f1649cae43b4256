// SPDX-License-Identifier: Apache-2.0
//
// Arrays of numbers, of structs and of arrays, indexed by what only the packet knows: read, written, copied, compared,
// passed to functions and controls. What is outside of one of them is zero, and not written.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header h_t {
    bit<8>  i;
    bit<8>  v;
    bit<8>  j;
    bit<8>  sum;
    bit<16> walked;
    bit<8>  same;
    bit<8>  flag;
    bit<8>  outside;
    bit<8>  inner;
    bit<8>  counted;
}

struct headers_t {
    ethernet_t eth;
    h_t        h;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.h);
        transition accept;
    }
}

struct pair_t {
    bit<8>     a;
    bool       b;
    bit<3>     c;
    bit<16>[2] d;
}

bit<8> sum(in bit<8>[4] v) {
    return v[0] + v[1] + v[2] + v[3];
}

void fill(out bit<8>[4] v, in bit<8> x) {
    v = {x, x, x, x};
    v[1] = 7;
}

control count(inout pair_t[3] ps, in bit<8> i) {
    apply {
        ps[i].a = ps[i].a + 1;
        ps[0].d[i] = 5;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    // As C has it: four of two.
    bit<8> m[4][2];
    // Two of four.
    bit<8>[4][2] n;
    pair_t[3] ps;
    ethernet_t[0] none;
    count() counts;
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        m[hdr.h.i][hdr.h.j] = hdr.h.v;
        n[hdr.h.j][hdr.h.i] = hdr.h.v + 1;
        fill(n[1], 2);
        ps[hdr.h.j] = {hdr.h.v, true, 3, {9, 10}};
        counts.apply(ps, hdr.h.i);
        hdr.h.sum = m[hdr.h.i][hdr.h.j] + n[0][hdr.h.i] + sum(n[hdr.h.j]) + (bit<8>) none.size;
        hdr.h.counted = ps[1].a;
        hdr.h.inner = (bit<8>) ps[hdr.h.j].d[1];
        hdr.h.outside = ps[0].d[hdr.h.i][7:0];
        hdr.h.flag = ps[hdr.h.j].b ? 8w1 : 0;
        if (n[0] == n[1]) {
            hdr.h.same = 1;
        }
        bit<8>[4] copy = n[1];
        hdr.h.walked = 0;
        for (bit<8> x in copy) {
            hdr.h.walked = hdr.h.walked + (bit<16>) x;
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.h);
    }
}

xdp(prs(), sw(), dprs()) main;
