// SPDX-License-Identifier: Apache-2.0
//
// Who talks to whom: packets and bytes of each IPv4 sender, how many receivers it has, the sizes of packets, and the
// pairs of addresses with most bytes. Every packet goes on.

#include <core.p4>
#include <ebpf_model.p4>
#include <telemetry.p4>

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

struct pair_t {
    bit<32> src;
    bit<32> dst;
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
        transition accept;
    }
}

control watch(inout headers_t hdr, out bool pass) {
    tally<bit<32>>(16384) senders;
    distinct_count<bit<32>, bit<32>>(1024) receivers;
    histogram<bit<8>>(64) sizes;
    top_keys<pair_t>(1024) pairs;

    apply {
        pass = true;
        if (hdr.ipv4.isValid()) {
            bit<64> bytes = (bit<64>)hdr.ipv4.total_len;
            senders.add(hdr.ipv4.src, bytes);
            receivers.add(hdr.ipv4.src, hdr.ipv4.dst);
            sizes.add(hdr.ipv4.protocol, bytes);
            pairs.add({ hdr.ipv4.src, hdr.ipv4.dst }, bytes);
        }
    }
}

ebpfFilter(prs(), watch()) main;
