// SPDX-License-Identifier: Apache-2.0
//
// hash by HashAlgorithm.random draws a number whether anybody reads it or not, and whatever max is: what random draws behind it
// is the same on all targets.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<16> max;
    bit<16> hashed;
    bit<32> drawn;
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
    bit<16> unread;

    apply {
        std.egress_spec = 1;
        hash(unread, HashAlgorithm.random, 16w0, { hdr.eth.src }, 16w100);
        hash(unread, HashAlgorithm.random, 16w0, { hdr.eth.src }, 16w0);
        hash(hdr.d.hashed, HashAlgorithm.random, 16w0x100, { hdr.eth.src }, hdr.d.max);
        random(hdr.d.drawn, 0, 0xffffffff);
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
