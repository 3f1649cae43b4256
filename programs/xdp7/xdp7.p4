// SPDX-License-Identifier: Apache-2.0
//
// Address and port rewriting: the entry for an IPv4 destination address gives TCP and UDP packets a new
// address and port, and every checksum that covers them is corrected by the difference.

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

header udp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;
}

struct headers_t {
    ethernet_t eth;
    ipv4_t     ipv4;
    tcp_t      tcp;
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
        transition select(hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0, 6):  tcp;
            (5, 0, 17): udp;
            default:    accept;
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

control rewriter(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action pass() { }

    action rewrite(bit<32> addr, bit<16> port) {
        bit<32> old = hdr.ipv4.dst;
        hdr.ipv4.dst = addr;
        hdr.ipv4.checksum = csum_replace4(hdr.ipv4.checksum, old, addr);
        if (hdr.tcp.isValid()) {
            hdr.tcp.checksum = csum_replace4(hdr.tcp.checksum, old, addr);
            hdr.tcp.checksum = csum_replace2(hdr.tcp.checksum, hdr.tcp.dst_port, port);
            hdr.tcp.dst_port = port;
        } else if (hdr.udp.isValid()) {
            if (hdr.udp.checksum != 0) {
                hdr.udp.checksum = csum_replace4(hdr.udp.checksum, old, addr);
                hdr.udp.checksum = csum_replace2(hdr.udp.checksum, hdr.udp.dst_port, port);
                if (hdr.udp.checksum == 0) {
                    hdr.udp.checksum = 0xffff;
                }
            }
            hdr.udp.dst_port = port;
        }
    }

    table services {
        key = { hdr.ipv4.dst : exact; }
        actions = { rewrite; pass; }
        default_action = pass();
        implementation = hash_table(64);
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_PASS;
        // Options would move the ports: such packets are not touched at all.
        if (hdr.ipv4.isValid() && hdr.ipv4.ihl == 5) {
            services.apply();
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.tcp);
        packet.emit(hdr.udp);
    }
}

xdp(prs(), rewriter(), dprs()) main;
