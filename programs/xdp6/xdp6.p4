// SPDX-License-Identifier: Apache-2.0
//
// TTL rewriting from a map: the entry for the destination address gives the new TTL. The header
// checksum is left as it was, for this program measures one look-up and one write: see ../router for all of it.

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

struct headers_t {
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

control set_ttl(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action pass() {
        xout.output_action = xdp_action.XDP_PASS;
    }

    action drop() {
        xout.output_action = xdp_action.XDP_DROP;
    }

    action rewrite(bit<8> ttl) {
        hdr.ipv4.ttl = ttl;
        xout.output_action = xdp_action.XDP_PASS;
    }

    table ttls {
        key = { hdr.ipv4.dst : exact; }
        actions = { rewrite; pass; drop; }
        default_action = drop();
        implementation = hash_table(64);
    }

    apply {
        xout.output_port = 0;
        if (hdr.ipv4.isValid()) {
            ttls.apply();
        } else {
            drop();
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv4);
    }
}

xdp(prs(), set_ttl(), dprs()) main;
