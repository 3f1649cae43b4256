// SPDX-License-Identifier: Apache-2.0
//
// Slices of slices, read and written, where the packet says where one of the two begins, or both. Bits beyond the inner
// slice are zero, and not written.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header h_t {
    bit<8>  at;
    bit<8>  by;
    bit<32> word;
    bit<32> cut;
    int<32> sliced;
    bit<16> both;
    bit<8>  read;
    bit<8>  last;
    bit<80> wide;
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
    action add(inout bit<4> x, in bit<4> by) {
        x = x + by;
    }
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        hdr.h.word[hdr.h.at +: 8][hdr.h.by +: 2] = 3;
        hdr.h.cut[23:8][hdr.h.at +: 8] = 0xff;
        hdr.h.sliced[hdr.h.at +: 8][5:2] += 1;
        add(hdr.h.both[15:4][hdr.h.by +: 8][3:0], 9);
        hdr.h.read = hdr.h.word[31:4][hdr.h.at +: 12][7:0];
        bit<8>[2] all = { 0, 0 };
        all[hdr.h.by[0:0]][7:4][hdr.h.by[1:0] +: 2] = 3;
        hdr.h.last = all[0] ^ all[1] >> 1;
        hdr.h.wide[71:4][hdr.h.at +: 40][hdr.h.by +: 24] = 0xabcdef;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.h);
    }
}

xdp(prs(), sw(), dprs()) main;
