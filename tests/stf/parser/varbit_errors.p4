// SPDX-License-Identifier: Apache-2.0
//
// A varbit length beyond the field's maximum, and one that is no whole number of bytes.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header length_t {
    bit<8> bits;
}

header data_t {
    bit<8>     fixed;
    varbit<64> variable;
}

struct headers_t {
    ethernet_t eth;
    length_t   length;
    data_t     data;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.length);
        packet.extract(hdr.data, (bit<32>)hdr.length.bits);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        hdr.data.fixed = hdr.data.fixed + 1;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.length);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
