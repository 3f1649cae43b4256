// SPDX-License-Identifier: Apache-2.0
//
// A loop over a header stack with next, last and lastIndex; the deparser emits the stack in a whole.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header item_t {
    bit<1>  more;
    bit<7>  kind;
    bit<8>  value;
}

header summary_t {
    bit<8> count;
    bit<8> last_value;
    bit<8> sum;
}

struct headers_t {
    ethernet_t eth;
    summary_t  summary;
    item_t[6]  items;
}

parser prs(packet_in packet, out headers_t hdr) {
    bit<8> sum = 0;

    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.summary);
        transition select(hdr.eth.type) {
            0x1234:  item;
            default: accept;
        }
    }
    state item {
        packet.extract(hdr.items.next);
        sum = sum + hdr.items.last.value;
        hdr.summary.count = (bit<8>)hdr.items.lastIndex + 1;
        transition select(hdr.items.last.more) {
            1: item;
            0: done;
        }
    }
    state done {
        hdr.summary.last_value = hdr.items.last.value;
        hdr.summary.sum = sum;
        transition accept;
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
        packet.emit(hdr.summary);
        packet.emit(hdr.items);
    }
}

xdp(prs(), sw(), dprs()) main;
