// SPDX-License-Identifier: Apache-2.0
//
// Checksums with the payload and of fields of variable length in a program that clones: each copy has other headers in front of the same
// payload, with a VLAN tag, another one or none.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header tag_t {
    bit<16> tci;
    bit<16> type;
}

header options_t {
    bit<8>      bytes;
    varbit<320> data;
}

header more_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
}

header sums_t {
    bit<8>  wrong;
    bit<8>  same;
    bit<16> of_payload;
    bit<16> of_options;
    bit<32> hashed;
}

struct headers_t {
    ethernet_t eth;
    tag_t      tag;
    more_t     more;
    options_t  options;
    options_t  others;
    sums_t     sums;
}

struct metadata_t {
    @field_list(1)
    bit<8> kept;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            0x8100: tagged;
            0x1234: untagged;
            default: accept;
        }
    }
    state tagged {
        packet.extract(hdr.tag);
        transition untagged;
    }
    state untagged {
        packet.extract(hdr.options, (bit<32>)packet.lookahead<bit<8>>() * 8);
        packet.extract(hdr.others, (bit<32>)packet.lookahead<bit<8>>() * 8);
        packet.extract(hdr.sums);
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum_with_payload(hdr.sums.isValid(), { hdr.options.bytes, hdr.options.data }, hdr.sums.of_payload,
            HashAlgorithm.csum16);
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        if (hdr.sums.isValid()) {
            hdr.sums.wrong = (bit<8>)std.checksum_error;
            meta.kept = hdr.sums.wrong;
            clone_preserving_field_list(CloneType.I2E, 5, 1);
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (hdr.sums.isValid()) {
            hdr.sums.same = (bit<8>)(bit<1>)(hdr.options.data == hdr.others.data);
            hash(hdr.sums.hashed, HashAlgorithm.crc32, 64w0, { hdr.others.data, hdr.options.data }, 64w1 << 32);
        }
        if (std.instance_type == 1) {
            // The clone of ingress: a tag more or less, and three bytes more.
            hdr.sums.wrong = meta.kept + 0x10;
            hdr.more = { 1, 2, 3 };
            if (hdr.tag.isValid()) {
                hdr.eth.type = hdr.tag.type;
                hdr.tag.setInvalid();
            } else {
                hdr.tag = { 7, hdr.eth.type };
                hdr.eth.type = 0x8100;
            }
            clone(CloneType.E2E, 6);
        } else if (std.instance_type == 2) {
            // The clone of that: without the options.
            hdr.sums.wrong = 0x20;
            hdr.options.setInvalid();
        }
    }
}

control compute(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum_with_payload(hdr.sums.isValid(), { hdr.sums.wrong, hdr.more.a, hdr.options.data }, hdr.sums.of_payload,
            HashAlgorithm.csum16);
        update_checksum(hdr.sums.isValid(), { hdr.others.data, hdr.sums.wrong }, hdr.sums.of_options, HashAlgorithm.csum16);
    }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.tag);
        packet.emit(hdr.more);
        packet.emit(hdr.options);
        packet.emit(hdr.others);
        packet.emit(hdr.sums);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
