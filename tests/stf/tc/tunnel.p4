// SPDX-License-Identifier: Apache-2.0
//
// VXLAN: 50 bytes of outer headers in front of an Ethernet frame, with lengths from the packet, and off again.

#include <core.p4>
#include <tc_model.p4>

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

struct headers_t {
    ethernet_t outer_eth;
    ipv4_t     outer_ipv4;
    udp_t      outer_udp;
    vxlan_t    vxlan;
    ethernet_t eth;
    ipv4_t     ipv4;
    udp_t      udp;
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
        transition select(hdr.ipv4.ihl, hdr.ipv4.protocol) {
            (5, 17): udp;
            default: accept;
        }
    }
    state udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.dst_port) {
            VXLAN_PORT: vxlan;
            default:    accept;
        }
    }
    state vxlan {
        // What came first was the outside.
        hdr.outer_eth = hdr.eth;
        hdr.outer_ipv4 = hdr.ipv4;
        hdr.outer_udp = hdr.udp;
        hdr.ipv4.setInvalid();
        hdr.udp.setInvalid();
        packet.extract(hdr.vxlan);
        packet.extract(hdr.eth);
        transition accept;
    }
}

control ctl(inout headers_t hdr, in tc_input tin, inout tc_output tout) {
    action push(bit<24> vni, bit<32> src, bit<32> dst, bit<48> src_mac, bit<48> dst_mac) {
        bit<16> length = (bit<16>)tin.length;
        hdr.outer_eth = { dst_mac, src_mac, 0x0800 };
        hdr.outer_ipv4 = { 4, 5, 0, length + 36, 0, 0b010, 0, 64, 17, 0, src, dst };
        hdr.outer_ipv4.checksum = ebpf_ipv4_checksum(4, 5, 0, length + 36, 0, 0b010, 0, 64, 17, src, dst);
        hdr.outer_udp = { 49152, VXLAN_PORT, length + 16, 0 };
        hdr.vxlan = { 0x08, 0, vni, 0 };
    }

    table segments {
        key = { hdr.eth.dst : exact @name("dst"); }
        actions = { push; NoAction; }
        default_action = NoAction();
        size = 64;
    }

    apply {
        if (hdr.vxlan.isValid()) {
            hdr.outer_eth.setInvalid();
            hdr.outer_ipv4.setInvalid();
            hdr.outer_udp.setInvalid();
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
        packet.emit(hdr.outer_udp);
        packet.emit(hdr.vxlan);
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
    }
}

tc(prs(), ctl(), dprs()) main;
