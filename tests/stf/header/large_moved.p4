// SPDX-License-Identifier: Apache-2.0
//
// A header too large for registers goes out in another order, with a small one after it.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header large_t {
    bit<256> a;
    bit<256> b;
    bit<8>   c;
}

header small_t {
    bit<8>  tag;
    bit<16> value;
}

struct headers_t {
    ethernet_t eth;
    small_t    small;
    large_t    large;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.small);
        packet.extract(hdr.large);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        hdr.small.value = hdr.small.value + 1;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.large);
        packet.emit(hdr.small);
        packet.emit(hdr.eth);
    }
}

xdp(prs(), sw(), dprs()) main;
