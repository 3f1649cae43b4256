// SPDX-License-Identifier: Apache-2.0
//
// Parser value sets: empty at first, filled and emptied by the control plane, of one field and of two.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  a;
    bit<16> b;
    bit<8>  result;
}

struct pair_t {
    @match(exact)   bit<8>  a;
    @match(ternary) bit<16> b;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

parser prs(packet_in packet, out headers_t hdr) {
    value_set<bit<16>>(4) types;
    value_set<pair_t>(4) pairs;

    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.d);
        transition select(hdr.eth.type) {
            types:   known;
            0x0800:  ipv4;
            default: accept;
        }
    }
    state known {
        hdr.d.result = 1;
        transition select(hdr.d.a, hdr.d.b) {
            pairs:   pair;
            default: accept;
        }
    }
    state pair {
        hdr.d.result = 2;
        transition accept;
    }
    state ipv4 {
        hdr.d.result = 3;
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
        packet.emit(hdr.d);
    }
}

xdp(prs(), sw(), dprs()) main;
