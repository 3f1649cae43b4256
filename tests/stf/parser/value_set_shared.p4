// SPDX-License-Identifier: Apache-2.0
//
// Value sets of the top level: parsers share them, and the control plane fills them once.

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

value_set<bit<16>>(4) types;
value_set<pair_t>(4) pairs;

parser inner(packet_in packet, out data_t d, in bit<16> type) {
    state start {
        packet.extract(d);
        transition select(type) {
            types:   typed;
            default: accept;
        }
    }
    state typed {
        transition select(d.a, d.b) {
            pairs:   known;
            default: accept;
        }
    }
    state known {
        d.result = 0x80;
        transition accept;
    }
}

parser prs(packet_in packet, out headers_t hdr) {
    inner() first;

    state start {
        packet.extract(hdr.eth);
        first.apply(packet, hdr.d, hdr.eth.type);
        transition select(hdr.eth.type) {
            types:   known;
            0x0800:  ipv4;
            default: accept;
        }
    }
    state known {
        hdr.d.result = hdr.d.result | 1;
        transition select(hdr.d.a, hdr.d.b) {
            pairs:   pair;
            default: accept;
        }
    }
    state pair {
        hdr.d.result = hdr.d.result | 2;
        transition accept;
    }
    state ipv4 {
        hdr.d.result = hdr.d.result | 3;
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
