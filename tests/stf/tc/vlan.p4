// SPDX-License-Identifier: Apache-2.0
//
// VLAN tags pushed, popped and rewritten, up to two of them.

#include <core.p4>
#include <tc_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header vlan_t {
    bit<3>  priority;
    bit<1>  drop;
    bit<12> id;
    bit<16> type;
}

header what_t {
    bit<8> what;
}

struct headers_t {
    ethernet_t eth;
    vlan_t     outer;
    vlan_t     inner;
    what_t     w;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            0x8100: outer;
            0x88a8: outer;
            default: what;
        }
    }
    state outer {
        packet.extract(hdr.outer);
        transition select(hdr.outer.type) {
            0x8100: inner;
            default: what;
        }
    }
    state inner {
        packet.extract(hdr.inner);
        transition what;
    }
    state what {
        packet.extract(hdr.w);
        transition accept;
    }
}

control ctl(inout headers_t hdr, in tc_input tin, inout tc_output tout) {
    apply {
        if (hdr.w.what == 1) {
            // Push in front: what was the outer tag is the inner one.
            hdr.inner = hdr.outer;
            hdr.outer.setValid();
            hdr.outer = { 5, 0, 0x123, hdr.eth.type };
            hdr.eth.type = 0x8100;
        } else if (hdr.w.what == 2 && hdr.outer.isValid()) {
            // Pop the outer one.
            hdr.eth.type = hdr.outer.type;
            hdr.outer = hdr.inner;
            hdr.inner.setInvalid();
        } else if (hdr.w.what == 3 && hdr.outer.isValid()) {
            // Pop all.
            hdr.eth.type = hdr.inner.isValid() ? hdr.inner.type : hdr.outer.type;
            hdr.outer.setInvalid();
            hdr.inner.setInvalid();
        } else if (hdr.w.what == 4 && hdr.outer.isValid()) {
            hdr.outer.id = hdr.outer.id + 1;
        } else if (hdr.w.what == 5 && hdr.inner.isValid()) {
            // Pop the inner one.
            hdr.outer.type = hdr.inner.type;
            hdr.inner.setInvalid();
        } else if (hdr.w.what == 6) {
            tout.verdict = tc_verdict.TC_REDIRECT_EGRESS;
            tout.output_port = 1;
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.outer);
        packet.emit(hdr.inner);
        packet.emit(hdr.w);
    }
}

tc(prs(), ctl(), dprs()) main;
