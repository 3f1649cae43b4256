// SPDX-License-Identifier: Apache-2.0
//
// switch over values: numbers, several labels for one block, enums, default in the middle.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

enum bit<8> color_t {
    RED = 1,
    GREEN = 2,
    BLUE = 4
}

header data_t {
    bit<16> number;
    color_t color;
    bit<8>  by_number;
    bit<8>  by_color;
    bit<8>  by_sum;
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

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        switch (hdr.data.number) {
            0: { hdr.data.by_number = 10; }
            1:
            2:
            0xffff: { hdr.data.by_number = 20; }
            default: { hdr.data.by_number = 99; }
        }
        switch (hdr.data.color) {
            color_t.RED: { hdr.data.by_color = 1; }
            color_t.BLUE: { hdr.data.by_color = 3; }
        }
        switch (hdr.data.by_number + 1) {
            11: {
                switch (hdr.data.color) {
                    color_t.GREEN: { hdr.data.by_sum = 7; }
                    default: { hdr.data.by_sum = 8; }
                }
            }
            21: { hdr.data.by_sum = 9; }
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
