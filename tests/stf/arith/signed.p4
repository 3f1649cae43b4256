// SPDX-License-Identifier: Apache-2.0
//
// Signed numbers: comparison, negation, arithmetic shifts, widening and narrowing casts, absolute values.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header num_t {
    int<8>  a;
    int<8>  b;
    int<16> sum;
    int<16> product;
    int<32> wide;
    int<4>  low;
    int<4>  quarter;
    bit<8>  compared;
    bit<16> unsigned;
    int<8>  absolute;
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
        hdr.x.sum = (int<16>)hdr.x.a + (int<16>)hdr.x.b;
        hdr.x.product = (int<16>)hdr.x.a * (int<16>)hdr.x.b;
        hdr.x.wide = -(int<32>)hdr.x.a;
        hdr.x.low = hdr.x.a[3:0] == 0 ? 4s0 : (int<4>)hdr.x.a;
        hdr.x.quarter = (int<4>)(hdr.x.b >> 4);
        hdr.x.compared = (hdr.x.a < hdr.x.b ? 8w1 : 0) | (hdr.x.a <= hdr.x.b ? 8w2 : 0) | (hdr.x.a > 0 ? 8w4 : 0)
            | (hdr.x.a >= -1 ? 8w8 : 0) | (hdr.x.a == hdr.x.b ? 8w16 : 0) | ((bit<8>)hdr.x.a < (bit<8>)hdr.x.b ? 8w32 : 0);
        hdr.x.unsigned = (bit<16>)(int<16>)hdr.x.a;
        if (hdr.x.a < 0) {
            hdr.x.absolute = -hdr.x.a;
        } else {
            hdr.x.absolute = hdr.x.a;
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.x);
    }
}

xdp(prs(), sw(), dprs()) main;
