// SPDX-License-Identifier: Apache-2.0
//
// Counts IPv4 packets and their bytes by protocol number, and lets every packet go on.

#include <core.p4>
#include <ebpf_model.p4>

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

control count(inout headers_t hdr, out bool pass) {
    CounterArray(256, false) packets_by_protocol;
    CounterArray(256, false) bytes_by_protocol;

    apply {
        pass = true;
        if (hdr.ipv4.isValid()) {
            bit<32> protocol = (bit<32>)hdr.ipv4.protocol;
            packets_by_protocol.increment(protocol);
            bytes_by_protocol.add(protocol, (bit<32>)hdr.ipv4.total_len);
        }
    }
}

ebpfFilter(prs(), count()) main;
