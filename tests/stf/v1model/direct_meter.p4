// SPDX-License-Identifier: Apache-2.0
//
// A meter of the table's own, read in its action, and a table that shares its actions by a profile.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> key;
    bit<8> color;
    bit<8> member;
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
    direct_meter<bit<2>>(MeterType.bytes) per_entry;
    action_profile(8) shared;

    bit<2> color = 3;

    action mark() {
        per_entry.read(color);
    }

    action mark_twice() {
        per_entry.read(color);
        per_entry.read(color);
    }

    action look_away() {
        color = 2;
    }

    table metered {
        key = { hdr.d.key : exact @name("key"); }
        actions = { mark; mark_twice; look_away; NoAction; }
        default_action = NoAction();
        meters = per_entry;
        size = 8;
    }

    action member(bit<8> value) {
        hdr.d.member = value;
    }

    table profiled {
        key = { hdr.d.key : exact @name("key"); }
        actions = { member; NoAction; }
        default_action = NoAction();
        implementation = shared;
        size = 8;
    }

    apply {
        std.egress_spec = 1;
        metered.apply();
        profiled.apply();
        hdr.d.color = (bit<8>)color;
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
