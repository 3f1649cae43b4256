// SPDX-License-Identifier: Apache-2.0
//
// Header insertion: every packet gets an 8-byte mark in front of its Ethernet header and goes back out of the
// port that it came in on, to a collector that reads the mark and removes it.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  dscp_ecn;
    bit<16> total_len;
    bit<16> id;
    bit<3>  flags;
    bit<13> frag_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

header mark_t {
    bit<32> timestamp;
    bit<32> id;
}

struct headers_t {
    mark_t     mark;
    ethernet_t eth;
    ipv4_t     ipv4;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            0x0800:  ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control insert_mark(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        hdr.mark.setValid();
        hdr.mark.timestamp = 0xabababab;
        hdr.mark.id = 0xfefefefe;
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.mark);
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv4);
    }
}

xdp(prs(), insert_mark(), dprs()) main;
