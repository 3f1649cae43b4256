// SPDX-License-Identifier: Apache-2.0
//
// && and || evaluate their right side only when they must; ?: only the side that it takes.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> a;
    bit<8> calls;
    bit<8> result;
}

struct headers_t {
    ethernet_t eth;
    data_t     data;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.data);
        transition accept;
    }
}

bool noted(inout bit<8> calls, in bool value) {
    calls = calls + 1;
    return value;
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        bit<8> calls = 0;
        bool r1 = hdr.data.a > 10 && noted(calls, hdr.data.a < 20);
        bool r2 = hdr.data.a > 10 || noted(calls, hdr.data.a == 5);
        bool r3 = hdr.data.a == 0 ? noted(calls, true) : hdr.data.a == 1;
        bool r4 = !(r1 || r2) && (r3 || hdr.data.a == 2);
        hdr.data.calls = calls;
        hdr.data.result = (r1 ? 8w1 : 0) | (r2 ? 8w2 : 0) | (r3 ? 8w4 : 0) | (r4 ? 8w8 : 0);
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
