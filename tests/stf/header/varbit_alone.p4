// SPDX-License-Identifier: Apache-2.0
//
// A header of a varbit field alone moves to the front, empty or not.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header length_t {
    bit<8> bytes;
}

header options_t {
    varbit<64> bytes;
}

struct headers_t {
    ethernet_t eth;
    length_t   length;
    options_t  options;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.length);
        packet.extract(hdr.options, (bit<32>)hdr.length.bytes << 3);
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
        packet.emit(hdr.options);
        packet.emit(hdr.eth);
        packet.emit(hdr.length);
    }
}

xdp(prs(), sw(), dprs()) main;
