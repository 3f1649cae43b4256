// SPDX-License-Identifier: Apache-2.0
//
// Arrays of externs: of registers and counters, of which the packet chooses one.

#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
    bit<8>  n;
    bit<8>  v;
    bit<8>  old;
    bit<8>  first;
}

struct headers_t {
    h_t h;
}

struct metadata_t {}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control check(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<bit<8>>(2) kept[3];
    counter(2, CounterType.packets) counts[2];
    apply {
        std.egress_spec = std.ingress_port;
        kept[hdr.h.n].read(hdr.h.old, 1);
        kept[hdr.h.n].write(1, hdr.h.v);
        kept[0].read(hdr.h.first, 1);
        counts[hdr.h.n].count(0);
        counts[1].count(1);
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {}
}

control update(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.h);
    }
}

V1Switch(prs(), check(), ingress(), egress(), update(), dprs()) main;
