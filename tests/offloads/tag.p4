// SPDX-License-Identifier: Apache-2.0
//
// What a VLAN interface does, for kernels without one: what leaves gets a tag beside the packet, what comes in loses it, and nothing
// comes in without it.

#include "../traffic/headers.p4h"

const bit<16> VLAN = 100;

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
            hdr.vlan = { VLAN, hdr.eth.type };
            hdr.eth.type = TYPE_VLAN;
        } else if (hdr.vlan.isValid() && hdr.vlan.tci[11:0] == VLAN[11:0]) {
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
