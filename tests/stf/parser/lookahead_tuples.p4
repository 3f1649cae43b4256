// SPDX-License-Identifier: Apache-2.0
//
// Tuples that a parser looks ahead for, as a whole, by their elements, and as keys: with tuples, structs and bits inside.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  a;
    bit<8>  b;
    bit<16> c;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

struct metadata_t {
    bit<8>  x;
    bit<16> y;
}

struct two_t {
    bit<8> a;
    bit<8> b;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    tuple<bit<8>, bit<8>> pair;

    state start {
        packet.extract(hdr.eth);
        meta.x = packet.lookahead<tuple<bit<8>, bit<8>>>()[1];
        pair = packet.lookahead<tuple<bit<8>, bit<8>>>();
        tuple<two_t, bit<8>> with_struct = packet.lookahead<tuple<two_t, bit<8>>>();
        tuple<tuple<bit<4>, bit<4>>, int<8>> nested = packet.lookahead<tuple<tuple<bit<4>, bit<4>>, int<8>>>();
        two_t two = packet.lookahead<two_t>();
        meta.x = meta.x + with_struct[0].a + two.b + (bit<8>) nested[0][1] + (bit<8>) nested[1];
        tuple<bit<1>, bool> flags = packet.lookahead<tuple<bit<1>, bool>>();
        meta.y = flags[1] ? 16w0x100 : 0;
        transition select(packet.lookahead<tuple<bit<8>, bit<8>>>()[0], pair, packet.lookahead<bit<8>>()) {
            (1, { 1, 9 }, _): accept;
            (_, { 1, 2 }, _): again;
            default: data;
        }
    }
    state again {
        pair = { 7, meta.x };
        transition select(pair) {
            { 7, 9 }: accept;
            _: data;
        }
    }
    state data {
        packet.extract(hdr.d);
        meta.x = pair[0] + meta.x;
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.d.b = meta.x;
        hdr.d.c = meta.y;
        std.egress_spec = 1;
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
