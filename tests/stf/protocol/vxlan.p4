// SPDX-License-Identifier: Apache-2.0
//
// VXLAN: 50 bytes of outer headers pushed in front of an Ethernet frame, and taken off again.

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

header udp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;
}

header vxlan_t {
    bit<8>  flags;
    bit<24> reserved;
    bit<24> vni;
    bit<8>  reserved_too;
}

const bit<16> VXLAN_PORT = 4789;

struct packet_t {
    bit<16> length;   // of the whole frame, as it came in
}

struct headers_t {
    ethernet_t outer_eth;
    ipv4_t     outer_ipv4;
    udp_t      udp;
    vxlan_t    vxlan;
    ethernet_t eth;
    packet_t   packet;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        hdr.packet.length = (bit<16>)packet.length();
        transition select(packet.lookahead<ethernet_t>().type) {
            0x0800:  maybe_outer;
            default: inner;
        }
    }
    state maybe_outer {
        // Ethernet, then the protocol at byte 9 of the IPv4 header, and the destination port after its 20 bytes.
        transition select(packet.lookahead<bit<192>>()[7:0]) {
            17:      udp;
            default: inner;
        }
    }
    state udp {
        bit<304> ahead = packet.lookahead<bit<304>>();
        transition select(ahead[15:0], ahead[187:184]) {
            (VXLAN_PORT, 5): outer;
            default:         inner;
        }
    }
    state outer {
        packet.extract(hdr.outer_eth);
        packet.extract(hdr.outer_ipv4);
        packet.extract(hdr.udp);
        packet.extract(hdr.vxlan);
        transition inner;
    }
    state inner {
        packet.extract(hdr.eth);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action push(bit<24> vni, bit<32> src, bit<32> dst, bit<48> src_mac, bit<48> dst_mac) {
        hdr.outer_eth = { dst_mac, src_mac, 0x0800 };
        hdr.outer_ipv4 = { 4, 5, 0, hdr.packet.length + 36, 0, 0b010, 0, 64, 17, 0, src, dst };
        hdr.outer_ipv4.checksum = ebpf_ipv4_checksum(4, 5, 0, hdr.packet.length + 36, 0, 0b010, 0, 64, 17, src, dst);
        hdr.udp = { 49152, VXLAN_PORT, hdr.packet.length + 16, 0 };
        hdr.vxlan = { 0x08, 0, vni, 0 };
    }

    table segments {
        key = { hdr.eth.dst : exact @name("dst"); }
        actions = { push; NoAction; }
        default_action = NoAction();
        size = 64;
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        if (hdr.vxlan.isValid()) {
            hdr.outer_eth.setInvalid();
            hdr.outer_ipv4.setInvalid();
            hdr.udp.setInvalid();
            hdr.vxlan.setInvalid();
        } else {
            segments.apply();
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.outer_eth);
        packet.emit(hdr.outer_ipv4);
        packet.emit(hdr.udp);
        packet.emit(hdr.vxlan);
        packet.emit(hdr.eth);
    }
}

xdp(prs(), sw(), dprs()) main;
