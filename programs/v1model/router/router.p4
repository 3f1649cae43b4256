// SPDX-License-Identifier: Apache-2.0
//
// An IPv4 router: longest prefix match, TTL, new MAC addresses; the header checksum is verified and computed anew.
// Whatever needs more than that (ARP, an expired TTL, options, addresses of the router's own) goes to the host, at a port
// of its own.

#include <core.p4>
#include <v1model.p4>

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

struct metadata_t {
    bool routed;
}

error { NotIPv4 }

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
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

// Options are not parsed: the checksum of a header that has them covers more than the program sees.
control verify_header(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && hdr.ipv4.ihl == 5,
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp_ecn, hdr.ipv4.total_len, hdr.ipv4.id, hdr.ipv4.flags,
              hdr.ipv4.frag_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control router(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    // Where the host is.
    const bit<9> HOST_PORT = 510;

    // The indices of `packets`.
    const bit<32> ROUTED = 0;
    const bit<32> TO_HOST = 1;
    const bit<32> DROPPED = 2;

    counter(3, CounterType.packets) packets;

    action to_host() {
        std.egress_spec = HOST_PORT;
        packets.count(TO_HOST);
    }

    action drop() {
        mark_to_drop(std);
        packets.count(DROPPED);
    }

    action next_hop(bit<9> port, bit<48> src_mac, bit<48> dst_mac) {
        hdr.eth.src = src_mac;
        hdr.eth.dst = dst_mac;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        meta.routed = true;
        std.egress_spec = port;
        packets.count(ROUTED);
    }

    table routes {
        key = { hdr.ipv4.dst : lpm; }
        actions = { next_hop; to_host; drop; }
        default_action = to_host();
        size = 1024;
    }

    apply {
        if (std.parser_error != error.NoError || std.checksum_error == 1) {
            drop();
        } else if (hdr.ipv4.isValid() && hdr.ipv4.ihl == 5 && hdr.ipv4.ttl > 1) {
            routes.apply();
        } else {
            to_host();
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

control update_header(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid() && meta.routed,
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp_ecn, hdr.ipv4.total_len, hdr.ipv4.id, hdr.ipv4.flags,
              hdr.ipv4.frag_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(prs(), verify_header(), router(), egress(), update_header(), dprs()) main;
