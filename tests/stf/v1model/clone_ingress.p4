// SPDX-License-Identifier: Apache-2.0
//
// Clones that ingress makes: the packet as it was parsed, with the fields of a list as they are when ingress has ended, and
// with nothing else of the metadata. The last call counts. Sessions have one port, several, a group, or do not exist.

#include <core.p4>
#include <v1model.p4>

const bit<8> KEPT = 1;
const bit<8> OTHER = 2;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  first;
    bit<8>  instance;
    bit<16> port;
    bit<16> rid;
    bit<16> kept;
    bit<16> lost;
    bit<8>  both;
    bit<8>  parsed;
    bit<16> input;
    bit<16> length;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

struct metadata_t {
    @field_list(KEPT) bit<16> kept;
    bit<16>                  lost;
    @field_list(OTHER, KEPT) bit<8> both;
    bit<8>                   parsed;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.d);
        meta.parsed = hdr.d.first;
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action clone_it(bit<32> session) {
        clone_preserving_field_list(CloneType.I2E, session, KEPT);
    }
    action clone_without(bit<32> session) {
        clone(CloneType.I2E, session);
    }
    action clone_other(bit<32> session) {
        clone_preserving_field_list(CloneType.I2E, session, OTHER);
    }
    action twice(bit<32> session) {
        clone_preserving_field_list(CloneType.I2E, session + 1, KEPT);
        clone_preserving_field_list(CloneType.I2E, session, OTHER);
    }
    action clone_and_drop(bit<32> session) {
        clone_preserving_field_list(CloneType.I2E, session, KEPT);
        mark_to_drop(std);
    }
    table kinds {
        key = { hdr.d.first : exact; }
        actions = { clone_it; clone_without; clone_other; twice; clone_and_drop; NoAction; }
        default_action = NoAction();
        const entries = {
            1 : clone_it(5);
            2 : clone_without(5);
            3 : clone_other(5);
            4 : twice(5);
            5 : clone_and_drop(5);
            6 : clone_it(0x12345678);
        }
    }
    apply {
        std.egress_spec = 1;
        hdr.eth.type = 0x9999;
        kinds.apply();
        meta.kept = 0x1122;
        meta.lost = 0x3344;
        meta.both = 0x55;
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.d.instance = (bit<8>)std.instance_type;
        hdr.d.port = (bit<16>)std.egress_port;
        hdr.d.rid = std.egress_rid;
        hdr.d.kept = meta.kept;
        hdr.d.lost = meta.lost;
        hdr.d.both = meta.both;
        hdr.d.parsed = meta.parsed;
        hdr.d.input = (bit<16>)std.ingress_port;
        hdr.d.length = (bit<16>)std.packet_length;
    }
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
