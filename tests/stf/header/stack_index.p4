// SPDX-License-Identifier: Apache-2.0
//
// Stack elements by an index that only the packet knows, read and written.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header item_t {
    bit<16> value;
}

header what_t {
    bit<8>  from;
    bit<8>  to;
    bit<16> seen;
}

struct headers_t {
    ethernet_t eth;
    what_t     what;
    item_t[4]  items;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.what);
        packet.extract(hdr.items.next);
        packet.extract(hdr.items.next);
        packet.extract(hdr.items.next);
        packet.extract(hdr.items.next);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        if (hdr.what.from < 4 && hdr.what.to < 4) {
            hdr.what.seen = hdr.items[hdr.what.from].value;
            hdr.items[hdr.what.to].value = hdr.items[hdr.what.from].value + 1;
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
