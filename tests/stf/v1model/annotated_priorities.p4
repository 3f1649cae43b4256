// SPDX-License-Identifier: Apache-2.0
//
// Entries with `@priority`: the lowest number comes first, and an entry without one has its place.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> key;
    bit<8> value;
    bit<8> other;
    bit<8> exact;
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
    action set(bit<8> value) {
        hdr.d.value = value;
    }
    action set_other(bit<8> value) {
        hdr.d.other = value;
    }
    action set_exact(bit<8> value) {
        hdr.d.exact = value;
    }
    table annotated {
        key = { hdr.d.key: ternary; }
        actions = { set; NoAction; }
        const entries = {
            0x00 &&& 0xf0: set(1) @priority(10);
            0x03: set(2) @priority(4);
            @priority(2) 0x01 &&& 0x01: set(3);
            _: set(4) @priority(1000);
            0x80 &&& 0x80: set(5) @priority(0x3e7);
        }
    }
    // The third comes first, then the second by its place, 2, then the first by its number, 3.
    table mixed {
        key = { hdr.d.key: range; }
        actions = { set_other; NoAction; }
        const entries = {
            0 .. 100: set_other(1) @priority(3);
            0 .. 50: set_other(2);
            10 .. 20: set_other(3) @priority(1);
            _: set_other(4);
        }
    }
    // No two entries match the same packet: the numbers say nothing.
    table alone {
        key = { hdr.d.key: exact; }
        actions = { set_exact; NoAction; }
        const entries = {
            1: set_exact(1) @priority(9);
            2: set_exact(2) @priority(1);
        }
    }
    apply {
        std.egress_spec = 1;
        annotated.apply();
        mixed.apply();
        alone.apply();
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
