// SPDX-License-Identifier: Apache-2.0
//
// Parsers inside parsers: called twice, with constructor parameters, out parameters, an error that goes up.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

error { TooDeep }

header item_t {
    bit<8> kind;
    bit<8> value;
}

header sum_t {
    bit<8> sum;
}

struct headers_t {
    ethernet_t eth;
    sum_t      sum;
    item_t     first;
    item_t     second;
}

parser item_parser(packet_in packet, out item_t item, out bit<8> weighted)(bit<8> weight) {
    state start {
        packet.extract(item);
        verify(item.kind != 0xff, error.TooDeep);
        weighted = item.value * weight;
        transition select(item.kind) {
            0:       accept;
            default: plus_kind;
        }
    }
    state plus_kind {
        weighted = weighted + item.kind;
        transition accept;
    }
}

parser prs(packet_in packet, out headers_t hdr) {
    item_parser(1) ones;
    item_parser(10) tens;

    state start {
        bit<8> a;
        bit<8> b;
        packet.extract(hdr.eth);
        packet.extract(hdr.sum);
        ones.apply(packet, hdr.first, a);
        tens.apply(packet, hdr.second, b);
        hdr.sum.sum = a + b;
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
        packet.emit(hdr.sum);
        packet.emit(hdr.first);
        packet.emit(hdr.second);
    }
}

xdp(prs(), sw(), dprs()) main;
