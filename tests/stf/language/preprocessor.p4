// SPDX-License-Identifier: Apache-2.0
//
// Text that macros make, in every place: names that are pasted, texts, conditions, files in the middle of a table.

#include <core.p4>
#include <xdp_model.p4>

#define FIELD(name, bits) bit<bits> name
#define JOIN(a, b) a ## _ ## b
#define TEXT(words) #words
#define TWICE(x) ((x) + (x))
#define ASSIGN(to, step) \
    action JOIN(set, to)() { \
        hdr.h.to = TWICE(step); \
    }

#if defined(FIELD) && (1 + 2 * 3 == 7) && !defined(NOTHING)
#define STEP 4
#elif 1
#define STEP 5
#else
#error "the first condition holds"
#endif

#ifdef NOTHING
#if UNKNOWN(1, 2)
what stands here is no P4
#endif
#endif

const bool MADE = static_assert(TWICE(STEP) == 8, TEXT(a macro) ++ " in " ++ TEXT(a macro) ++ __FILE__);

const int FIRST = __LINE__;
const int SECOND = __LINE__;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header h_t {
    FIELD(kind, 8);
    FIELD(one, 8);
    FIELD(two, 8);
    FIELD(line, 8);
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

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    ASSIGN(one, STEP)
    ASSIGN(two, STEP + 1)
    action both() {
        JOIN(set, one)();
        JOIN(set, two)();
    }
    table t {
        key = { hdr.h.kind: exact; }
        actions = { JOIN(set, one); JOIN(set, two); both; NoAction; }
        default_action = NoAction();
        const entries = {
#include "preprocessor.p4h"
        }
    }
#undef TWICE
#define TWICE(x) x
    ASSIGN(kind, 0x77)
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        t.apply();
        if (hdr.h.kind == 9) {
            set_kind();
        }
#line 400 "generated.p4"
        hdr.h.line = 41 * (SECOND - FIRST) + (__LINE__ - 400);
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.h);
    }
}

xdp(prs(), sw(), dprs()) main;
