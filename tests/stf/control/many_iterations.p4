// SPDX-License-Identifier: Apache-2.0
//
// Loops whose counters begin with a constant and take many iterations, in the parser and in the control. Where the
// kernel has an instruction for loops, to verify them costs no more than to verify one iteration.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  mask;
    bit<8>  ones;
    bit<16> pairs;
    bit<32> mixed;
}

struct headers_t {
    ethernet_t eth;
    data_t     data;
}

parser prs(packet_in packet, out headers_t hdr) {
    bit<12> left = 0;
    bit<8> ones = 0;

    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.data);
        left = 24;
        transition count;
    }
    // How many of the next 24 bytes have their lowest bit set.
    state count {
        ones = ones + (packet.lookahead<bit<8>>() & 1);
        packet.advance(8);
        left = left - 1;
        transition select(left) {
            0:       done;
            default: count;
        }
    }
    state done {
        hdr.data.ones = ones;
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;

        // Pairs whose product has no bit of the mask.
        bit<16> pairs = 0;
        for (bit<16> a = 1; a <= 12; a = a + 1) {
            for (bit<16> b = 1; b <= 10; b = b + 1) {
                if ((a * b) & (bit<16>)hdr.data.mask == 0) {
                    pairs = pairs + 1;
                }
            }
        }
        hdr.data.pairs = pairs;

        bit<32> mixed = 1;
        bit<10> turns = 0;
        for (bit<10> i = 0; i < 100; i = i + 1) {
            mixed = mixed * 1664525 + (bit<32>)i;
            if (mixed[31:28] == 0) {
                turns = turns + 1;
            }
        }
        hdr.data.mixed = mixed ^ (bit<32>)turns;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
