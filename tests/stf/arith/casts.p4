// SPDX-License-Identifier: Apache-2.0
//
// Explicit casts of values from the packet: widths, signs, Booleans, enums, new types, structs.

#include <core.p4>
#include <xdp_model.p4>

enum bit<8> kind_t { none = 0, some = 3 }
type bit<8> id_t;

struct pair_t {
    bit<8> first;
    bit<8> second;
}

header h_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
    bit<8>  a;
    bit<8>  narrow;
    bit<16> wide;
    int<16> extended;
    bit<16> unsigned;
    bit<8>  flags;
    bit<8>  kind;
    bit<8>  id;
    bit<8>  pair;
}

struct headers_t {
    h_t h;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        hdr.h.narrow = (bit<8>)(bit<3>) hdr.h.a;
        hdr.h.wide = (bit<16>) hdr.h.a;
        hdr.h.extended = (int<16>)(int<8>) hdr.h.a;
        hdr.h.unsigned = (bit<16>)(int<16>)(int<8>) hdr.h.a - 1;
        bool flag = (bool) hdr.h.a[7:7];
        hdr.h.flags = (bit<8>)(bit<1>) flag << 1 | (bit<8>)(bit<1>) (hdr.h.a == 3);
        kind_t kind = (kind_t) hdr.h.a;
        hdr.h.kind = kind == kind_t.some ? (bit<8>) kind + 1 : 0;
        id_t id = (id_t) hdr.h.a;
        hdr.h.id = id == (id_t) 8w3 ? (bit<8>) id : 0xff;
        pair_t pair = (pair_t) { hdr.h.a, 3 };
        hdr.h.pair = pair == (pair_t) { 3, 3 } ? pair.first + pair.second : 0;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.h);
    }
}

xdp(prs(), sw(), dprs()) main;
