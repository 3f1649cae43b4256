// SPDX-License-Identifier: Apache-2.0
//
// A header stack whose headers have arrays: two indices that only the packet knows, looked ahead at, copied, matched on and
// emitted.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header op_t {
    bit<8> i;
    bit<8> j;
    bit<8> x;
}

header element_t {
    bit<8>[2] v;
    bit<4>[2] n;
}

struct headers_t {
    ethernet_t   eth;
    op_t         op;
    element_t[2] st;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.op);
        packet.extract(hdr.st.next);
        hdr.st.last.v[hdr.op.j] = packet.lookahead<element_t>().v[1];
        packet.extract(hdr.st.next);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    element_t copy;

    action note(bit<8> k) {
        hdr.op.x = hdr.op.x + k;
    }

    table t {
        key = {
            hdr.st[1].v[1] : exact;
            hdr.st[0].n[0] : exact;
        }
        actions = { note; NoAction; }
        default_action = NoAction();
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        hdr.st[hdr.op.i].v[hdr.op.j] += hdr.op.x;
        copy = hdr.st[hdr.op.i];
        copy.n[hdr.op.j] = 0xf;
        hdr.st[1 - hdr.op.i] = copy;
        t.apply();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr);
    }
}

xdp(prs(), sw(), dprs()) main;
