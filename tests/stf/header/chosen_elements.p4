// SPDX-License-Identifier: Apache-2.0
//
// Elements of a large stack of unions that are found by an index which the packet decides, where a control makes some of them
// valid, so that the stack does not stay rolled. Index 20 and above is outside.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header what_t {
    bit<8>  op;
    bit<8>  index;
    bit<64> found;
}

header short_t {
    bit<8>  more;
    bit<16> value;
}

header long_t {
    bit<8>  more;
    bit<4>  flags;
    bit<60> value;
}

header_union item_t {
    short_t s;
    long_t  l;
}

struct headers_t {
    ethernet_t eth;
    what_t     what;
    item_t[20] items;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.what);
        transition item;
    }
    state item {
        transition select(packet.lookahead<bit<8>>()) {
            1:       short;
            2:       long;
            default: accept;
        }
    }
    state short {
        packet.extract(hdr.items.next.s);
        transition item;
    }
    state long {
        packet.extract(hdr.items.next.l);
        transition item;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        bit<32> i = (bit<32>)hdr.what.index;
        bit<64> found = 0;
        if (hdr.what.op & 1 == 1) {
            hdr.items[2].s.setValid();
            hdr.items[2].s.more = 1;
            hdr.items[2].s.value = 0x7777;
        }
        if (hdr.what.op & 2 == 2) {
            hdr.items[1] = hdr.items[0];
        }
        if (hdr.items[i].s.isValid()) {
            found = (bit<64>)hdr.items[i].s.value;
        } else if (hdr.items[i].l.isValid()) {
            found = hdr.items[i].l.flags ++ hdr.items[i].l.value;
        }
        if (hdr.what.op & 4 == 4) {
            for (bit<32> at = 0; at < 20; at = at + 1) {
                if (hdr.items[at].s.isValid()) {
                    found = found + (bit<64>)hdr.items[at].s.value;
                }
            }
        }
        if (hdr.what.op & 8 == 8 && hdr.items[i].l.isValid()) {
            hdr.items[i].l.value = 60w5;
            found = (bit<64>)hdr.items[i].l.value + 1;
        }
        hdr.what.found = found;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.what);
        packet.emit(hdr.items);
    }
}

xdp(prs(), sw(), dprs()) main;
