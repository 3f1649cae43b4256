// SPDX-License-Identifier: Apache-2.0
//
// A header inserted in front, in the middle and at the end; each by a bit of the packet.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> what;
}

header mark_t {
    bit<24> value;
}

header tail_t {
    bit<16> value;
}

struct headers_t {
    mark_t     front;
    ethernet_t eth;
    mark_t     middle;
    data_t     data;
    mark_t     back;
    tail_t     tail;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.data);
        packet.extract(hdr.tail);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        if (hdr.data.what[0:0] == 1) {
            hdr.front = { 0x111111 };
        }
        if (hdr.data.what[1:1] == 1) {
            hdr.middle.setValid();
            hdr.middle.value = 0x222222;
        }
        if (hdr.data.what[2:2] == 1) {
            hdr.back.setValid();
            hdr.back.value = (bit<24>)hdr.tail.value;
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.front);
        packet.emit(hdr.eth);
        packet.emit(hdr.middle);
        packet.emit(hdr.data);
        packet.emit(hdr.back);
        packet.emit(hdr.tail);
    }
}

xdp(prs(), sw(), dprs()) main;
