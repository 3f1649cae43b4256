// SPDX-License-Identifier: Apache-2.0
//
// push_front, pop_front, elements by index, size, and a stack that is too short for what is pushed.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header item_t {
    bit<8> value;
}

header what_t {
    bit<8> op;
    bit<8> count;
    bit<8> info;
}

struct headers_t {
    ethernet_t eth;
    what_t     what;
    item_t[4]  items;
}

parser prs(packet_in packet, out headers_t hdr) {
    bit<8> left = 0;

    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.what);
        left = hdr.what.count;
        transition more;
    }
    state more {
        transition select(left) {
            0:       accept;
            default: item;
        }
    }
    state item {
        packet.extract(hdr.items.next);
        left = left - 1;
        transition more;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        if (hdr.what.op == 1) {
            hdr.items.push_front(1);
            hdr.items[0] = { 0xa1 };
        } else if (hdr.what.op == 2) {
            hdr.items.push_front(2);
            hdr.items[0].setValid();
            hdr.items[0].value = 0xb1;
            hdr.items[1].setValid();
            hdr.items[1].value = 0xb2;
        } else if (hdr.what.op == 3) {
            hdr.items.pop_front(1);
        } else if (hdr.what.op == 4) {
            hdr.items.pop_front(2);
        } else if (hdr.what.op == 5) {
            hdr.items.pop_front(9);
        } else if (hdr.what.op == 6) {
            hdr.items.push_front(1);
        } else if (hdr.what.op == 7) {
            hdr.items[1].setInvalid();
            hdr.items[3] = hdr.items[0];
        }
        hdr.what.info = (bit<8>)hdr.items.size
            | (hdr.items[0].isValid() ? 8w0x10 : 0)
            | (hdr.items[1].isValid() ? 8w0x20 : 0)
            | (hdr.items[2].isValid() ? 8w0x40 : 0)
            | (hdr.items[3].isValid() ? 8w0x80 : 0);
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
