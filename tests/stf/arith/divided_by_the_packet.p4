// SPDX-License-Identifier: Apache-2.0
//
// Division and remainder by numbers of the packet, of many widths. Where the divisor is 0, both are 0.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  a8;
    bit<8>  b8;
    bit<16> a16;
    bit<16> b16;
    bit<64> a64;
    bit<64> b64;
    bit<72> a72;
    bit<72> b72;
    bit<4>  a4;
    bit<4>  b4;
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

bit<72> divided(in bit<72> x, in bit<72> y) {
    return x / y;
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        bit<8> a8 = hdr.d.a8;
        hdr.d.a8 = a8 / hdr.d.b8;
        hdr.d.b8 = a8 % hdr.d.b8;
        bit<16> a16 = hdr.d.a16;
        hdr.d.a16 /= hdr.d.b16;
        a16 %= hdr.d.b16;
        hdr.d.b16 = a16;
        bit<64> a64 = hdr.d.a64;
        hdr.d.a64 = a64 / hdr.d.b64;
        hdr.d.b64 = a64 % hdr.d.b64;
        bit<72> a72 = hdr.d.a72;
        hdr.d.a72 = divided(a72, hdr.d.b72);
        hdr.d.b72 = a72 % hdr.d.b72;
        bit<4> a4 = hdr.d.a4;
        hdr.d.a4 = a4 / hdr.d.b4;
        hdr.d.b4 = hdr.d.b4 == 0 ? 4w15 : a4 % hdr.d.b4;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.d);
    }
}

xdp(prs(), sw(), dprs()) main;
