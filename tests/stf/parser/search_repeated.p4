// SPDX-License-Identifier: Apache-2.0
//
// A search for a hundred times `a` in front of `b`, more bytes than a word has bits for, which begin again at each byte of many `a`. The packet goes on from
// the first place, with the number of bytes in front of it; 0xffff if it is nowhere.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header what_t {
    bit<16> left;
    bit<16> at;
}

struct headers_t {
    ethernet_t eth;
    what_t     what;
}

parser prs(packet_in packet, out headers_t hdr) {
    bit<16> left;

    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.what);
        hdr.what.at = 0xffff;
        left = hdr.what.left;
        transition search;
    }
    state search {
        transition select(left >= 101) {
            true:    compare;
            default: accept;
        }
    }
    state compare {
        transition select(packet.lookahead<bit<808>>()) {
            0x6161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616162: found;
            default: next;
        }
    }
    state next {
        packet.advance(8);
        left = left - 1;
        transition search;
    }
    state found {
        hdr.what.at = hdr.what.left - left;
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
        packet.emit(hdr.what);
    }
}

xdp(prs(), sw(), dprs()) main;
