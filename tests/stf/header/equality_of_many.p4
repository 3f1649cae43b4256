// SPDX-License-Identifier: Apache-2.0
//
// Headers of more fields than expressions may be nested deep are compared all the same.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header flags_t {
    bit<1>[416] flags;
}

struct headers_t {
    ethernet_t eth;
    flags_t    a;
    flags_t    b;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.a);
        packet.extract(hdr.b);
        transition accept;
    }
}

control pipe(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        hdr.eth.type = hdr.a == hdr.b ? 16w1 : 0;
        hdr.eth.dst = hdr.a.flags != hdr.b.flags ? 48w1 : 0;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.a);
        packet.emit(hdr.b);
    }
}

xdp(prs(), pipe(), dprs()) main;
