// SPDX-License-Identifier: Apache-2.0
//
// Priorities of entries that the program leaves out: a step from one to the next, the smallest or the largest first.

#include <core.p4>
#include <xdp_model.p4>

header h_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
    bit<8>  a;
    bit<8>  smallest;
    bit<8>  largest;
    bit<8>  kept;
}

struct headers_t {
    h_t h;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action small(bit<8> value) {
        hdr.h.smallest = value;
    }
    action large(bit<8> value) {
        hdr.h.largest = value;
    }
    action keep(bit<8> value) {
        hdr.h.kept = value;
    }
    table by_smallest {
        key = { hdr.h.a: ternary; }
        actions = { small; @defaultonly NoAction; }
        default_action = NoAction();
        largest_priority_wins = false;
        priority_delta = 10;
        entries = {
            priority = 100: 0x10 &&& 0xf0: small(1); // 100
            0x01 &&& 0x0f: small(2);                 // 110
            priority = 105: 0x11: small(3);
            0x00 &&& 0x80: small(4);                 // 115
        }
    }
    table by_largest {
        key = { hdr.h.a: ternary; }
        actions = { large; @tableonly keep; @defaultonly NoAction; }
        default_action = NoAction();
        priority_delta = 10;
        entries = {
            priority = 100: 0x10 &&& 0xf0: large(1); // 100
            0x01 &&& 0x0f: large(2);                 // 90
            const priority = 105: 0x11: keep(3);
            0x00 &&& 0x80: large(4);                 // 95
        }
    }
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        by_smallest.apply();
        by_largest.apply();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.h);
    }
}

xdp(prs(), sw(), dprs()) main;
