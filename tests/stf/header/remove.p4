// SPDX-License-Identifier: Apache-2.0
//
// A header removed in front, in the middle and at the end; or everything.

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

header part_t {
    bit<24> value;
}

struct headers_t {
    ethernet_t eth;
    part_t     first;
    data_t     data;
    part_t     last;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.first);
        packet.extract(hdr.data);
        packet.extract(hdr.last);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        bit<8> what = hdr.data.what;
        if (what[0:0] == 1) {
            hdr.first.setInvalid();
        }
        if (what[1:1] == 1) {
            hdr.data.setInvalid();
        }
        if (what[2:2] == 1) {
            hdr.last.setInvalid();
        }
        if (what[3:3] == 1) {
            hdr.eth.setInvalid();
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.first);
        packet.emit(hdr.data);
        packet.emit(hdr.last);
    }
}

xdp(prs(), sw(), dprs()) main;
