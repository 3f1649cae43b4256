// SPDX-License-Identifier: Apache-2.0
//
// An automaton: the attribute that is asked for has no fixed value. Counts the UDP packets whose payload has "id=", at least one digit
// and a semicolon anywhere, and lets every packet go on.

#include <core.p4>
#include <ebpf_model.p4>

const bit<16> TYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_UDP = 17;
const bit<16> UDP_HEADER_BYTES = 8;

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

// A byte of the payload.
header byte_t {
    bit<8> value;
}

// Valid where the attribute ends. It has no bytes.
header mark_t {
}

struct headers_t {
    ethernet_t eth;
    ipv4_t     ipv4;
    udp_t      udp;
    byte_t     next;
    mark_t     id;
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
        transition select(left) {
            0: accept;
            default: text;
        }
    }
    // What came last is no part of the attribute.
    state text {
        packet.extract(hdr.next);
        left = left - 1;
        transition select(hdr.next.value, left) {
            (_, 0): accept;
            (0x69, _): after_i;
            default: text;
        }
    }
    state after_i {
        packet.extract(hdr.next);
        left = left - 1;
        transition select(hdr.next.value, left) {
            (_, 0): accept;
            (0x64, _): after_id;
            (0x69, _): after_i;
            default: text;
        }
    }
    state after_id {
        packet.extract(hdr.next);
        left = left - 1;
        transition select(hdr.next.value, left) {
            (_, 0): accept;
            (0x3d, _): after_equals;
            (0x69, _): after_i;
            default: text;
        }
    }
    state after_equals {
        packet.extract(hdr.next);
        left = left - 1;
        transition select(hdr.next.value, left) {
            (_, 0): accept;
            (0x30 .. 0x39, _): digits;
            (0x69, _): after_i;
            default: text;
        }
    }
    state digits {
        packet.extract(hdr.next);
        left = left - 1;
        transition select(hdr.next.value, left) {
            (0x3b, _): found;
            (_, 0): accept;
            (0x30 .. 0x39, _): digits;
            (0x69, _): after_i;
            default: text;
        }
    }
    state found {
        packet.extract(hdr.id);
        transition accept;
    }
}

control count(inout headers_t hdr, out bool pass) {
    CounterArray(1, false) packets_with_id;

    apply {
        pass = true;
        if (hdr.id.isValid()) {
            packets_with_id.increment(0);
        }
    }
}

ebpfFilter(prs(), count()) main;
