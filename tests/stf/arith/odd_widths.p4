// SPDX-License-Identifier: Apache-2.0
//
// Fields of 1 to 65 bits that begin anywhere in a byte: sum, difference, complement, copy.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header odd_t {
    bit<1>  a1;
    bit<3>  b3;
    bit<7>  c7;
    bit<13> d13;
    bit<24> e24;
    bit<33> f33;
    bit<48> g48;
    bit<60> h60;
    bit<65> i65;
    bit<2>  pad;
}

header op_t {
    bit<8> op;
}

struct headers_t {
    ethernet_t eth;
    op_t       op;
    odd_t      x;
    odd_t      y;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.op);
        packet.extract(hdr.x);
        packet.extract(hdr.y);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        if (hdr.op.op == 1) {
            hdr.x.a1 = hdr.x.a1 + hdr.y.a1;
            hdr.x.b3 = hdr.x.b3 + hdr.y.b3;
            hdr.x.c7 = hdr.x.c7 + hdr.y.c7;
            hdr.x.d13 = hdr.x.d13 + hdr.y.d13;
            hdr.x.e24 = hdr.x.e24 + hdr.y.e24;
            hdr.x.f33 = hdr.x.f33 + hdr.y.f33;
            hdr.x.g48 = hdr.x.g48 + hdr.y.g48;
            hdr.x.h60 = hdr.x.h60 + hdr.y.h60;
            hdr.x.i65 = hdr.x.i65 + hdr.y.i65;
        } else if (hdr.op.op == 2) {
            hdr.x.a1 = hdr.x.a1 - hdr.y.a1;
            hdr.x.b3 = hdr.x.b3 - hdr.y.b3;
            hdr.x.c7 = hdr.x.c7 - hdr.y.c7;
            hdr.x.d13 = hdr.x.d13 - hdr.y.d13;
            hdr.x.e24 = hdr.x.e24 - hdr.y.e24;
            hdr.x.f33 = hdr.x.f33 - hdr.y.f33;
            hdr.x.g48 = hdr.x.g48 - hdr.y.g48;
            hdr.x.h60 = hdr.x.h60 - hdr.y.h60;
            hdr.x.i65 = hdr.x.i65 - hdr.y.i65;
        } else if (hdr.op.op == 3) {
            hdr.x.a1 = ~hdr.y.a1;
            hdr.x.b3 = ~hdr.y.b3;
            hdr.x.c7 = ~hdr.y.c7;
            hdr.x.d13 = ~hdr.y.d13;
            hdr.x.e24 = ~hdr.y.e24;
            hdr.x.f33 = ~hdr.y.f33;
            hdr.x.g48 = ~hdr.y.g48;
            hdr.x.h60 = ~hdr.y.h60;
            hdr.x.i65 = ~hdr.y.i65;
        } else if (hdr.op.op == 4) {
            hdr.x.h60 = hdr.y.h60;
            hdr.x.c7 = hdr.y.i65[64:58];
            hdr.x.i65 = hdr.y.f33[31:0] ++ hdr.y.f33;
            hdr.x.pad = hdr.y.pad;
        } else if (hdr.op.op == 5) {
            hdr.x.a1 = hdr.x.a1 > hdr.y.a1 ? hdr.x.a1 : hdr.y.a1;
            hdr.x.b3 = hdr.x.b3 > hdr.y.b3 ? hdr.x.b3 : hdr.y.b3;
            hdr.x.c7 = hdr.x.c7 > hdr.y.c7 ? hdr.x.c7 : hdr.y.c7;
            hdr.x.d13 = hdr.x.d13 > hdr.y.d13 ? hdr.x.d13 : hdr.y.d13;
            hdr.x.e24 = hdr.x.e24 > hdr.y.e24 ? hdr.x.e24 : hdr.y.e24;
            hdr.x.f33 = hdr.x.f33 > hdr.y.f33 ? hdr.x.f33 : hdr.y.f33;
            hdr.x.g48 = hdr.x.g48 > hdr.y.g48 ? hdr.x.g48 : hdr.y.g48;
            hdr.x.h60 = hdr.x.h60 > hdr.y.h60 ? hdr.x.h60 : hdr.y.h60;
            hdr.x.i65 = hdr.x.i65 > hdr.y.i65 ? hdr.x.i65 : hdr.y.i65;
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.op);
        packet.emit(hdr.x);
        packet.emit(hdr.y);
    }
}

xdp(prs(), sw(), dprs()) main;
