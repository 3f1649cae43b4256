// SPDX-License-Identifier: Apache-2.0
//
// Action profiles of tables of several structures, and selectors with several hashes; a table whose entries have counters too.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<32> address;
    bit<16> port;
    bit<4>  class;
    bit<4>  rest;
    bit<8>  first;
    bit<16> second;
    bit<8>  third;
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
    action_profile(2) shared;
    action_selector(HashAlgorithm.crc16, 64, 10) by_crc16;
    action_selector(HashAlgorithm.crc32, 300, 10) by_crc32;
    direct_counter(CounterType.packets) hits;

    action set_first(bit<8> value) {
        hdr.d.first = value;
    }

    action set_second(bit<16> value) {
        hdr.d.second = value;
    }

    action set_third(bit<8> value) {
        hdr.d.third = value;
    }

    action nothing() { }

    table prefixes {
        key = { hdr.d.address : lpm @name("address"); }
        actions = { set_first; nothing; }
        default_action = nothing();
        implementation = shared;
        counters = hits;
        size = 16;
    }

    table wildcards {
        key = {
            hdr.d.port : ternary @name("port");
            hdr.d.address : selector;
            hdr.d.class : selector;
            hdr.d.rest : selector;
        }
        actions = { set_second; nothing; }
        default_action = set_second(0xdddd);
        implementation = by_crc16;
        size = 16;
    }

    @layout("multibit_trie")
    table many {
        key = {
            hdr.d.address : lpm @name("address");
            hdr.d.address : selector;
            hdr.d.port : selector;
        }
        actions = { set_third; }
        const default_action = set_third(0);
        implementation = by_crc32;
        size = 1024;
    }

    apply {
        std.egress_spec = 1;
        prefixes.apply();
        wildcards.apply();
        many.apply();
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
