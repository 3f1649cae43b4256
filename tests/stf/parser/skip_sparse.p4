// SPDX-License-Identifier: Apache-2.0
//
// Items of known size whose kinds, numbers of 32 bits, are far apart: the parser skips them up to one that is answered. What
// was skipped does not go out again, what is behind the answer does.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header item_t {
    bit<8>  flags;
    bit<32> kind;
}

header answer_t {
    bit<16> value;
}

struct headers_t {
    ethernet_t eth;
    item_t     item;
    answer_t   answer;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            0x1234:  item;
            default: accept;
        }
    }
    state item {
        packet.extract(hdr.item);
        transition select(hdr.item.kind) {
            0:          item;
            1:          one;
            0xdeadbeef: answer;
            0xfffffffe: reject;
            0x01000000: one;
            0x10203040: two;
            0x20304050: two;
            0x30405060: many;
            0x7fffffff: twice;
            0x80000000: item;
            0xcafe0000: two;
            0xffffffff: many;
            default:    accept;
        }
    }
    state one {
        packet.advance(8);
        transition item;
    }
    state two {
        packet.advance(16);
        transition item;
    }
    state twice {
        packet.advance(8);
        transition one;
    }
    state many {
        packet.advance(2400);
        transition item;
    }
    state answer {
        packet.extract(hdr.answer);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        if (hdr.answer.isValid()) {
            hdr.answer.value = hdr.answer.value + 1;
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.item);
        packet.emit(hdr.answer);
    }
}

xdp(prs(), sw(), dprs()) main;
