// SPDX-License-Identifier: Apache-2.0
//
// Extern functions of the program's own, with their C beside it: results, out and inout parameters, odd widths.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

extern bit<32> mix(in bit<32> a, in bit<16> b);
extern void split(in bit<48> value, out bit<24> high, inout bit<12> low);
extern bool is_odd(in bit<8> value);

header data_t {
    bit<32> mixed;
    bit<24> high;
    bit<12> low;
    bit<4>  pad;
    bit<8>  odd;
}

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
        hdr.d.mixed = mix(hdr.d.mixed, hdr.eth.type);
        split(hdr.eth.src, hdr.d.high, hdr.d.low);
        if (is_odd(hdr.d.odd)) {
            hdr.d.odd = 0xff;
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
