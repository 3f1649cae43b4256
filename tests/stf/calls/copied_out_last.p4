// SPDX-License-Identifier: Apache-2.0
//
// A variable, and some of its bits, given to one function: they are copied out in the order of the parameters.

#include <core.p4>
#include <xdp_model.p4>

header h_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
    bit<8>  bits_first;
    bit<8>  bits_last;
    bit<8>  from_field;
    bit<8>  other;
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

void first(inout bit<4> bits, inout bit<8> all) {
    bits = 5;
    all = 0x90;
}

void last(inout bit<8> all, inout bit<4> bits) {
    bits = 5;
    all = 0x90;
}

void header_last(out bit<4> bits, inout h_t h) {
    bits = 5;
    h.other = h.other + 1;
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        first(hdr.h.bits_first[3:0], hdr.h.bits_first);
        last(hdr.h.bits_last, hdr.h.bits_last[3:0]);
        header_last(hdr.h.from_field[3:0], hdr.h);
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.h);
    }
}

xdp(prs(), sw(), dprs()) main;
