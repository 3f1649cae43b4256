// SPDX-License-Identifier: Apache-2.0
//
// random stays in its bounds; digest, log_msg, assert and assume change no packet.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> low;
    bit<8> high;
    bit<8> within;
}

struct seen_t {
    bit<8>  low;
    bit<48> src;
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
    bit<8> value;

    apply {
        std.egress_spec = 1;
        assert(hdr.d.low <= hdr.d.high);
        assume(hdr.d.isValid());
        random(value, hdr.d.low, hdr.d.high);
        hdr.d.within = value >= hdr.d.low && value <= hdr.d.high ? 8w1 : 0;
        digest<seen_t>(1, { hdr.d.low, hdr.eth.src });
        log_msg("{} within {} and {}", { value, hdr.d.low, hdr.d.high });
        log_msg("done");
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
