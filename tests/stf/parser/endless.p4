// SPDX-License-Identifier: Apache-2.0
//
// A parser that may stay in a loop for ever rejects the packet after a while, with ParserTimeout, on every target.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> step;
}

struct headers_t {
    ethernet_t eth;
    data_t     data;
}

parser prs(packet_in packet, out headers_t hdr) {
    bit<8> at = 1;

    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.data);
        transition walk;
    }
    // From 1, an odd step comes to 0 within 256 rounds. An even one never does.
    state walk {
        at = at + hdr.data.step;
        transition select(at) {
            0:       accept;
            default: walk;
        }
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        hdr.data.step = hdr.data.step + 1;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
