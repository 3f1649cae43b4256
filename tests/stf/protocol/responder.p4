// SPDX-License-Identifier: Apache-2.0
//
// Answers ARP requests and ICMP echo requests for one address: the packet becomes its own answer.

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

header arp_t {
    bit<16> hardware;
    bit<16> protocol;
    bit<8>  hardware_length;
    bit<8>  protocol_length;
    bit<16> operation;
    bit<48> sender_mac;
    bit<32> sender_ip;
    bit<48> target_mac;
    bit<32> target_ip;
}

header icmp_t {
    bit<8>  type;
    bit<8>  code;
    bit<16> checksum;
}

const bit<48> OWN_MAC = 0x020000000002;
const bit<32> OWN_IP = 0x0a000002;

struct headers_t {
    ethernet_t eth;
    arp_t      arp;
    ipv4_t     ipv4;
    icmp_t     icmp;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            0x0800:  ipv4;
            0x0806:  arp;
            default: accept;
        }
    }
    state arp {
        packet.extract(hdr.arp);
        verify(hdr.arp.hardware == 1 && hdr.arp.protocol == 0x0800, error.ParserInvalidArgument);
        transition accept;
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.protocol, hdr.ipv4.dst) {
            (5, 1, OWN_IP): icmp;
            default:        accept;
        }
    }
    state icmp {
        packet.extract(hdr.icmp);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action answer(bit<48> to) {
        hdr.eth.dst = to;
        hdr.eth.src = OWN_MAC;
        xout.output_action = xdp_action.XDP_TX;
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_PASS;
        if (hdr.arp.isValid() && hdr.arp.operation == 1 && hdr.arp.target_ip == OWN_IP) {
            hdr.arp.operation = 2;
            hdr.arp.target_mac = hdr.arp.sender_mac;
            hdr.arp.target_ip = hdr.arp.sender_ip;
            hdr.arp.sender_mac = OWN_MAC;
            hdr.arp.sender_ip = OWN_IP;
            answer(hdr.arp.target_mac);
        } else if (hdr.icmp.isValid() && hdr.icmp.type == 8 && hdr.icmp.code == 0) {
            hdr.icmp.type = 0;
            hdr.icmp.checksum = csum_replace2(hdr.icmp.checksum, 0x0800, 0);
            bit<32> to = hdr.ipv4.src;
            hdr.ipv4.src = hdr.ipv4.dst;
            hdr.ipv4.dst = to;
            answer(hdr.eth.src);
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.arp);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.icmp);
    }
}

xdp(prs(), sw(), dprs()) main;
