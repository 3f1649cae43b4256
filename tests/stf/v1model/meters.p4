// SPDX-License-Identifier: Apache-2.0
//
// Meters with an index and of tables' entries, of packets and of bytes, with rates from very small to very large.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> index;
    bit<8> key;
    bit<8> packets;
    bit<8> bytes;
    bit<8> exact_match;
    bit<8> wildcard;
    bit<8> fixed;
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
    meter(4, MeterType.packets) by_packets;
    meter(4, MeterType.bytes) by_bytes;
    direct_meter<bit<8>>(MeterType.packets) of_exact;
    direct_meter<bit<2>>(MeterType.bytes) of_wildcard;
    direct_meter<bit<8>>(MeterType.packets) of_fixed;
    direct_counter(CounterType.packets) hits;

    bit<32> color;
    bit<2> narrow = 3;

    action read_exact() {
        of_exact.read(hdr.d.exact_match);
    }

    action read_wildcard(bit<8> more) {
        of_wildcard.read(narrow);
        hdr.d.wildcard = (bit<8>)narrow + more;
    }

    action read_fixed() {
        of_fixed.read(hdr.d.fixed);
    }

    table exact_matches {
        key = { hdr.d.key : exact @name("key"); }
        actions = { read_exact; NoAction; }
        default_action = read_exact();
        meters = of_exact;
        counters = hits;
        size = 8;
    }

    table wildcards {
        key = { hdr.d.key : ternary @name("key"); }
        actions = { read_wildcard; NoAction; }
        default_action = NoAction();
        meters = of_wildcard;
        size = 8;
    }

    table fixed {
        key = { hdr.d.key : exact @name("key"); }
        actions = { read_fixed; NoAction; }
        const default_action = NoAction();
        meters = of_fixed;
        const entries = {
            1 : read_fixed();
            2 : read_fixed();
        }
    }

    apply {
        std.egress_spec = 1;
        by_packets.execute_meter((bit<32>)hdr.d.index, color);
        hdr.d.packets = (bit<8>)color;
        by_bytes.execute_meter((bit<32>)hdr.d.index, hdr.d.bytes);
        exact_matches.apply();
        wildcards.apply();
        fixed.apply();
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
