// SPDX-License-Identifier: Apache-2.0
//
// Text that other preprocessors take: those for assemblers, which know neither P4 nor C.

#include <core.p4>
#include <xdp_model.p4>
#ident "1.2"
#NOTE: a remark, and don't say "more
# another one

#define FIELD(h, name) hdr.h.name
#define ADD(to, from) hdr.d.to = hdr.d.to + add_##to##(hdr.d.from);
#define PATH(h, n) hdr . h ## . ## n
#define CALL(name) set_##name##()
#define BOTH(x, y) x \  
    y
#define ALL(first, rest...) sum(first, ## rest)
#define UNIQUE2(a, b) a ## b
#define UNIQUE1(a, b) UNIQUE2(a, b)
#define UNIQUE(a) UNIQUE1(a, __COUNTER__)
#define CHOSEN(a, b) ((a) + (b))
#define PREFIX "top"

#if 'a' == 97 && '\n' != ' '
#define LETTERS 'a' is a number in a condition alone
const bit<8> LETTER = 1;
#else
const bit<8> LETTER = 0;
#endif

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

bit<8> add_a(in bit<8> x) { return x + 1; }
bit<8> add_b(in bit<8> x) { return x + 2; }
bit<8> sum(in bit<8> x, in bit<8> y = 3) { return x + y; }

@title("over
   lines" "and another" PREFIX) @free(it's $5, \ and ü ] { # ## `)
control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    bit<8> UNIQUE(v) = 1;
    bit<8> UNIQUE(v) = 2;
    @name(PREFIX ++ "." ++ "set")
    action set_c() {
        hdr.d.c = v0 + v1;
    }
    table t {
        key = { FIELD(d, a): exact @name(PREFIX ++ "_key"); }
        actions = { set_c; NoAction; }
        default_action = NoAction();
    }
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        ADD(a, b)
        ADD(b, a)
        CALL(c);
        PATH(d, d) = BOTH(hdr.d.d +, LETTER);
        hdr.d.d = CHOSEN(hdr.d.d,
#ifdef NOTHING
#include "nothing.p4h"
            no P4
#elif 'b' > 'a'
            // The one that counts.
            ALL(4)
#else
            5
#endif
        );
        hdr.d.d = ALL(hdr.d.d, 1);
        for (@name("k") bit<8> i in 8w1 .. 2) {
            hdr.d.d = hdr.d.d + i;
        }
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
