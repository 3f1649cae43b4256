// SPDX-License-Identifier: Apache-2.0
//
// lookahead of a bit string, of a header and of a struct: the cursor stays where it is.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header short_t {
    bit<8> tag;
    bit<8> value;
}

header long_t {
    bit<8>  tag;
    bit<24> value;
    bit<8>  more;
}

header seen_t {
    bit<4>  nibble;
    bit<12> twelve;
    bit<8>  third;
}

struct pair_t {
    bit<16> first;
    bit<8>  second;
}

struct headers_t {
    ethernet_t eth;
    seen_t     seen;
    short_t    s;
    long_t     l;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.seen);
        hdr.seen.nibble = packet.lookahead<bit<4>>();
        hdr.seen.twelve = packet.lookahead<bit<16>>()[11:0];
        hdr.seen.third = packet.lookahead<pair_t>().second;
        transition select(packet.lookahead<short_t>().tag) {
            0x53:    short_one;
            0x4c:    long_one;
            default: accept;
        }
    }
    state short_one {
        packet.extract(hdr.s);
        transition accept;
    }
    state long_one {
        packet.extract(hdr.l);
        transition select(hdr.l.more) {
            0:       accept;
            default: start_over;
        }
    }
    state start_over {
        transition select(packet.lookahead<bit<8>>()) {
            0x53:    short_one;
            default: accept;
        }
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
        packet.emit(hdr.seen);
        packet.emit(hdr.l);
        packet.emit(hdr.s);
    }
}

xdp(prs(), sw(), dprs()) main;
