// SPDX-License-Identifier: Apache-2.0
//
// A table in the key of another, keys without names of their own, braces around the only key of an entry, parameters of
// actions with values by default; a compound assignment whose left side calls a function, once; an extern that is made
// where it is called.

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
    bit<8> c;
    bit<8> calls;
    bit<8> d;
    bit<8> e;
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

bit<8> next(inout bit<8> calls) {
    calls = calls + 1;
    return calls;
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    bit<8> sums[4];
    action set_b(bit<8> v = 0x11) {
        hdr.h.b = v;
    }
    action set_c(bit<8> v) {
        hdr.h.c = v;
    }
    table known {
        key = { hdr.h.a: exact; }
        actions = { set_b; }
        default_action = set_b();
        const entries = {
            {1}: set_b(0x21);
            (2): set_b();
            3: set_b(v = 0x23);
        }
    }
    table by_hit {
        key = {
            known.apply().hit: exact @name("hit");
            hdr.h.a & 0xf: exact;
            hdr.h.a + 1: ternary;
        }
        actions = { set_c; @defaultonly NoAction; }
        default_action = NoAction();
    }
    table nothing {
        actions = { set_c; }
        default_action = set_c(1);
        const entries = {}
    }
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        nothing.apply();
        by_hit.apply();
        hdr.h.calls = 0;
        sums[1] = 5;
        sums[next(hdr.h.calls)] += hdr.h.a;
        hdr.h.d = sums[1];
        hdr.h.e = 9;
        hdr.h.e >>= 2s1;
        CounterArray(4, false).increment(1);
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.h);
    }
}

xdp(prs(), sw(), dprs()) main;
