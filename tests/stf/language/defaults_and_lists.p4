// SPDX-License-Identifier: Apache-2.0
//
// Default values, generic structs, lists, sizes that are known at compile time, errors and signed enums, at run time.

#include <core.p4>
#include <xdp_model.p4>

error { Unexpected }

enum plain_t { first, second }
enum int<8> level_t { low = -2, high = 3 }

const bit<8> STEP = 2;
const list<bit<8>> PRIMES = { 2, 3, 5, 7 };

struct pair_t<T> {
    T      value;
    bit<8> count;
}

struct state_t {
    bit<8>         number;
    bool           flag;
    error          problem;
    plain_t        kind;
    pair_t<bit<8>> pair;
}

header h_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
    bit<8>  a;
    bit<8>  defaults;
    bit<8>  partly;
    bit<8>  primes;
    bit<8>  sizes;
    bit<8>  problem;
    int<8>  level;
    bit<8>  pairs;
    bit<8>  scope;
}

header options_t {
    bit<4>      length;
    bit<4>      rest;
    varbit<320> data;
}

struct headers_t {
    h_t h;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

pair_t<T> twice<T>(in T x) {
    return { x, 2 };
}

bit<8> STEPS(in bit<8> x) {
    return x + .STEP;
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action count(in bit<8> by = 3) {
        hdr.h.scope = hdr.h.scope + by;
    }
    apply {
        const bit<8> STEP = 5;
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;

        state_t s = ...;
        if (s.number == 0 && !s.flag && s.problem == error.NoError && s.kind == plain_t.first && s.pair == { 0, 0 }) {
            hdr.h.defaults = 1;
        }
        s = { number = hdr.h.a, pair = { count = 4, ... }, ... };
        hdr.h.partly = s.number + s.pair.count + s.pair.value;

        hdr.h.primes = 0;
        for (bit<8> p in PRIMES) {
            if (p > hdr.h.a) {
                break;
            }
            hdr.h.primes = hdr.h.primes + p;
        }

        hdr.h.sizes = options_t.minSizeInBytes() + options_t.maxSizeInBytes() + (bit<8>) hdr.h.sizes.minSizeInBits();

        if (hdr.h.a > 2) {
            s.problem = error.Unexpected;
        } else if (hdr.h.a == 2) {
            s.problem = error.HeaderTooShort;
        }
        switch (s.problem) {
            error.NoError: { hdr.h.problem = 1; }
            error.HeaderTooShort:
            error.ParserTimeout: { hdr.h.problem = 2; }
            default: { hdr.h.problem = 3; }
        }

        level_t level = hdr.h.a > 2 ? level_t.high : level_t.low;
        hdr.h.level = hdr.h.level + level;

        pair_t<bit<8>> narrow = twice(hdr.h.a);
        pair_t<tuple<bit<8>, bool>> wide = twice<tuple<bit<8>, bool>>({ hdr.h.a, true });
        hdr.h.pairs = narrow.value + narrow.count + wide.value[0] + (wide.value[1] && wide.value == { 3, true } ? 8w16 : 0);

        hdr.h.scope = STEPS(STEP);
        count();
        count(hdr.h.a);
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.h);
    }
}

xdp(prs(), sw(), dprs()) main;
