// SPDX-License-Identifier: Apache-2.0
//
// Widths that are shifts, sizes behind names, arrays of compile-time numbers, and a slice that begins where an argument of
// the constructor says.

#include <core.p4>
#include <xdp_model.p4>

const bit<8> EIGHT = 8;
const int STEPS[3] = {1, 2, 1 << 4};
const bit<8> FIRST[2] = {0x21, 0x43};
typedef bit<1 << 4> word_t;
typedef bit<8> three_t[3];

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    word_t  type;
}

header h_t {
    bit<16 >> 1>     i;
    bit<64 >> 3>     v;
    bit<(1 << 1) + 6> first;
    bit<EIGHT << 1>  both;
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

bit<8> sum(in bit<8> all[3]) {
    return all[0] + all[1] + all[2];
}

control cut(inout h_t h)(int from) {
    apply {
        h.v = h.both[from +: 8];
        h.both[from +: 4] = 4w0xf;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    three_t three;
    cut(0) low;
    cut(8) high;
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        three = {hdr.h.v, STEPS[1], STEPS[2]};
        hdr.h.first = FIRST[hdr.h.i] + sum(three);
        if (hdr.h.i == 0) {
            low.apply(hdr.h);
        } else {
            high.apply(hdr.h);
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
