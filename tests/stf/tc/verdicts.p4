// SPDX-License-Identifier: Apache-2.0
//
// Every verdict, chosen by the packet, and none: then it passes.

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
    bit<32> came_in;
}

struct headers_t {
    ethernet_t eth;
    data_t     d;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.d);
        transition accept;
    }
}

control ctl(inout headers_t hdr, in tc_input tin, inout tc_output tout) {
    apply {
        tout.output_port = (bit<32>)hdr.d.port;
        hdr.d.came_in = tin.input_port;
        switch (hdr.d.verdict) {
            0: { tout.verdict = tc_verdict.TC_PASS; }
            1: { tout.verdict = tc_verdict.TC_DROP; }
            2: { tout.verdict = tc_verdict.TC_REDIRECT_EGRESS; }
            3: { tout.verdict = tc_verdict.TC_REDIRECT_INGRESS; }
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.d);
    }
}

tc(prs(), ctl(), dprs()) main;
