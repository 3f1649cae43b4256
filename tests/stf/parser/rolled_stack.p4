// SPDX-License-Identifier: Apache-2.0
//
// A stack of twenty elements that a loop fills: read and written by constant and varying indices, made invalid, popped, with
// headers in front of it that come and go.

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
    bit<7> id;
    bit<1> more;
    bit<16> value;
}

header mark_t {
    bit<16> mark;
}

struct headers_t {
    ethernet_t eth;
    what_t     what;
    mark_t     mark;
    item_t[20] items;
    mark_t     behind;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.what);
        transition select(hdr.what.op) {
            0xff:    accept;
            default: item;
        }
    }
    state item {
        packet.extract(hdr.items.next);
        transition select(hdr.items.last.more) {
            1:       item;
            default: end;
        }
    }
    state end {
        hdr.what.sum = (bit<16>)hdr.items.lastIndex;
        packet.extract(hdr.behind);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        bit<32> at = (bit<32>)hdr.what.index;
        if (hdr.what.op == 0) {
            for (bit<32> i = 0; i < 20; i = i + 1) {
                if (hdr.items[i].isValid()) {
                    hdr.what.sum = hdr.what.sum + hdr.items[i].value;
                }
            }
        } else if (hdr.what.op == 1) {
            hdr.items.pop_front(1);
        } else if (hdr.what.op == 2) {
            hdr.items.pop_front(3);
            if (hdr.items[1].isValid()) {
                hdr.items[1].value = 0xbeef;
            }
        } else if (hdr.what.op == 3) {
            hdr.items[at].setInvalid();
            hdr.what.sum = hdr.items[at].value;
        } else if (hdr.what.op == 4) {
            hdr.items[2].setInvalid();
            hdr.what.sum = hdr.items[2].value + hdr.items[3].value;
        } else if (hdr.what.op == 5) {
            if (hdr.items[at].isValid()) {
                hdr.items[at].id = 0x2a;
                hdr.items[at].value = hdr.items[at].value + 1;
            }
        } else if (hdr.what.op == 6) {
            hdr.mark.setValid();
            hdr.mark.mark = 0x4d4d;
        } else if (hdr.what.op == 7) {
            hdr.mark.setValid();
            hdr.mark.mark = hdr.items[at].value;
            hdr.items[0].setInvalid();
            hdr.items.pop_front(2);
            hdr.items[at].setInvalid();
            hdr.behind.setInvalid();
        } else if (hdr.what.op == 8) {
            hdr.items.pop_front(30);
        }
        // What is certainly not valid at the end is still a part of the stack.
        hdr.items[19].setInvalid();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.mark);
        packet.emit(hdr.what);
        packet.emit(hdr.items);
        packet.emit(hdr.behind);
    }
}

xdp(prs(), sw(), dprs()) main;
