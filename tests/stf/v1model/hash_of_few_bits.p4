// SPDX-License-Identifier: Apache-2.0
//
// Hashes of bits of which the compiler knows that most are zero: it must not leave out bounds that the verifier has to see.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  by;
    bit<8>  few;
    bit<16> crc16;
    bit<32> crc32;
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
        hash(hdr.d.crc16, HashAlgorithm.crc16, 16w0,
            { 7w2 >> hdr.d.by[7:3], 2w2 & hdr.d.few[1:0], 9w0 }, 32w0x10000);
        hash(hdr.d.crc32, HashAlgorithm.crc32, 32w0,
            { 7w2 >> hdr.d.by[7:3], 2w2 & hdr.d.few[1:0], 9w0 }, 64w0x100000000);
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
