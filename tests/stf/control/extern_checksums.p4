// SPDX-License-Identifier: Apache-2.0
//
// csum_replace2, csum_replace4 and ebpf_ipv4_checksum on an IPv4 header that changes.

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
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        bit<16> old = hdr.ipv4.checksum;
        hdr.ipv4.checksum = csum_replace4(old, hdr.ipv4.src, 0x01020304);
        hdr.ipv4.src = 0x01020304;
        hdr.ipv4.checksum = csum_replace2(hdr.ipv4.checksum, hdr.ipv4.id, 0xffff);
        hdr.ipv4.id = 0xffff;
        if (hdr.ipv4.dscp_ecn == 1) {
            hdr.ipv4.checksum = ebpf_ipv4_checksum(
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp_ecn, hdr.ipv4.total_len, hdr.ipv4.id, hdr.ipv4.flags,
                hdr.ipv4.frag_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst);
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv4);
    }
}

xdp(prs(), sw(), dprs()) main;
