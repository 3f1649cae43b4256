// SPDX-License-Identifier: Apache-2.0
//
// Byte by byte: nothing is known about where the query attribute is. Counts the UDP packets whose payload has its value
// anywhere, and lets every packet go on.

#include <core.p4>
#include <ebpf_model.p4>

const bit<16> TYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_UDP = 17;
const bit<16> UDP_HEADER_BYTES = 8;

// The value of the query attribute: the 25 bytes "city=Paris;country=France".
const bit<16> VALUE_BYTES = 25;
const bit<200> VALUE = 0x636974793d50617269733b636f756e7472793d4672616e6365;

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
    bit<16> src;
    bit<16> dst;
    bit<16> length;
    bit<16> checksum;
}

// Valid where the value begins. It has no bytes.
header mark_t {
}

struct headers_t {
    ethernet_t eth;
    ipv4_t     ipv4;
    udp_t      udp;
    mark_t     value;
}

parser prs(packet_in packet, out headers_t hdr) {
    // Bytes of the payload that are left.
    bit<16> left;

    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            TYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0, PROTOCOL_UDP): udp;
            default: accept;
        }
    }
    state udp {
        packet.extract(hdr.udp);
        left = hdr.udp.length |-| UDP_HEADER_BYTES;
        transition search;
    }
    state search {
        transition select(left >= VALUE_BYTES) {
            true: compare;
            default: accept;
        }
    }
    state compare {
        transition select(packet.lookahead<bit<200>>()) {
            VALUE: found;
            default: next;
        }
    }
    state next {
        packet.advance(8);
        left = left - 1;
        transition search;
    }
    state found {
        packet.extract(hdr.value);
        transition accept;
    }
}

control count(inout headers_t hdr, out bool pass) {
    CounterArray(1, false) packets_with_value;

    apply {
        pass = true;
        if (hdr.value.isValid()) {
            packets_with_value.increment(0);
        }
    }
}

ebpfFilter(prs(), count()) main;
