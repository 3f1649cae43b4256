// SPDX-License-Identifier: Apache-2.0
//
// Every verdict, chosen by the packet: ABORTED, DROP, PASS, TX, REDIRECT to two ports.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> verdict;
    bit<8> port;
    bit<32> came_in;
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
        xout.output_port = (bit<32>)hdr.d.port;
        hdr.d.came_in = xin.input_port;
        switch (hdr.d.verdict) {
            0: { xout.output_action = xdp_action.XDP_ABORTED; }
            1: { xout.output_action = xdp_action.XDP_DROP; }
            2: { xout.output_action = xdp_action.XDP_PASS; }
            3: { xout.output_action = xdp_action.XDP_TX; }
            default: { xout.output_action = xdp_action.XDP_REDIRECT; }
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
