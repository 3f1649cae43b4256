// SPDX-License-Identifier: Apache-2.0
//
// The length of the packet in bytes, and fields skipped by extracting them to nowhere.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header skipped_t {
    bit<24> nothing;
}

header data_t {
    bit<32> length;
}

struct headers_t {
    ethernet_t eth;
    data_t     data;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract<skipped_t>(_);
        packet.extract(hdr.data);
        hdr.data.length = packet.length();
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
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
