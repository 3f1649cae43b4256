// SPDX-License-Identifier: Apache-2.0
//
// A loop in a parser's state that takes too long rejects the packet, with ParserTimeout, on every target: what follows the
// loop does not run.

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

// Always 1, if it ends: from 1, an odd step comes to 0 within 256 rounds, and an even one never does.
bit<8> rounds(in bit<8> step) {
    bit<8> found = 0;
    for (bit<8> at = 1; at != 0; at = at + step) {
        found = 1;
    }
    return found;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.data);
        hdr.data.step = hdr.data.step + rounds(hdr.data.step);
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
