// SPDX-License-Identifier: Apache-2.0
//
// Both ends of a GRE tunnel over IPv4: packets for a far network get an outer IPv4 and a GRE header pushed in
// front of them, packets from a known far end lose them again.

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

// GRE in its plain form (RFC 2784): no checksum, no key, version 0.
header gre_t {
    bit<16> flags_version;
    bit<16> type;
}

struct headers_t {
    ethernet_t eth;
    ipv4_t     outer;
    gre_t      gre;
    ipv4_t     inner;
}

const bit<16> TYPE_IPV4 = 0x0800;
const bit<8>  PROTOCOL_GRE = 47;

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            TYPE_IPV4: ipv4;
            default:   accept;
        }
    }
    // A packet without a tunnel has an inner header only: what gets pushed comes in front of it.
    state ipv4 {
        transition select(packet.lookahead<ipv4_t>().ihl, packet.lookahead<ipv4_t>().protocol) {
            (5, PROTOCOL_GRE): outer;
            default:           inner;
        }
    }
    state outer {
        packet.extract(hdr.outer);
        packet.extract(hdr.gre);
        transition select(hdr.gre.flags_version, hdr.gre.type) {
            (0, TYPE_IPV4): inner;
            default:        accept;
        }
    }
    state inner {
        packet.extract(hdr.inner);
        transition accept;
    }
}

control tunnel(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    // The indices of `packets`.
    const bit<32> PUSHED = 0;
    const bit<32> POPPED = 1;
    const bit<32> TO_HOST = 2;

    const bit<16> OUTER_BYTES = 24;
    const bit<8>  OUTER_TTL = 64;

    CounterArray(3, false) packets;

    action to_host() {
        xout.output_action = xdp_action.XDP_PASS;
        packets.increment(TO_HOST);
    }

    action send(bit<32> port, bit<48> src_mac, bit<48> dst_mac) {
        hdr.eth.src = src_mac;
        hdr.eth.dst = dst_mac;
        xout.output_port = port;
        xout.output_action = xdp_action.XDP_REDIRECT;
    }

    action push(bit<32> src, bit<32> dst, bit<32> port, bit<48> src_mac, bit<48> dst_mac) {
        hdr.outer = {
            version = 4, ihl = 5, dscp_ecn = hdr.inner.dscp_ecn,
            total_len = hdr.inner.total_len + OUTER_BYTES,
            id = 0, flags = 0b010, frag_offset = 0,
            ttl = OUTER_TTL, protocol = PROTOCOL_GRE, checksum = 0,
            src = src, dst = dst
        };
        hdr.outer.checksum = ebpf_ipv4_checksum(
            4, 5, hdr.outer.dscp_ecn, hdr.outer.total_len, 0, 0b010, 0, OUTER_TTL, PROTOCOL_GRE, src, dst);
        hdr.gre = { flags_version = 0, type = TYPE_IPV4 };
        send(port, src_mac, dst_mac);
        packets.increment(PUSHED);
    }

    action pop(bit<32> port, bit<48> src_mac, bit<48> dst_mac) {
        hdr.outer.setInvalid();
        hdr.gre.setInvalid();
        send(port, src_mac, dst_mac);
        packets.increment(POPPED);
    }

    table far_networks {
        key = { hdr.inner.dst : lpm @name("dst"); }
        actions = { push; to_host; }
        default_action = to_host();
        size = 256;
    }

    table far_ends {
        key = {
            hdr.outer.src : exact @name("src");
            hdr.outer.dst : exact @name("dst");
        }
        actions = { pop; to_host; }
        default_action = to_host();
        size = 256;
    }

    apply {
        xout.output_port = 0;
        if (hdr.gre.isValid()) {
            if (hdr.inner.isValid()) {
                far_ends.apply();
            } else {
                to_host();
            }
        } else if (hdr.inner.isValid()) {
            far_networks.apply();
        } else {
            to_host();
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.outer);
        packet.emit(hdr.gre);
        packet.emit(hdr.inner);
    }
}

xdp(prs(), tunnel(), dprs()) main;
