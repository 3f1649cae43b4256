// SPDX-License-Identifier: Apache-2.0
//
// Arguments that overlap, results that are structs and headers, slices as inout arguments, and evaluation from left to right.

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
    bit<8> d;
    bit<8> e;
}

struct pair_t {
    bit<8> x;
    bit<8> y;
}

struct headers_t {
    ethernet_t eth;
    data_t     data;
    data_t     copy;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.data);
        transition accept;
    }
}

control inner(inout data_t data, in bit<8> k, out bit<8> o) {
    apply {
        data.a = k + 1;
        o = k + data.b;
        data.b = k;
    }
}

pair_t both(inout bit<8> v) {
    v = v + 1;
    return { v, v + 1 };
}

data_t exchanged(in data_t data) {
    data_t r = data;
    r.a = data.b;
    r.b = data.a;
    return r;
}

void exchange(inout bit<4> x, inout bit<4> y) {
    bit<4> t = x;
    x = y;
    y = t;
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    inner() i;

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        // Copied out from left to right: what o was given wins over data.b.
        i.apply(hdr.data, hdr.data.a, hdr.data.b);
        bit<8> v = hdr.data.c;
        pair_t p = both(v);
        hdr.data.c = v + both(v).x + v;
        hdr.data.d = p.x + p.y;
        exchange(hdr.data.e[3:0], hdr.data.e[7:4]);
        hdr.copy = exchanged(hdr.data);
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
        packet.emit(hdr.copy);
    }
}

xdp(prs(), sw(), dprs()) main;
