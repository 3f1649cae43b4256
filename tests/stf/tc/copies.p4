// SPDX-License-Identifier: Apache-2.0
//
// Copies: a clone, a multicast group, both, and with each verdict; they are as the deparser left the packet.

#include <core.p4>
#include <tc_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>  verdict;
    bit<8>  port;
    bit<8>  clone;       // whether, and to which port
    bit<8>  group;
    bit<16> seen;
}

header trailer_t {
    bit<16> value;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
    trailer_t  added;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.d);
        transition select(hdr.d.verdict) {
            0xff:    reject;
            default: accept;
        }
    }
}

control ctl(inout headers_t hdr, in tc_input tin, inout tc_output tout) {
    apply {
        tout.output_port = (bit<32>)hdr.d.port;
        switch (hdr.d.verdict) {
            1: { tout.verdict = tc_verdict.TC_DROP; }
            2: { tout.verdict = tc_verdict.TC_REDIRECT_EGRESS; }
        }
        if (hdr.d.clone != 0) {
            tout.clone = true;
            tout.clone_port = (bit<32>)hdr.d.clone;
        }
        tout.multicast_group = (bit<16>)hdr.d.group;
        hdr.d.seen = hdr.d.seen + 1;
        if (hdr.d.seen[0:0] == 1) {
            hdr.added = { 0x5aa5 };
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.d);
        packet.emit(hdr.added);
    }
}

tc(prs(), ctl(), dprs()) main;
