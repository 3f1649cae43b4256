// SPDX-License-Identifier: Apache-2.0
//
// Signed numbers of more than 64 bits, shifted right by constants up to and past their width: what is left is the
// sign.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header num_t {
    int<65> value;
    bit<7>  pad;
    int<72> by_1;
    int<72> by_64;
    int<72> by_66;
    int<72> by_200;
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
        hdr.x.by_1 = (int<72>)(hdr.x.value >> 1);
        hdr.x.by_64 = (int<72>)(hdr.x.value >> 64);
        hdr.x.by_66 = (int<72>)(hdr.x.value >> 66);
        hdr.x.by_200 = (int<72>)(hdr.x.value >> 200);
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.x);
    }
}

xdp(prs(), sw(), dprs()) main;
