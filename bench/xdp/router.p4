// SPDX-License-Identifier: Apache-2.0
//
// The router of programs/v1model/router as one would write it for XDP: it verifies the header checksum, and computes it
// anew where it changes the header.

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
        transition accept;
    }
}

control router(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    // Where the host is.
    const bit<32> HOST_PORT = 510;

    // The indices of `packets`.
    const bit<32> ROUTED = 0;
    const bit<32> TO_HOST = 1;
    const bit<32> DROPPED = 2;

    CounterArray(3, false) packets;

    action to_host() {
        xout.output_port = HOST_PORT;
        xout.output_action = xdp_action.XDP_REDIRECT;
        packets.increment(TO_HOST);
    }

    action drop() {
        xout.output_action = xdp_action.XDP_DROP;
        packets.increment(DROPPED);
    }

    action next_hop(bit<32> port, bit<48> src_mac, bit<48> dst_mac) {
        hdr.eth.src = src_mac;
        hdr.eth.dst = dst_mac;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        hdr.ipv4.checksum = ebpf_ipv4_checksum(hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp_ecn, hdr.ipv4.total_len,
            hdr.ipv4.id, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl, hdr.ipv4.protocol,
            hdr.ipv4.src, hdr.ipv4.dst);
        xout.output_port = port;
        xout.output_action = xdp_action.XDP_REDIRECT;
        packets.increment(ROUTED);
    }

    table routes {
        key = { hdr.ipv4.dst : lpm; }
        actions = { next_hop; to_host; drop; }
        default_action = to_host();
        size = 1024;
    }

    apply {
        xout.output_port = 0;
        bool plain = hdr.ipv4.isValid() && hdr.ipv4.ihl == 5;
        if (plain && hdr.ipv4.checksum != ebpf_ipv4_checksum(hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp_ecn,
                hdr.ipv4.total_len, hdr.ipv4.id, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
                hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst)) {
            drop();
        } else if (plain && hdr.ipv4.ttl > 1) {
            routes.apply();
        } else {
            to_host();
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv4);
    }
}

xdp(prs(), router(), dprs()) main;
