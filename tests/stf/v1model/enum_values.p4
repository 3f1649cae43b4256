// SPDX-License-Identifier: Apache-2.0
//
// Members of a plain enum as values: hashed, kept in registers.

#include <core.p4>
#include <v1model.p4>

enum kind_t { small, middle, large }

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  index;
    bit<8>  size;
    bit<16> hashed;
    bit<16> constant;
    bit<8>  before;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

struct metadata_t { }

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.d);
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<kind_t>(4) kinds;

    kind_t kind;
    kind_t before;

    apply {
        std.egress_spec = 1;
        kind = kind_t.small;
        if (hdr.d.size > 100) {
            kind = kind_t.large;
        } else if (hdr.d.size > 10) {
            kind = kind_t.middle;
        }
        hash(hdr.d.hashed, HashAlgorithm.identity, 16w0, kind, 17w0x10000);
        hash(hdr.d.constant, HashAlgorithm.xor16, 16w0, kind_t.large, 17w0x10000);
        kinds.read(before, (bit<32>)hdr.d.index);
        if (before == kind_t.middle) {
            hdr.d.before = 1;
        } else if (before == kind_t.large) {
            hdr.d.before = 2;
        } else {
            hdr.d.before = 0;
        }
        if (hdr.d.size == 0xff) {
            kinds.write((bit<32>)hdr.d.index, kind_t.middle);
        } else {
            kinds.write((bit<32>)hdr.d.index, kind);
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

control compute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.d);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
