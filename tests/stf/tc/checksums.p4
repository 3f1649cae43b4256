// SPDX-License-Identifier: Apache-2.0
//
// Addresses and ports rewritten with the checksums of TCP and UDP kept right: words of the pseudo header and of the
// segment, of 16 and of 32 bits.

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

header tcp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<32> seq;
    bit<32> ack;
    bit<4>  data_offset;
    bit<4>  reserved;
    bit<8>  flags;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent;
}

struct headers_t {
    ethernet_t eth;
    ipv4_t     ipv4;
    udp_t      udp;
    tcp_t      tcp;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            0x0800: ipv4;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.protocol) {
            (5, 6):  tcp;
            (5, 17): udp;
        }
    }
    state tcp {
        packet.extract(hdr.tcp);
        transition accept;
    }
    state udp {
        packet.extract(hdr.udp);
        transition accept;
    }
}

control ctl(inout headers_t hdr, in tc_input tin, inout tc_output tout) {
    bit<32> old_src = hdr.ipv4.src;
    bit<16> old_port = 0;

    apply {
        hdr.ipv4.src = 0xc6336401;
        hdr.ipv4.checksum = csum_replace4(hdr.ipv4.checksum, old_src, hdr.ipv4.src);
        if (hdr.tcp.isValid()) {
            bit<32> old_seq = hdr.tcp.seq;
            hdr.tcp.seq = hdr.tcp.seq + 0x10000001;
            hdr.tcp.checksum = l4_csum_replace4(hdr.tcp.checksum, old_src, hdr.ipv4.src, true);
            hdr.tcp.checksum = l4_csum_replace4(hdr.tcp.checksum, old_seq, hdr.tcp.seq, false);
            old_port = hdr.tcp.src_port;
            hdr.tcp.src_port = 0x1111;
            hdr.tcp.checksum = l4_csum_replace2(hdr.tcp.checksum, old_port, hdr.tcp.src_port, false);
        } else if (hdr.udp.checksum != 0) {
            hdr.udp.checksum = l4_csum_replace4(hdr.udp.checksum, old_src, hdr.ipv4.src, true);
            old_port = hdr.udp.src_port;
            hdr.udp.src_port = 0x2222;
            hdr.udp.checksum = l4_csum_replace2(hdr.udp.checksum, old_port, hdr.udp.src_port, false);
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
        packet.emit(hdr.tcp);
    }
}

tc(prs(), ctl(), dprs()) main;
