// SPDX-License-Identifier: Apache-2.0
//
// A stack of sixteen elements that is filled in a loop which has several heads: between two elements a packet may go over one
// or two of the states in front of them, in any order.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> count;
}

header item_t {
    bit<8> next;
    bit<8> value;
}

struct headers_t {
    ethernet_t eth;
    item_t[16] items;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition choice;
    }
    state choice {
        hdr.eth.count = hdr.eth.count + 1;
        transition select(packet.lookahead<bit<8>>()[7:7]) {
            1: detour;
            0: item;
        }
    }
    state detour {
        hdr.eth.count = hdr.eth.count + 0x100;
        transition item;
    }
    state item {
        packet.extract(hdr.items.next);
        transition select(hdr.items.last.next[6:0]) {
            0: accept;
            1: choice;
            2: detour;
        }
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.items);
    }
}

xdp(prs(), sw(), dprs()) main;
