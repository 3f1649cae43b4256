// SPDX-License-Identifier: Apache-2.0
//
// An MPLS label goes in front of IPv6 packets and comes off again: on the way they are not IPv6 to the stack.

#include "headers.p4h"

struct headers_t { ethernet_t eth; label_t label; }

parser p(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) { TYPE_LABEL: label; default: accept; }
    }
    state label { packet.extract(hdr.label); transition accept; }
}

control c(inout headers_t hdr, in tc_input tin, inout tc_output tout) {
    apply {
        if (tin.direction == tc_direction.TC_EGRESS) {
            if (hdr.eth.type == TYPE_IPV6) {
                hdr.label = { 77, 0, 1, 64 };
                hdr.eth.type = TYPE_LABEL;
            }
        } else if (hdr.label.isValid()) {
            hdr.eth.type = TYPE_IPV6;
            hdr.label.setInvalid();
        } else {
            tout.verdict = tc_verdict.TC_DROP;
        }
    }
}

control d(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.eth); packet.emit(hdr.label); }
}

tc(p(), c(), d()) main;
