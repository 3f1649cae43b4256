// SPDX-License-Identifier: Apache-2.0
//
// The hash algorithms over two fields, base and max.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<32> a;
    bit<16> b;
    bit<32> crc32;
    bit<16> crc16;
    bit<16> csum16;
    bit<16> xor16;
    bit<16> bounded;
    bit<16> base_only;
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
    apply {
        std.egress_spec = 1;
        hash(hdr.d.crc32, HashAlgorithm.crc32, 32w0, { hdr.d.a, hdr.d.b }, 64w0x100000000);
        hash(hdr.d.crc16, HashAlgorithm.crc16, 16w0, { hdr.d.a, hdr.d.b }, 32w0x10000);
        hash(hdr.d.csum16, HashAlgorithm.csum16, 16w0, { hdr.d.a, hdr.d.b }, 32w0x10000);
        hash(hdr.d.xor16, HashAlgorithm.xor16, 16w0, { hdr.d.a, hdr.d.b }, 32w0x10000);
        hash(hdr.d.bounded, HashAlgorithm.crc32, 16w1000, { hdr.d.a, hdr.d.b }, 16w10);
        hash(hdr.d.base_only, HashAlgorithm.crc32, 16w77, { hdr.d.a, hdr.d.b }, 16w0);
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
