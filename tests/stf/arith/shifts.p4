// SPDX-License-Identifier: Apache-2.0
//
// Shifts by constants and by fields, as far as the width and beyond it; of signed numbers too.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header num_t {
    bit<16> value;
    bit<8>  by;
    bit<16> left;
    bit<16> right;
    int<16> arithmetic;
    bit<16> constant;
    bit<64> wide;
    bit<13> odd;
    bit<3>  pad;
}

struct headers_t {
    ethernet_t eth;
    num_t      x;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.x);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        hdr.x.left = hdr.x.value << hdr.x.by;
        hdr.x.right = hdr.x.value >> hdr.x.by;
        hdr.x.arithmetic = (int<16>)hdr.x.value >> hdr.x.by;
        hdr.x.constant = (hdr.x.value << 4) | (hdr.x.value >> 12);
        hdr.x.wide = (bit<64>)hdr.x.value << hdr.x.by;
        hdr.x.odd = hdr.x.value[12:0] << hdr.x.by;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.x);
    }
}

xdp(prs(), sw(), dprs()) main;
