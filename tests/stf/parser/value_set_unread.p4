// SPDX-License-Identifier: Apache-2.0
//
// A value set that decides nothing is there for the control plane all the same.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct headers_t {
    ethernet_t eth;
}

parser prs(packet_in packet, out headers_t hdr) {
    value_set<bit<16>>(4) types;

    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            types:   accept;
            default: accept;
        }
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
    }
}

xdp(prs(), sw(), dprs()) main;
