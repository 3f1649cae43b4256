// SPDX-License-Identifier: Apache-2.0
//
// Slices as values and as targets, across bytes, of fields and locals; concatenations of several.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<48> mac;
    bit<32> word;
    bit<16> result;
    bit<8>  op;
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
        bit<32> local = 0;
        if (hdr.d.op == 1) {
            hdr.d.result = hdr.d.mac[39:24];
            hdr.d.word[23:8] = hdr.d.mac[15:0];
        } else if (hdr.d.op == 2) {
            hdr.d.mac[41:5] = 0x1fffffffff;
            hdr.d.result[0:0] = 1;
            hdr.d.result[15:15] = 1;
        } else if (hdr.d.op == 3) {
            hdr.d.word = hdr.d.mac[3:0] ++ hdr.d.mac[47:36] ++ hdr.d.result[10:3] ++ 8w0xa5;
        } else if (hdr.d.op == 4) {
            local[19:4] = hdr.d.result;
            local[31:28] = 4w0b1010;
            hdr.d.word = local;
        } else if (hdr.d.op == 5) {
            hdr.d.mac[7:0] = hdr.d.mac[47:40];
            hdr.d.result = (hdr.d.mac[15:0] + 1)[11:4] ++ hdr.d.word[31:24][7:4] ++ 4w0;
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
