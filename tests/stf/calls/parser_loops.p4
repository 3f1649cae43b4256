// SPDX-License-Identifier: Apache-2.0
//
// Functions that read the packet in a loop and in a switch.

#include <core.p4>
#include <xdp_model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header info_t { bit<8> n; bit<8> k; }
header rest_t { bit<8> v; }
struct headers_t { ethernet_t eth; info_t info; rest_t rest; }
bit<8> skip(packet_in packet, in bit<8> most) {
    bit<8> n = 0;
    for (bit<8> i = 0; i < most; i = i + 1) {
        if (packet.lookahead<bit<8>>() != 1) { break; }
        packet.advance(8);
        n = n + 1;
    }
    return n;
}
bit<8> kind(packet_in packet) {
    switch (packet.lookahead<bit<8>>()) {
        2: { packet.advance(8); return 22; }
        3: { packet.advance(16); }
        default: { return 0; }
    }
    return packet.lookahead<bit<8>>();
}
parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.info);
        hdr.info.n = skip(packet, hdr.info.n);
        hdr.info.k = kind(packet);
        packet.extract(hdr.rest);
        transition accept;
    }
}
control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply { xout.output_port = 0; xout.output_action = xdp_action.XDP_TX; hdr.rest.v = hdr.rest.v + 1; }
}
control dprs(in headers_t hdr, packet_out packet) { apply { packet.emit(hdr.eth); packet.emit(hdr.info); packet.emit(hdr.rest); } }
xdp(prs(), sw(), dprs()) main;
