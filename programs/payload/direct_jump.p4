// SPDX-License-Identifier: Apache-2.0
//
// Direct jump: the sizes of the attributes and their order are fixed, so the query attribute is at a known offset. Counts
// the UDP packets in which it has a given value, and lets every packet go on.

#include <core.p4>
#include <ebpf_model.p4>

const bit<16> TYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_UDP = 17;
const bit<16> UDP_HEADER_BYTES = 8;

// The message: 24 attributes of 25 bytes. The query attribute is the last one.
const bit<32> BITS_BEFORE_QUERY = 23 * 25 * 8;
const bit<16> MESSAGE_BYTES = 24 * 25;

// The value that is counted: the 25 bytes "city=Paris;country=France".
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

header attribute_t {
    bit<200> value;
}

struct headers_t {
    ethernet_t  eth;
    ipv4_t      ipv4;
    udp_t       udp;
    attribute_t query;
}

parser prs(packet_in packet, out headers_t hdr) {
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
        transition select(hdr.udp.length >= UDP_HEADER_BYTES + MESSAGE_BYTES) {
            true: jump;
            default: accept;
        }
    }
    state jump {
        packet.advance(BITS_BEFORE_QUERY);
        packet.extract(hdr.query);
        transition accept;
    }
}

control count(inout headers_t hdr, out bool pass) {
    CounterArray(1, false) packets_with_value;

    apply {
        pass = true;
        if (hdr.query.isValid() && hdr.query.value == VALUE) {
            packets_with_value.increment(0);
        }
    }
}

ebpfFilter(prs(), count()) main;
