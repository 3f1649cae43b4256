// SPDX-License-Identifier: Apache-2.0
//
// for loops over conditions and ranges, with break, continue, and one loop inside the other.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  limit;
    bit<16> sum;
    bit<16> odd;
    bit<16> pairs;
    bit<16> down;
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
        bit<16> sum = 0;
        for (bit<8> i = 1; i <= 20; i = i + 1) {
            if (i > hdr.data.limit) {
                break;
            }
            sum = sum + (bit<16>)i;
        }
        hdr.data.sum = sum;

        hdr.data.odd = 0;
        for (bit<16> i in 1 .. 10) {
            if (i[0:0] == 0) {
                continue;
            }
            hdr.data.odd = hdr.data.odd + i;
        }

        hdr.data.pairs = 0;
        for (bit<8> i = 0; i < 5; i = i + 1) {
            for (bit<8> j = 0; j < 5; j = j + 1) {
                if (j > i) {
                    break;
                }
                if (i + j == hdr.data.limit) {
                    continue;
                }
                hdr.data.pairs = hdr.data.pairs + 1;
            }
        }

        hdr.data.down = 0;
        for (bit<8> i = 10, bit<8> j = 0; i > j; i = i - 1, j = j + 1) {
            hdr.data.down = hdr.data.down + 1;
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
