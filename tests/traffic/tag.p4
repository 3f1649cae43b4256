// SPDX-License-Identifier: Apache-2.0
//
// A VLAN tag goes around IPv6 packets and comes off again.

#include "headers.p4h"

struct headers_t { ethernet_t eth; vlan_t vlan; }

parser p(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) { TYPE_VLAN: vlan; default: accept; }
    }
    state vlan { packet.extract(hdr.vlan); transition accept; }
}

control c(inout headers_t hdr, in tc_input tin, inout tc_output tout) {
    apply {
        if (tin.direction == tc_direction.TC_EGRESS) {
            if (hdr.eth.type == TYPE_IPV6) {
                hdr.vlan = { 7, TYPE_IPV6 };
                hdr.eth.type = TYPE_VLAN;
            }
        } else if (hdr.vlan.isValid() && hdr.vlan.tci == 7 && tin.vlan_present == 1) {
            hdr.eth.type = hdr.vlan.type;
            hdr.vlan.setInvalid();
        } else {
            tout.verdict = tc_verdict.TC_DROP;
        }
    }
}

control d(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.eth); packet.emit(hdr.vlan); }
}

tc(p(), c(), d()) main;
