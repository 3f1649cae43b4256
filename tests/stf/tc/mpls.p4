// SPDX-License-Identifier: Apache-2.0
//
// MPLS labels pushed and popped between Ethernet and IPv4, up to three.

#include <core.p4>
#include <tc_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header mpls_t {
    bit<20> label;
    bit<3>  class;
    bit<1>  bottom;
    bit<8>  ttl;
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

struct headers_t {
    ethernet_t eth;
    mpls_t[3]  mpls;
    ipv4_t     ipv4;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            0x8847: label;
            0x0800: ipv4;
            default: reject;
        }
    }
    state label {
        packet.extract(hdr.mpls.next);
        transition select(hdr.mpls.last.bottom) {
            0: label;
            1: ipv4;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control ctl(inout headers_t hdr, in tc_input tin, inout tc_output tout) {
    action push(bit<20> label) {
        hdr.mpls.push_front(1);
        hdr.mpls[0].setValid();
        hdr.mpls[0] = { label, 0, hdr.eth.type == 0x8847 ? 1w0 : 1, hdr.ipv4.ttl };
        hdr.eth.type = 0x8847;
    }

    action pop() {
        hdr.eth.type = hdr.mpls[0].bottom == 1 ? 16w0x0800 : 0x8847;
        hdr.mpls.pop_front(1);
    }

    action pop_all() {
        hdr.mpls.pop_front(3);
        hdr.eth.type = 0x0800;
    }

    table labels {
        key = { hdr.ipv4.dst : lpm @name("dst"); }
        actions = { push; pop; pop_all; NoAction; }
        default_action = NoAction();
        size = 16;
    }

    apply {
        labels.apply();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.mpls);
        packet.emit(hdr.ipv4);
    }
}

tc(prs(), ctl(), dprs()) main;
