// SPDX-License-Identifier: Apache-2.0
//
// What the compiler computes: arbitrary precision, bases, division and remainder, typed constants, enums as numbers.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

const int BIG = 1 << 100;
const int SMALL = BIG / (1 << 90) % 1000;
const bit<16> TYPED = 16w0xfff0 + 0x20;
const bool CHECKED = static_assert(SMALL == 24, "the arithmetic of constants is wrong");

enum bit<8> level_t {
    LOW = 1,
    HIGH = SMALL + 1
}

typedef bit<16> number_t;
type bit<16> distinct_t;

header data_t {
    number_t   a;
    number_t   b;
    distinct_t c;
    level_t    level;
    bit<8>     bases;
    bit<16>    divided;
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
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        hdr.d.a = SMALL;
        hdr.d.b = TYPED;
        hdr.d.c = (distinct_t)(bit<16>)(BIG >> 93);
        if (hdr.d.level == level_t.LOW) {
            hdr.d.level = level_t.HIGH;
        } else {
            hdr.d.level = (level_t)8w1;
        }
        hdr.d.bases = 8w0b1010_0000 | 0o17 & 8w0x0c | 1;
        hdr.d.divided = (bit<16>)(1000 / 7 * 10 + 1000 % 7);
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.d);
    }
}

xdp(prs(), sw(), dprs()) main;
