// SPDX-License-Identifier: Apache-2.0
//
// Slices by base and width, read and written, where the packet says where they begin. Bits beyond a value are zero, and
// not written.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header h_t {
    bit<8>  at;
    bit<32> word;
    int<16> number;
    bit<8>  low;
    bit<8>  taken;
    bit<4>  part;
    bit<4>  rest;
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
    action add(inout bit<8> x, in bit<8> by) {
        x = x + by;
    }
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        hdr.h.low = hdr.h.word[3 + 1 +: 4 * 2];
        hdr.h.taken = hdr.h.word[hdr.h.at +: 8];
        hdr.h.part = hdr.h.number[hdr.h.at +: 4];
        hdr.h.word[hdr.h.at +: 8] = 0xa5;
        hdr.h.number[hdr.h.at +: 4] += 1;
        add(hdr.h.word[hdr.h.at +: 8], 1);
        hdr.h.rest[1 +: 2] = 3;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.h);
    }
}

xdp(prs(), sw(), dprs()) main;
