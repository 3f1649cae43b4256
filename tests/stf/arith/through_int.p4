// SPDX-License-Identifier: Apache-2.0
//
// Numbers of the packet that are converted by way of `int`: their values are kept, and cut to the width that they get.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  a;
    int<8>  s;
    bit<16> from_a;
    bit<16> from_s;
    int<16> signed_from_a;
    int<16> signed_from_s;
    bit<4>  low;
    bit<4>  sum;
    bit<16> typed;
    bit<72> wide;
    bit<16> mixed;
    bit<8>  found;
}

type bit<16> id_t;

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.d);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        hdr.d.from_a = (bit<16>) (int) hdr.d.a;
        hdr.d.from_s = (bit<16>) (int) hdr.d.s;
        hdr.d.signed_from_a = (int) hdr.d.a;
        hdr.d.signed_from_s = (int<16>) ((int) hdr.d.s);
        hdr.d.low = (bit<4>) (int) hdr.d.s;
        hdr.d.sum = (bit<4>) (int) (hdr.d.a + 1);
        id_t id = (id_t) (int) hdr.d.s;
        hdr.d.typed = (bit<16>) id;
        hdr.d.wide = (bit<72>) (int) hdr.d.s;
        hdr.d.mixed = hdr.d.typed + (int) hdr.d.s;
        hdr.d.found = 0;
        if ((int) hdr.d.s == hdr.d.signed_from_a) {
            hdr.d.found = 1;
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.d);
    }
}

xdp(prs(), sw(), dprs()) main;
