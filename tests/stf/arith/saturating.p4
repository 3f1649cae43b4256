// SPDX-License-Identifier: Apache-2.0
//
// Saturating sums and differences, of unsigned and signed numbers.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header sat_t {
    bit<8>  ua;
    bit<8>  ub;
    int<8>  sa;
    int<8>  sb;
    bit<13> va;
    bit<13> vb;
    int<19> ta;
    int<19> tb;
}

struct headers_t {
    ethernet_t eth;
    sat_t      s;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.s);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        sat_t o = hdr.s;
        hdr.s.ua = o.ua |+| o.ub;
        hdr.s.ub = o.ua |-| o.ub;
        hdr.s.sa = o.sa |+| o.sb;
        hdr.s.sb = o.sa |-| o.sb;
        hdr.s.va = o.va |+| o.vb;
        hdr.s.vb = o.va |-| o.vb;
        hdr.s.ta = o.ta |+| o.tb;
        hdr.s.tb = o.ta |-| o.tb;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.s);
    }
}

xdp(prs(), sw(), dprs()) main;
