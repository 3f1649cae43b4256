// SPDX-License-Identifier: Apache-2.0
//
// Parsers and controls that are generic, with types given and inferred; the same name for constructors of different
// parameters, and for functions of different types; objects and numbers as default arguments.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

const int W = 4;

enum bit<8> step_t {
    ONE = 1,
    TWO = ONE + ONE,
    BOTH = ONE | TWO,
    FAR = step_t.BOTH << 2
}

header h_t {
    bit<W * 2>    a;
    bit<2 + 2>    b;
    bit<W>        c;
    bit<(W << 2)> d;
    bit<8>        e;
    bit<8>        f;
    bit<8>        g;
    bit<8>        h;
    bit<16>       i;
    bit<8>        j;
    bit<W & 12>   k;
    bit<W * 2 >> 1> l;
}

parser one<T>(packet_in packet, out T value) {
    state start {
        packet.extract(value);
        transition accept;
    }
}

struct headers_t {
    ethernet_t eth;
    h_t        h;
}

parser prs(packet_in packet, out headers_t hdr) {
    one<ethernet_t>() first;
    one() second;
    state start {
        first.apply(packet, hdr.eth);
        second.apply(packet, hdr.h);
        transition accept;
    }
}

control assign<T>(inout T to, in T value)(bool really = true) {
    apply {
        if (really) {
            to = value;
        }
    }
}

control assignment<T>(inout T to, in T value);

control twice<T>(inout T to, in T value)(assignment<T> first = assign(), assignment<T> second = assign(false)) {
    apply {
        first.apply(to, value);
        second.apply(to, value);
    }
}

control add(inout bit<8> x)(bit<8> by = step_t.TWO) {
    apply {
        x = x + by;
    }
}

control add(inout bit<8> x)(bit<8> by, bit<8> more) {
    apply {
        x = x + by * more;
    }
}

bit<8> kind(in bit<8> x) {
    return 1;
}

bit<8> kind(in bit<16> x) {
    return 2;
}

bit<8> kind(in bool x) {
    return 3;
}

struct pair_t {
    bit<8>  x;
    bit<16> y;
}

bit<8> kind(in pair_t p) {
    return 4;
}

bit<8> kind(in tuple<bit<8>, bool> t) {
    return 5;
}

bit<8> kind(in bit<8>[3] all) {
    return 6;
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    assign() inferred;
    assign<bit<16>>() given;
    assign(false) never;
    twice<bit<8>>() eight;
    twice() sixteen;
    add() two;
    add(3) three;
    add(3, 5) fifteen;
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        inferred.apply(hdr.h.b, 0x_5);
        given.apply(hdr.h.d, 16w0x_be_ef);
        never.apply(hdr.h.d, 1);
        two.apply(hdr.h.a);
        three.apply(hdr.h.a);
        fifteen.apply(hdr.h.a);
        hdr.h.e = kind(hdr.h.a) + kind(hdr.h.d) * 2 + kind(hdr.h.a == 1) * 4;
        hdr.h.f = step_t.FAR;
        hdr.h.g = 0xff & ~3 ^ 0x10;
        eight.apply(hdr.h.h, hdr.h.a);
        sixteen.apply(hdr.h.i, 0x1234);
        hdr.h.j = kind({ hdr.h.a, hdr.h.d }) * 16 + kind({ 1, true }) * 4 + kind({ hdr.h.a, 2, 3 });
        hdr.h.k = 5;
        hdr.h.l = kind({ y = 1, x = hdr.h.a })[3:0];
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.h);
    }
}

xdp(prs(), sw(), dprs()) main;
