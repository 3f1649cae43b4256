// SPDX-License-Identifier: Apache-2.0
//
// What egress reads of the queue and of time, whatever ingress wrote there; and the priority, which stays.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header times_t {
    bit<32> enqueued;
    bit<32> came_in;
    bit<32> at_egress;
}

header queue_t {
    bit<16> enq_depth;
    bit<16> deq_depth;
    bit<16> waited;
    bit<8>  priority;
}

struct headers_t {
    ethernet_t eth;
    times_t    t;
    queue_t    q;
}

struct metadata_t { }

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.t);
        packet.extract(hdr.q);
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        std.enq_qdepth = 5;
        std.deq_qdepth = 6;
        std.deq_timedelta = 7;
        std.enq_timestamp = 8;
        std.egress_global_timestamp = 9;
        std.priority = (bit<3>)hdr.q.priority;
        hdr.t.came_in = (bit<32>)std.ingress_global_timestamp;
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.t.enqueued = std.enq_timestamp;
        hdr.t.at_egress = (bit<32>)std.egress_global_timestamp;
        hdr.q.enq_depth = (bit<16>)std.enq_qdepth;
        hdr.q.deq_depth = (bit<16>)std.deq_qdepth;
        hdr.q.waited = (bit<16>)std.deq_timedelta;
        hdr.q.priority = (bit<8>)std.priority;
    }
}

control compute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.t);
        packet.emit(hdr.q);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
