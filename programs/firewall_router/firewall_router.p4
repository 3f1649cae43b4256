// SPDX-License-Identifier: Apache-2.0
//
// A stateless firewall in front of an IPv4 router: what the rules allow is routed by XDP, what they deny is
// dropped, and what is for the router itself (ARP, its own addresses, an expired TTL) goes to the kernel.

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

// What lies between the fixed IPv4 header and the ports.
header ipv4_options_t {
    varbit<320> data;
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
    ethernet_t     eth;
    ipv4_t         ipv4;
    ipv4_options_t options;
    tcp_t          tcp;
    udp_t          udp;
}

error { NotIPv4 }

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
        verify(hdr.ipv4.version == 4 && hdr.ipv4.ihl >= 5, error.NotIPv4);
        transition select(hdr.ipv4.ihl) {
            5:       ports;
            default: options;
        }
    }
    state options {
        packet.extract(hdr.options, ((bit<32>)hdr.ipv4.ihl - 5) << 5);
        transition ports;
    }
    // Only the first fragment of a datagram carries the ports.
    state ports {
        transition select(hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (0, 6):  tcp;
            (0, 17): udp;
            default: accept;
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

control firewall_router(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    const bit<16> TYPE_ARP = 0x0806;

    // The indices of `packets` and `bytes`.
    const bit<32> ROUTED = 0;
    const bit<32> DENIED = 1;
    const bit<32> TO_HOST = 2;
    const bit<32> NO_ROUTE = 3;

    CounterArray(4, false) packets;
    CounterArray(4, false) bytes;

    bit<32> verdict = TO_HOST;
    bit<16> dst_port = 0;
    bit<8>  tcp_flags = 0;

    action allow() { }

    action deny() {
        verdict = DENIED;
    }

    table rules {
        key = {
            hdr.ipv4.src      : ternary @name("src");
            hdr.ipv4.dst      : ternary @name("dst");
            hdr.ipv4.protocol : ternary @name("protocol");
            dst_port          : range   @name("dst_port");
            tcp_flags         : ternary @name("tcp_flags");
        }
        actions = { allow; deny; }
        default_action = allow();
        size = 256;
    }

    action to_host() {
        verdict = TO_HOST;
    }

    action no_route() {
        verdict = NO_ROUTE;
    }

    action next_hop(bit<32> port, bit<48> src_mac, bit<48> dst_mac) {
        verdict = ROUTED;
        xout.output_port = port;
        hdr.eth.src = src_mac;
        hdr.eth.dst = dst_mac;
        bit<16> old = hdr.ipv4.ttl ++ hdr.ipv4.protocol;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        hdr.ipv4.checksum = csum_replace2(hdr.ipv4.checksum, old, hdr.ipv4.ttl ++ hdr.ipv4.protocol);
    }

    table routes {
        key = { hdr.ipv4.dst : lpm @name("dst"); }
        actions = { next_hop; to_host; no_route; }
        default_action = no_route();
        size = 1024;
    }

    apply {
        xout.output_port = 0;
        bit<32> length = 0;
        if (hdr.ipv4.isValid()) {
            length = (bit<32>)hdr.ipv4.total_len;
            if (hdr.tcp.isValid()) {
                dst_port = hdr.tcp.dst_port;
                tcp_flags = hdr.tcp.flags;
            } else if (hdr.udp.isValid()) {
                dst_port = hdr.udp.dst_port;
            }
            rules.apply();
            if (verdict != DENIED && hdr.ipv4.ttl > 1) {
                routes.apply();
            }
        } else if (hdr.eth.type != TYPE_ARP) {
            verdict = NO_ROUTE;
        }

        packets.increment(verdict);
        bytes.add(verdict, length);
        if (verdict == ROUTED) {
            xout.output_action = xdp_action.XDP_REDIRECT;
        } else if (verdict == TO_HOST) {
            xout.output_action = xdp_action.XDP_PASS;
        } else {
            xout.output_action = xdp_action.XDP_DROP;
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.options);
        packet.emit(hdr.tcp);
        packet.emit(hdr.udp);
    }
}

xdp(prs(), firewall_router(), dprs()) main;
