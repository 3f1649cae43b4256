// SPDX-License-Identifier: Apache-2.0
//
// Actions that are called like the extern function that they call, and an extern that is made where it is called.

#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
    bit<8>  n;
}

struct headers_t {
    h_t h;
}

struct metadata_t {
    bit<8>[4] kept;
}

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
    action mark_to_drop() {
        mark_to_drop(std);
    }
    action keep(bit<8> v = 7) {
        meta.kept[hdr.h.n] = v;
    }
    table which {
        key = { hdr.h.n: exact; }
        actions = { mark_to_drop; keep; }
        default_action = keep();
        const entries = {
            {9}: mark_to_drop();
            {1}: keep(5);
        }
    }
    apply {
        std.egress_spec = std.ingress_port;
        which.apply();
        counter(16, CounterType.packets).count((bit<32>) hdr.h.n);
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.h.n = meta.kept[1] + meta.kept[2] + meta.kept[3];
    }
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
