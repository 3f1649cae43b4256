// SPDX-License-Identifier: Apache-2.0
//
// What fields of an invalid header hold: what was last written to them, whether the header was valid then or not,
// and zero if nothing was. A copy of an invalid header is invalid, with the same fields.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header how_t {
    bit<8> how;
}

header pair_t {
    bit<8> a;
    bit<8> b;
}

header item_t {
    bit<8> value;
}

header found_t {
    bit<8> r0;
    bit<8> r1;
    bit<8> r2;
    bit<8> r3;
}

struct headers_t {
    ethernet_t eth;
    how_t      how;
    pair_t     x;
    item_t[2]  items;
    found_t    found;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.how);
        packet.extract(hdr.x);
        packet.extract(hdr.items.next);
        packet.extract(hdr.items.next);
        packet.extract(hdr.found);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        pair_t never;
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        if (hdr.how.how == 1) {
            // Removed: the values stay, can be written, and are there when it is valid again.
            hdr.x.setInvalid();
            hdr.found.r0 = hdr.x.a;
            hdr.x.a = 0x77;
            hdr.found.r1 = hdr.x.a;
            hdr.x.setValid();
            hdr.found.r2 = hdr.x.a;
            hdr.found.r3 = hdr.x.b;
        } else if (hdr.how.how == 2) {
            // Never valid: zero until written. A copy of it is as it is.
            hdr.found.r0 = never.a;
            never.a = 0x55;
            hdr.found.r1 = never.a;
            hdr.x = never;
            hdr.found.r2 = hdr.x.a;
            hdr.found.r3 = hdr.x.b;
        } else if (hdr.how.how == 3) {
            hdr.x = {#};
            hdr.found.r0 = hdr.x.a;
            hdr.x.setInvalid();
            hdr.found.r1 = hdr.x.b;
        } else if (hdr.how.how == 4) {
            // What a push or a pop lets in is zero.
            hdr.items.push_front(1);
            hdr.found.r0 = hdr.items[0].value;
            hdr.found.r1 = hdr.items[1].value;
            hdr.items.pop_front(1);
            hdr.found.r2 = hdr.items[0].value;
            hdr.found.r3 = hdr.items[1].value;
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.how);
        packet.emit(hdr.x);
        packet.emit(hdr.items);
        packet.emit(hdr.found);
    }
}

xdp(prs(), sw(), dprs()) main;
