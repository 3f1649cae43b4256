// SPDX-License-Identifier: Apache-2.0
//
// Checksums of what the parser left: of its bytes behind an even and an odd number of others, checked and computed, where headers
// of varying length and a stack come before it, and where the packet grows and shrinks.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header sums_t {
    bit<8>  items;
    bit<8>  option_bytes;
    bit<16> even;
    bit<16> odd;
    bit<8>  wrong;
}

header item_t {
    bit<8> last;
    bit<8> value;
}

header options_t {
    varbit<320> data;
}

header added_t {
    bit<24> bytes;
}

struct headers_t {
    ethernet_t eth;
    added_t    added;
    sums_t     sums;
    item_t[4]  items;
    options_t  options;
}

struct metadata_t { }

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.sums);
        transition select(hdr.sums.items) {
            0: options;
            default: item;
        }
    }

    state item {
        packet.extract(hdr.items.next);
        transition select(hdr.items.last.last) {
            1: options;
            default: item;
        }
    }

    state options {
        transition select(hdr.sums.option_bytes) {
            0: accept;
            0xff: skipped;
            default: with_options;
        }
    }

    state with_options {
        packet.extract(hdr.options, (bit<32>)hdr.sums.option_bytes * 8);
        transition accept;
    }

    state skipped {
        packet.advance(24);
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum_with_payload(true, { hdr.sums.items, hdr.sums.option_bytes }, hdr.sums.even,
            HashAlgorithm.csum16);
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        hdr.sums.wrong = (bit<8>)std.checksum_error;
        if (hdr.sums.items > 0) {
            hdr.added.setValid();
            hdr.added.bytes = 0xabcdef;
            hdr.items.pop_front(1);
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

control compute(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum_with_payload(true, { hdr.sums.items, hdr.sums.option_bytes }, hdr.sums.even,
            HashAlgorithm.csum16);
        update_checksum_with_payload(hdr.sums.isValid(), { hdr.sums.items, 4w3 }, hdr.sums.odd, HashAlgorithm.csum16);
        update_checksum_with_payload(hdr.sums.items == 2, { hdr.sums.items }, hdr.sums.odd, HashAlgorithm.csum16);
    }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.added);
        packet.emit(hdr.sums);
        packet.emit(hdr.items);
        packet.emit(hdr.options);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
