// SPDX-License-Identifier: Apache-2.0
//
// A stack of unions: extracted one after the other, found by an index that varies, moved, and changed from one member to the other.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header short_t {
    bit<8> kind;
    bit<8> value;
}

header long_t {
    bit<8>  kind;
    bit<16> value;
}

header_union item_t {
    short_t s;
    long_t  l;
}

header info_t {
    bit<8>  count;
    bit<16> sum;
}

struct headers_t {
    ethernet_t eth;
    info_t     info;
    item_t[3]  items;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.info);
        transition item;
    }
    state item {
        transition select(packet.lookahead<bit<8>>()) {
            1: short_item;
            2: long_item;
            default: accept;
        }
    }
    state short_item {
        packet.extract(hdr.items.next.s);
        transition item;
    }
    state long_item {
        packet.extract(hdr.items.next.l);
        transition item;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        for (bit<8> i in 0 .. 2) {
            if (hdr.items[i].isValid()) {
                hdr.info.count = hdr.info.count + 1;
            }
            if (hdr.items[i].s.isValid()) {
                hdr.info.sum = hdr.info.sum + (bit<16>)hdr.items[i].s.value;
            } else if (hdr.items[i].l.isValid()) {
                hdr.info.sum = hdr.info.sum + hdr.items[i].l.value;
            }
        }
        if (hdr.items[1].l.isValid()) {
            hdr.items[1].s = { 1, 0xee };
        }
        hdr.items.pop_front(1);
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.info);
        packet.emit(hdr.items);
    }
}

xdp(prs(), sw(), dprs()) main;
