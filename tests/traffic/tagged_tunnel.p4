// SPDX-License-Identifier: Apache-2.0
//
// Tagged IPv6 packets go into IPv4 ones behind their tag, and come out again.

#include "headers.p4h"

header ipv4_t {
    bit<8> version; bit<8> class; bit<16> length;
    bit<16> id; bit<16> fragment; bit<8> ttl; bit<8> protocol; bit<16> csum;
    bit<32> src; bit<32> dst;
}

struct headers_t { ethernet_t eth; vlan_t vlan; ipv4_t ipv4; }

parser p(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) { TYPE_VLAN: vlan; default: accept; }
    }
    state vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.type) { 0x0800: ipv4; default: accept; }
    }
    state ipv4 { packet.extract(hdr.ipv4); transition accept; }
}

control c(inout headers_t hdr, in tc_input tin, inout tc_output tout) {
    apply {
        if (!hdr.vlan.isValid()) {
            exit;
        }
        if (tin.direction == tc_direction.TC_EGRESS) {
            bit<16> size = (bit<16>)tin.length + 2;
            hdr.ipv4 = { 0x45, 0, size, 0, 0x4000, 64, 41, 0, 0xc0000201, 0xc0000202 };
            hdr.ipv4.csum = ebpf_ipv4_checksum(4, 5, 0, size, 0, 2, 0, 64, 41, hdr.ipv4.src, hdr.ipv4.dst);
            hdr.vlan.type = 0x0800;
        } else if (hdr.ipv4.isValid()) {
            hdr.ipv4.setInvalid();
            hdr.vlan.type = TYPE_IPV6;
        } else {
            tout.verdict = tc_verdict.TC_DROP;
        }
    }
}

control d(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.eth); packet.emit(hdr.vlan); packet.emit(hdr.ipv4); }
}

tc(p(), c(), d()) main;
