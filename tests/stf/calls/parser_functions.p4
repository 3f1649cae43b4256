// SPDX-License-Identifier: Apache-2.0
//
// Functions that read the packet: early returns inside a state, a variable that they change, bytes that nobody keeps.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header info_t {
    bit<8> first;
    bit<8> second;
    bit<8> seen;
}

header item_t {
    bit<8> value;
}

header rest_t {
    bit<16> value;
}

struct headers_t {
    ethernet_t eth;
    info_t     info;
    rest_t     rest;
}

bit<8> classify(packet_in packet, inout bit<8> seen) {
    bit<8> first = packet.lookahead<bit<8>>();
    seen = seen + 1;
    if (first == 0) {
        return 0xa0;
    }
    if (first == 1) {
        packet.advance(8);
        return packet.lookahead<bit<8>>();
    }
    seen = seen + 1;
    return first |+| 0xf0;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        bit<8> seen = 0;
        packet.extract(hdr.eth);
        packet.extract(hdr.info);
        hdr.info.first = classify(packet, seen);
        hdr.info.second = classify(packet, seen);
        hdr.info.seen = seen;
        packet.extract<item_t>(_);
        packet.extract(hdr.rest);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.info);
        packet.emit(hdr.rest);
    }
}

xdp(prs(), sw(), dprs()) main;
