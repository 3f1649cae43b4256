// SPDX-License-Identifier: Apache-2.0
//
// Every operator with an assignment, on unsigned and signed numbers, and on bits of a number.

#include <core.p4>
#include <xdp_model.p4>

header h_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
    bit<8>  by;
    bit<8>  add;
    bit<8>  sub;
    bit<8>  mul;
    bit<8>  div;
    bit<8>  mod;
    bit<8>  shl;
    bit<8>  shr;
    bit<8>  and;
    bit<8>  or;
    bit<8>  xor;
    bit<8>  add_sat;
    bit<8>  sub_sat;
    int<8>  s_add;
    int<8>  s_mul;
    int<8>  s_shr;
    int<8>  s_add_sat;
    int<8>  s_sub_sat;
    bit<8>  part;
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
        hdr.h.add += hdr.h.by;
        hdr.h.sub -= hdr.h.by;
        hdr.h.mul *= hdr.h.by;
        hdr.h.div /= 7;
        hdr.h.mod %= 7;
        hdr.h.shl <<= hdr.h.by;
        hdr.h.shr >>= hdr.h.by;
        hdr.h.and &= hdr.h.by;
        hdr.h.or |= hdr.h.by;
        hdr.h.xor ^= hdr.h.by;
        hdr.h.add_sat |+|= hdr.h.by;
        hdr.h.sub_sat |-|= hdr.h.by;
        hdr.h.s_add += (int<8>) hdr.h.by;
        hdr.h.s_mul *= -3;
        hdr.h.s_shr >>= hdr.h.by;
        hdr.h.s_add_sat |+|= 100;
        hdr.h.s_sub_sat |-|= 100;
        hdr.h.part[6:2] += 1;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.h);
    }
}

xdp(prs(), sw(), dprs()) main;
