// SPDX-License-Identifier: Apache-2.0
//
// Arrays in a field list: each of their elements comes along when the packet is resubmitted, those of an array beside it do
// not.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> rounds;
    bit<8> at;
    bit<8> first;
    bit<8> second;
    bit<8> sum;
    bit<8> lost;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

struct pair_t {
    bit<8> x;
    bit<4> y;
}

struct metadata_t {
    @field_list(1) bit<8>    round;
    @field_list(1) bit<8>[2] seen;
    @field_list(1) pair_t[2] pairs;
    bit<8>[2]                lost;
}

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

control note(inout bit<8>[2] all, in bit<8> at) {
    apply {
        all[at] = all[at] + 0x10;
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.d.first = meta.seen[0];
        hdr.d.second = meta.seen[1];
        hdr.d.sum = meta.pairs[hdr.d.at].x + (bit<8>)meta.pairs[1].y;
        hdr.d.lost = meta.lost[0] + meta.lost[1];
        std.egress_spec = 1;
        if (meta.round < hdr.d.rounds) {
            note.apply(meta.seen, meta.round);
            meta.pairs[hdr.d.at].x = 0x20;
            meta.pairs[1] = {0x30, 4};
            meta.lost[hdr.d.at] = 0x66;
            meta.round = meta.round + 1;
            resubmit_preserving_field_list(1);
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
