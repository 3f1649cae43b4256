// SPDX-License-Identifier: Apache-2.0
//
// return ends the control that it stands in, exit ends all of them; the deparser runs all the same.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8> what;
    bit<8> trace;
}

struct headers_t {
    ethernet_t eth;
    data_t     data;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.data);
        transition accept;
    }
}

control inner(inout headers_t hdr) {
    apply {
        if (hdr.data.what == 1) {
            return;
        }
        hdr.data.trace = hdr.data.trace | 0x02;
        if (hdr.data.what == 2) {
            exit;
        }
        hdr.data.trace = hdr.data.trace | 0x04;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    inner() in_between;

    action leave() {
        hdr.data.trace = hdr.data.trace | 0x08;
        exit;
    }

    action stop_here() {
        hdr.data.trace = hdr.data.trace | 0x10;
        return;
    }

    table t {
        key = { hdr.data.what : exact; }
        actions = { leave; stop_here; NoAction; }
        default_action = NoAction();
        const entries = {
            3 : leave();
            4 : stop_here();
        }
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        hdr.data.trace = 0x01;
        in_between.apply(hdr);
        t.apply();
        hdr.data.trace = hdr.data.trace | 0x20;
        if (hdr.data.what == 5) {
            return;
        }
        hdr.data.trace = hdr.data.trace | 0x40;
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
