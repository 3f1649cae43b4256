// SPDX-License-Identifier: Apache-2.0
//
// An IPv6 extension header goes in after the IPv6 header and comes out again, in tagged packets too.

#include "headers.p4h"

struct headers_t { ethernet_t eth; vlan_t vlan; ipv6_t ipv6; option_t option; }

parser p(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) { TYPE_VLAN: vlan; TYPE_IPV6: ipv6; default: accept; }
    }
    state vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.type) { TYPE_IPV6: ipv6; default: accept; }
    }
    state ipv6 {
        packet.extract(hdr.ipv6);
        transition select(hdr.ipv6.next) { 60: option; default: accept; }
    }
    state option { packet.extract(hdr.option); transition accept; }
}

control c(inout headers_t hdr, in tc_input tin, inout tc_output tout) {
    apply {
        if (!hdr.ipv6.isValid()) {
            exit;
        }
        if (tin.direction == tc_direction.TC_EGRESS) {
            hdr.option = { hdr.ipv6.next, 1, 1, 12, 0 };
            hdr.ipv6.next = 60;
            hdr.ipv6.payload = hdr.ipv6.payload + 16;
        } else if (hdr.option.isValid()) {
            hdr.ipv6.next = hdr.option.next;
            hdr.ipv6.payload = hdr.ipv6.payload - 16;
            hdr.option.setInvalid();
        } else {
            tout.verdict = tc_verdict.TC_DROP;
        }
    }
}

control d(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.eth); packet.emit(hdr.vlan); packet.emit(hdr.ipv6); packet.emit(hdr.option); }
}

tc(p(), c(), d()) main;
