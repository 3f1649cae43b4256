// SPDX-License-Identifier: Apache-2.0
//
// What is copied from outside a stack is an invalid header; what is copied there is lost.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header what_t {
    bit<8> to;
    bit<8> from;
    bit<8> left;
}

header item_t {
    bit<8>  value;
    bit<72> more;
}

struct headers_t {
    ethernet_t eth;
    what_t     what;
    item_t[2]  items;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.what);
        packet.extract(hdr.items.next);
        packet.extract(hdr.items.next);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        hdr.items[hdr.what.to] = hdr.items[hdr.what.from];
        if (hdr.what.to < 2) {
            hdr.what.left = hdr.items[hdr.what.to].value;
            if (hdr.what.left == 0) {
                hdr.items[hdr.what.to].setValid();
            }
        }
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
