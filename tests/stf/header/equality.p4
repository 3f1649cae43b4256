// SPDX-License-Identifier: Apache-2.0
//
// == and != over headers, structs, stacks, tuples and fields, with invalid ones among them.

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
}

header result_t {
    bit<8> bits;
}

struct plain_t {
    bit<8>  a;
    bit<16> b;
}

struct headers_t {
    ethernet_t eth;
    result_t   result;
    data_t     x;
    data_t     y;
    data_t     never;
    data_t     other;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.result);
        packet.extract(hdr.x);
        packet.extract(hdr.y);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        plain_t p = { hdr.x.a, hdr.x.b };
        plain_t q = { b = hdr.y.b, a = hdr.y.a };
        tuple<bit<8>, bit<16>> s = { hdr.x.a, hdr.x.b };
        tuple<bit<8>, bit<16>> t = { hdr.y.a, hdr.y.b };
        hdr.result.bits = (hdr.x == hdr.y ? 8w0x01 : 0)
            | (hdr.x != hdr.y ? 8w0x02 : 0)
            | (hdr.x == hdr.never ? 8w0x04 : 0)
            | (hdr.never == hdr.other ? 8w0x08 : 0)
            | (p == q ? 8w0x10 : 0)
            | (s == t ? 8w0x20 : 0)
            | (s[1] == q.b ? 8w0x40 : 0)
            | (hdr.x == (data_t){ 1, 2 } ? 8w0x80 : 0);
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.result);
        packet.emit(hdr.x);
        packet.emit(hdr.y);
        packet.emit(hdr.never);
        packet.emit(hdr.other);
    }
}

xdp(prs(), sw(), dprs()) main;
