// SPDX-License-Identifier: Apache-2.0
//
// Blocks that are applied by their type, given to other blocks, or made where none is given; constants of every kind; arguments
// that nobody asks for.

#include <core.p4>
#include <xdp_model.p4>

error { Odd }

struct pair_t {
    bit<8> first;
    bit<8> second;
}

const pair_t PAIR = { second = 2, first = 40 };
const tuple<bit<8>, bool> TUPLE = { 3, true };
const list<pair_t> PAIRS = { { 1, 10 }, { 2, 20 } };
const error ODD = error.Odd;
const int WIDTH = 4w8;
const bit<0> NOTHING = 0;

header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
header h_t {
    bit<8> a;
    bit<8> added;
    bit<8> by_default;
    bit<8> swapped;
    bit<8> with;
    bit<8> constants;
    bit<8> listed;
    bit<8> unset;
    bit<8> odd;
    int<8> joined;
    bit<8> compared;
}

struct headers_t {
    eth_t eth;
    h_t   h;
}

parser one<T>(packet_in packet, out T header_of) {
    state start {
        packet.extract(header_of);
        transition accept;
    }
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        one<eth_t>.apply(packet, hdr.eth);
        one.apply(packet, hdr.h);
        transition select(hdr.h.a) {
            0xff: without;
            default: accept;
        }
    }
    // Without a transition the packet is rejected.
    state without {
        hdr.h.a = 1;
    }
}

control step_t(inout bit<8> x);

control add(inout bit<8> x)(bit<8> by = 5) {
    apply {
        x = x + by;
    }
}

control twice(inout bit<8> x)(step_t step = add()) {
    apply {
        step.apply(x);
        step.apply(x);
    }
}

control swap<T>(inout T a, inout T b) {
    apply {
        T t = a;
        a = b;
        b = t;
    }
}

void split(in bit<8> x, out bit<4> high, out bit<4> low) {
    high = x[7:4];
    low = x[3:0];
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    twice(add(3)) given;
    twice() made;
    bit<8> never;
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        given.apply(hdr.h.added);
        made.apply(hdr.h.by_default);
        add.apply(hdr.h.by_default);
        swap.apply(hdr.h.swapped, hdr.h.with);
        swap<bit<8>>.apply(hdr.h.swapped, hdr.h.with);
        swap.apply(hdr.h.with, hdr.h.swapped);
        hdr.h.constants = PAIR.first + TUPLE[0] + (bit<8>) (bit<WIDTH>) PAIR.second + (NOTHING == 0 ? 8w100 : 0);
        hdr.h.listed = 0;
        for (pair_t p in PAIRS) {
            hdr.h.listed = hdr.h.listed + p.second;
        }
        for (bit<8> x in (list<bit<8>>) { 1, 2, 4 }) {
            hdr.h.listed = hdr.h.listed + x;
        }
        hdr.h.unset = never;
        error e = hdr.h.a[0:0] == 1 ? ODD : error.NoError;
        bit<4> low;
        split(hdr.h.a, _, low);
        hdr.h.odd = e == error.Odd ? (bit<8>) low : 0;
        hdr.h.joined = -4s1 ++ low;
        bool is_small = hdr.h.a < 16;
        bool is_odd = e != error.NoError;
        if (is_small == is_odd) ;
        else {
            { bit<8> a = 7; hdr.h.compared = a; }
            { bit<8> a = 1; hdr.h.compared = hdr.h.compared + a; }
        }
        if (is_small != is_odd) {
            hdr.h.compared = hdr.h.compared + 0x10;
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
