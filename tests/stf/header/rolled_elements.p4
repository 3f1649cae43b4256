// SPDX-License-Identifier: Apache-2.0
//
// Elements of a large stack that are read where only an expression tells that they are valid, that were popped, or that are
// found by a number which changes.

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
    bit<16> sum;
}

header item_t {
    bit<8> more;
    bit<16> value;
}

struct headers_t {
    ethernet_t eth;
    what_t     what;
    item_t[16] items;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.what);
        transition item;
    }
    state item {
        packet.extract(hdr.items.next);
        transition select(hdr.items.last.more) {
            1:       item;
            default: accept;
        }
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        if (hdr.what.op == 0) {
            if (hdr.items[9].isValid() && hdr.items[9].value == 0x1234) {
                hdr.what.sum = 1;
            } else {
                hdr.what.sum = 2;
            }
        } else if (hdr.what.op == 1) {
            hdr.what.sum = hdr.items[9].isValid() ? hdr.items[9].value : 0x9999;
        } else if (hdr.what.op == 2) {
            if (!hdr.items[9].isValid() || hdr.items[9].value == 0x1234) {
                hdr.what.sum = 3;
            }
        } else if (hdr.what.op == 3) {
            // What the last element was is nowhere.
            hdr.items.pop_front(1);
            hdr.what.sum = hdr.items[0].value;
        } else if (hdr.what.op == 4) {
            if (hdr.items[9].isValid()) {
                hdr.items.pop_front(2);
                hdr.what.sum = hdr.items[9].value;
            }
        } else if (hdr.what.op == 5) {
            hdr.what.sum = hdr.items[(bit<32>)hdr.what.index].value;
            hdr.what.index = hdr.what.index + 1;
            hdr.what.sum = hdr.what.sum + hdr.items[(bit<32>)hdr.what.index].value;
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
