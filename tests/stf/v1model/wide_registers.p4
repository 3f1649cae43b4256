// SPDX-License-Identifier: Apache-2.0
//
// A register whose cells are wider than any number that the processor knows: a value that packets vote for.

#include <core.p4>
#include <v1model.p4>

header vote_t {
    bit<48>  dst;
    bit<48>  src;
    bit<16>  type;
    bit<8>   kind;
    bit<16>  instance;
    bit<16>  round;
    bit<256> value;
}

struct headers_t {
    vote_t vote;
}

struct metadata_t {
    bit<16> highest;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.vote);
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<bit<16>>(1024) rounds;
    register<bit<256>>(1024) values;
    action drop() {
        mark_to_drop(std);
    }
    action propose() {
        rounds.write((bit<32>) hdr.vote.instance, hdr.vote.round);
        values.write((bit<32>) hdr.vote.instance, hdr.vote.value);
    }
    action ask() {
        rounds.read(hdr.vote.round, (bit<32>) hdr.vote.instance);
        values.read(hdr.vote.value, (bit<32>) hdr.vote.instance);
    }
    table kinds {
        key = { hdr.vote.kind: exact; }
        actions = { propose; ask; drop; }
        default_action = drop();
        const entries = {
            1: propose();
            2: ask();
        }
    }
    apply {
        std.egress_spec = 2;
        rounds.read(meta.highest, (bit<32>) hdr.vote.instance);
        if (hdr.vote.round >= meta.highest) {
            kinds.apply();
        } else {
            drop();
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
        packet.emit(hdr.vote);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
