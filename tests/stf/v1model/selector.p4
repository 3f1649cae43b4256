// SPDX-License-Identifier: Apache-2.0
//
// Two tables that share the members and groups of an action selector; each has a key of its own, and both hash the flow.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> first;
    bit<8> second;
    bit<8> flow;
    bit<8> result;
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
    // BMv2 takes all bits of the hash, and never these 3.
    action_selector(HashAlgorithm.identity, 4, 3) hops;

    action to(bit<9> port, bit<8> result) {
        std.egress_spec = port;
        hdr.d.result = result;
    }

    action drop() {
        mark_to_drop(std);
    }

    action only_first() {
        std.egress_spec = 9;
    }

    table by_first {
        key = {
            hdr.d.first : exact @name("first");
            hdr.d.flow : selector;
        }
        actions = { to; drop; only_first; }
        default_action = drop();
        implementation = hops;
        size = 8;
    }

    table by_second {
        key = {
            hdr.d.flow : selector;
            hdr.d.second : ternary @name("second");
        }
        actions = { drop; to; }
        default_action = drop();
        implementation = hops;
        size = 8;
    }

    apply {
        if (!by_first.apply().hit) {
            switch (by_second.apply().action_run) {
                to: { hdr.d.second = 0xff; }
                default: { }
            }
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
