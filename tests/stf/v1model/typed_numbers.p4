// SPDX-License-Identifier: Apache-2.0
//
// Numbers without a width as values of `type`s, in every place; a table of size 0; errors that are declared later; masks of exact keys.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

type bit<8> vrf_t;
type vrf_t inner_t;
type bit<8> port_id_t;
const vrf_t DEFAULT_VRF = 7;
const int SIZE = 0;
const tuple<int, int> STEPS = { 2, 3 };
const bool LONG = true;

header data_t {
    bit<8> vrf;
    bit<8> inner;
    bit<8> error_seen;
    bit<LONG ? 8 : 4> late;
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

vrf_t step(in vrf_t from, in inner_t by = 5) {
    if (from == 3) {
        return 4;
    }
    return by == 5 ? DEFAULT_VRF : 9;
}
bit<8> told(in bit<8> a) { return a + 1; }
bit<8> told(in bit<8> b) { return b + 2; }

control counted(inout bit<8> x)(vrf_t first) {
    apply {
        if ((vrf_t) x == first) { x = x + 0x40; }
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    vrf_t vrf;
    counted(1) one;
    action set_vrf(vrf_t to, inner_t inner) {
        vrf = to;
        hdr.d.inner = (bit<8>) (vrf_t) inner;
    }
    table vrfs {
        key = { vrf: exact; hdr.d.inner: exact; }
        actions = { set_vrf; NoAction; }
        default_action = NoAction();
        size = SIZE;
        const entries = {
            (1, 2 &&& 0xff): set_vrf(11, 12);
            (DEFAULT_VRF, 3): set_vrf(13, 14);
        }
    }
    table filled {
        key = { hdr.d.late: exact @name("late"); }
        actions = { set_vrf; NoAction; }
        size = 0;
    }
    apply {
        std.egress_spec = 1;
        tuple<int, bit<8>> last = { 40, 1 };
        vrf = (vrf_t) hdr.d.vrf;
        if (vrf == 2) { vrf = step(3); } else if (vrf != 1) { vrf = step(from = vrf); }
        vrfs.apply();
        filled.apply();
        for (@hidden inner_t i in { 50, 60 }) {
            if ((vrf_t) i == vrf) { hdr.d.inner = told(b = hdr.d.inner) + told(a = 0); }
        }
        if (std.parser_error == error.NeverSeen) { hdr.d.error_seen = 0xff; }
        hdr.d.error_seen = hdr.d.error_seen + STEPS[0] + last[1] + last[0];
        hdr.d.vrf = (bit<8>) vrf;
        one.apply(hdr.d.vrf);
    }
}

error { NeverSeen }

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
