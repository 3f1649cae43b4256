// SPDX-License-Identifier: Apache-2.0
//
// Indexed and direct counters, of packets, of bytes, of both.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> key;
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
    counter(4, CounterType.packets_and_bytes) by_port;
    direct_counter(CounterType.packets_and_bytes) by_entry;

    action forward(bit<9> port) {
        by_entry.count();
        std.egress_spec = port;
    }

    action drop() {
        mark_to_drop(std);
    }

    table t {
        key = { hdr.d.key : exact @name("key"); }
        actions = { forward; drop; }
        default_action = drop();
        counters = by_entry;
        size = 8;
    }

    apply {
        by_port.count((bit<32>)std.ingress_port);
        t.apply();
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
