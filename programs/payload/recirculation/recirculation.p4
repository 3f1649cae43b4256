// SPDX-License-Identifier: Apache-2.0
//
// Byte by byte with recirculation, for switches whose parser has no loops: each packet goes on untouched, and a clone of it is recirculated.
// Each time its parser takes one byte of the payload, which the deparser leaves out; a label in front of the IP header keeps how much of the
// value was matched. Counts the UDP packets whose payload has the value of the query attribute in its first 31 bytes.

#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_UDP = 17;
const bit<16> UDP_HEADER_BYTES = 8;

// Kinds of packets, as v1model numbers them.
const bit<32> CLONE = 1;
const bit<32> RECIRCULATED = 4;

// The clone session whose packets go round.
const bit<32> SESSION = 1;

// In the kernel a packet is cloned and recirculated 32 times at most: cloned once, and then recirculated for each byte.
const bit<16> MOST_BYTES = 31;

// The value of the query attribute: "Paris". No byte of it is like its first one, so that where a byte does not match, the value can
// only begin with that byte.
const bit<8> VALUE_BYTES = 5;
const bit<40> VALUE = 0x5061726973;
const bit<8> FIRST_BYTE = VALUE[39:32];

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

// What a clone has in front of its IP header.
header label_t {
    bit<8>  matched;
    bit<16> left;
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

header byte_t {
    bit<8> value;
}

struct headers_t {
    ethernet_t eth;
    label_t    label;
    ipv4_t     ipv4;
    udp_t      udp;
    byte_t     next;
}

struct metadata_t {
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        transition select(std.instance_type, hdr.eth.type) {
            (RECIRCULATED, _): label;
            (_, TYPE_IPV4):    ipv4;
            default:           accept;
        }
    }
    state label {
        packet.extract(hdr.label);
        packet.extract(hdr.ipv4);
        packet.extract(hdr.udp);
        packet.extract(hdr.next);
        transition accept;
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
        transition accept;
    }
}

control verify_sums(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    counter(1, CounterType.packets) packets_with_value;

    // One more byte of the payload.
    action look_at(bit<8> byte) {
        bit<40> rest = VALUE << (8 * hdr.label.matched);
        if (byte == rest[39:32]) {
            hdr.label.matched = hdr.label.matched + 1;
        } else if (byte == FIRST_BYTE) {
            hdr.label.matched = 1;
        } else {
            hdr.label.matched = 0;
        }
        hdr.label.left = hdr.label.left - 1;
    }

    apply {
        // Packets go from port 0 to port 1, and back.
        std.egress_spec = std.ingress_port ^ 1;
        if (hdr.label.isValid()) {
            if (hdr.next.isValid()) {
                look_at(hdr.next.value);
            } else {
                // It is shorter than its headers say.
                hdr.label.left = 0;
            }
            if (hdr.label.matched == VALUE_BYTES) {
                packets_with_value.count(0);
                mark_to_drop(std);
            } else if (hdr.label.left == 0) {
                mark_to_drop(std);
            }
        } else if (hdr.udp.isValid() && hdr.udp.length > UDP_HEADER_BYTES) {
            clone(CloneType.I2E, SESSION);
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (std.instance_type == CLONE) {
            bit<16> bytes = hdr.udp.length - UDP_HEADER_BYTES;
            hdr.label.setValid();
            hdr.label.matched = 0;
            hdr.label.left = bytes < MOST_BYTES ? bytes : MOST_BYTES;
        }
        if (hdr.label.isValid()) {
            recirculate_preserving_field_list(0);
        }
    }
}

control compute_sums(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.label);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
    }
}

V1Switch(prs(), verify_sums(), ingress(), egress(), compute_sums(), dprs()) main;
