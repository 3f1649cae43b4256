// SPDX-License-Identifier: Apache-2.0
//
// Entries in the program: without priorities the earlier one wins, with them the larger number.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  a;
    bit<16> b;
    bit<8>  by_order;
    bit<8>  by_priority;
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
    action order(bit<8> value) {
        hdr.data.by_order = value;
    }

    action priority_of(bit<8> value) {
        hdr.data.by_priority = value;
    }

    table ordered {
        key = {
            hdr.data.a : ternary;
            hdr.data.b : range;
        }
        actions = { order; NoAction; }
        default_action = NoAction();
        const entries = {
            (0x10 &&& 0xf0, 5..9) : order(1);
            (0x11, _)             : order(2);
            (_, 7)                : order(3);
            (0x20, 0x100..0x1ff)  : order(4);
            (0xff, default)       : order(5);
        }
    }

    table prioritized {
        key = { hdr.data.a : ternary; }
        actions = { priority_of; NoAction; }
        default_action = NoAction();
        largest_priority_wins = true;
        entries = {
            priority = 10: 0x10 &&& 0xf0 : priority_of(1);
            priority = 30: 0x11          : priority_of(2);
            priority = 20: 0x01 &&& 0x0f : priority_of(3);
            priority = 40: 0x12 &&& 0xfe : priority_of(4);
        }
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        ordered.apply();
        prioritized.apply();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
